"""Single values as JSON (defaults, REST partition values and bounds). Spec: appendix D, "JSON single-value serialization"."""

from __future__ import annotations

import math
import uuid
from decimal import Decimal, InvalidOperation
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.spec.json.faults import INT_RANGE, LONG_RANGE, JsonFault, JsonObject, JsonValue, as_array, as_object, each, kind, within
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UnknownType,
    UUIDType,
)
from icesql.spec.values import iso
from icesql.spec.values.calendar import NANOS_PER_MICRO
from icesql.spec.values.decimals import precision

_NOT_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(type_: Type, value: Any) -> Any:
    """What ``json.dumps`` may take for a value of internal form; null is ``None``. Raises InvalidArgumentError for types without a form."""
    if value is None:
        return None
    match type_:
        case BooleanType() | IntegerType() | LongType() | StringType():
            return value
        case FloatType() | DoubleType():
            return next((name for name, number in _NOT_NUMBERS.items() if repr(number) == repr(float(value))), float(value))
        case DecimalType() | UUIDType():
            return str(value)
        case DateType():
            return iso.days_to_iso(value)
        case TimeType():
            return iso.nanos_of_day_to_iso(value * NANOS_PER_MICRO, digits=6)
        case TimestampType():
            return iso.nanos_to_iso(value * NANOS_PER_MICRO, digits=6)
        case TimestamptzType():
            return iso.nanos_to_iso(value * NANOS_PER_MICRO, digits=6) + "+00:00"
        case TimestampNanoType():
            return iso.nanos_to_iso(value, digits=9)
        case TimestamptzNanoType():
            return iso.nanos_to_iso(value, digits=9) + "+00:00"
        case FixedType() | BinaryType():
            return bytes(value).hex().upper()
        case StructType(fields=fields):
            return {str(f.id): to_json(f.type, item) for f, item in zip(fields, value, strict=True)}
        case ListType(element=element):
            return [to_json(element, item) for item in value]
        case MapType(key=key, value=item_type):
            return {"keys": [to_json(key, k) for k in value], "values": [to_json(item_type, v) for v in value.values()]}
        case _:
            raise InvalidArgumentError(f"Cannot write JSON value: no form of type: {type_}", type=str(type_))


def from_json(type_: Type, node: JsonValue) -> Any:
    """The value, in internal form, of parsed JSON. Raises CorruptMetadataError naming the path where it does not fit the type."""
    if node is None:
        return None
    match type_:
        case StructType():
            return _struct(type_, as_object(node))
        case ListType(element=element):
            return [_at(f"[{i}]", element, item) for i, item in enumerate(as_array(node))]
        case MapType():
            return _map(type_, as_object(node))
        case _:
            value = _primitive(type_, node)
            if value is None:
                raise JsonFault(f"expected a {type_} value, got {kind(node)}")
            return value


def _at(path: str, type_: Type, node: JsonValue) -> Any:
    with within(path):
        return from_json(type_, node)


def _struct(type_: StructType, node: JsonObject) -> tuple[Any, ...]:
    return tuple(_at(str(f.id), f.type, node.get(str(f.id))) for f in type_.fields)


def _map(type_: MapType, node: JsonObject) -> dict[Any, Any]:
    keys, values = node.get("keys"), node.get("values")
    if not isinstance(keys, list) or not isinstance(values, list) or len(keys) != len(values):
        raise JsonFault("expected a map value: keys and values of equal length")
    entries: dict[Any, Any] = {}
    for (key_path, key), (value_path, value) in zip(each(keys, "keys"), each(values, "values"), strict=True):
        try:
            entries[_at(key_path, type_.key, key)] = _at(value_path, type_.value, value)
        except TypeError:
            raise JsonFault("map keys of this type are not supported", key_path) from None
    return entries


def _primitive(type_: Type, node: JsonValue) -> Any:
    """The value, or ``None`` where the node does not fit."""
    match type_, node:
        case BooleanType(), bool():
            return node
        case _, bool():
            return None
        case IntegerType(), int():
            return node if node in INT_RANGE else None
        case LongType(), int():
            return node if node in LONG_RANGE else None
        case ((FloatType() | DoubleType()), (int() | float())):
            return _float(node)
        case ((FloatType() | DoubleType()), str()):
            return _NOT_NUMBERS.get(node)
        case StringType(), str():
            return node
        case UnknownType(), _:
            return None
        case _, str():
            try:
                return _from_text(type_, node)
            except (ValueError, InvalidOperation) as error:  # InvalidArgumentError is a ValueError
                raise JsonFault(f"expected a {type_} value, got {kind(node)}") from error
        case _:
            return None


def _float(number: int | float) -> float | None:
    try:
        return float(number)
    except OverflowError:
        return None


def _from_text(type_: Type, text: str) -> Any:
    match type_:
        case DecimalType(precision=digits, scale=scale):
            value = Decimal(text)
            fits = value.is_finite() and -int(value.as_tuple().exponent) == scale and precision(value) <= digits
            return value if fits else None
        case DateType():
            return _in(INT_RANGE, iso.days_from_iso(text))
        case TimeType():
            return iso.nanos_of_day_from_iso(text) // NANOS_PER_MICRO
        case TimestampType():
            return _in(LONG_RANGE, iso.nanos_from_iso(text, zoned=False) // NANOS_PER_MICRO)
        case TimestamptzType():
            return _in(LONG_RANGE, iso.nanos_from_iso(text, zoned=True) // NANOS_PER_MICRO)
        case TimestampNanoType():
            return _in(LONG_RANGE, iso.nanos_from_iso(text, zoned=False))
        case TimestamptzNanoType():
            return _in(LONG_RANGE, iso.nanos_from_iso(text, zoned=True))
        case UUIDType():
            return uuid.UUID(text) if len(text) == 36 else None
        case FixedType(length=length):
            return _in_length(length, bytes.fromhex(text))
        case BinaryType():
            return bytes.fromhex(text)
        case _:
            return None


def _in(valid: range, value: int) -> int | None:
    return value if value in valid else None


def _in_length(length: int, value: bytes) -> bytes | None:
    return value if len(value) == length else None
