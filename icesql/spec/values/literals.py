"""Python literals and strings as internal values of a type: what binding a predicate to a column needs.

A number beyond the type is no error but ``ABOVE_MAX`` or ``BELOW_MIN``: the predicate is then always true or always false.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
import uuid
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact, InvalidOperation
from enum import Enum
from typing import Any, NoReturn

from icesql.errors import InvalidArgumentError
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)
from icesql.spec.values import iso
from icesql.spec.values.calendar import MICROS_PER_DAY, MICROS_PER_SECOND, NANOS_PER_MICRO


class OutOfRange(Enum):
    """A value beyond all values of the type."""

    ABOVE_MAX = "above-max"
    BELOW_MIN = "below-min"


ABOVE_MAX = OutOfRange.ABOVE_MAX
BELOW_MIN = OutOfRange.BELOW_MIN

_FLOAT_MAX = 3.4028234663852886e38
_EPOCH_DAY = dt.date(1970, 1, 1).toordinal()
_EXACT = Context(prec=100, traps=[Inexact, InvalidOperation])
_ROUNDED = Context(prec=100, traps=[InvalidOperation])
_HEX = re.compile(r"(?:0[xX]|[xX]'|)((?:[0-9A-Fa-f]{2})*)'?")
_WHOLE_DIGITS = 40  # beyond every integer type
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)


def literal(type_: Type, value: Any) -> Any:
    """``value`` as an internal value of ``type_``, or ``ABOVE_MAX`` / ``BELOW_MIN``; null stays ``None``.

    Accepts the type's own Python forms, numbers in any width, whole numbers for dates, times and timestamps (in the type's unit), and
    text in ISO, decimal, UUID or hexadecimal form. A number must not lose anything but a float's excess decimals.
    Raises InvalidArgumentError.
    """
    if value is None:
        return None
    convert = _CONVERSIONS.get(type(type_))
    if convert is None:
        _refuse(type_, value)
    if not isinstance(value, str | bytes | Decimal) and hasattr(value, "item") and hasattr(value, "dtype"):
        value = value.item()  # numpy scalar
    try:
        return convert(type_, value)
    except (ArithmeticError, InvalidOperation) as error:
        raise InvalidArgumentError(f"Cannot convert literal: not a {type_}: {value!r}") from error


def _refuse(type_: Type, value: object) -> NoReturn:
    raise InvalidArgumentError(f"Cannot convert literal: not a {type_}: {value!r}", type=str(type_))


def _ranged(value: int, bits: int) -> Any:
    limit = 1 << (bits - 1)
    if value >= limit:
        return ABOVE_MAX
    return BELOW_MIN if value < -limit else value


def _whole(type_: Type, value: Any) -> int | OutOfRange:
    match value:
        case bool():
            _refuse(type_, value)
        case int():
            return value
        case float() if math.isinf(value):
            return ABOVE_MAX if value > 0 else BELOW_MIN
        case float() if value.is_integer():
            return int(value)
        case Decimal() if value.is_finite() and value.adjusted() > _WHOLE_DIGITS:  # never as an int: 1e999999999 would fill the memory
            return ABOVE_MAX if value > 0 else BELOW_MIN
        case Decimal() if value.is_finite() and value == value.to_integral_value(context=_EXACT):
            return int(value)
        case str() if _WHOLE.fullmatch(value):
            return _whole(type_, Decimal(value.strip()))
    _refuse(type_, value)


def _to_whole(bits: int) -> Callable[[Type, Any], Any]:
    def convert(type_: Type, value: Any) -> Any:
        whole = _whole(type_, value)
        return whole if isinstance(whole, OutOfRange) else _ranged(whole, bits)

    return convert


def _to_boolean(type_: Type, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    _refuse(type_, value)


def _to_double(type_: Type, value: Any) -> Any:
    match value:
        case bool():
            _refuse(type_, value)
        case float():
            return value
        case int() | Decimal():
            try:
                return float(value)
            except OverflowError:
                return ABOVE_MAX if value > 0 else BELOW_MIN
        case str():
            try:
                return float(value)
            except ValueError:
                _refuse(type_, value)
        case _:
            _refuse(type_, value)


def _to_float(type_: Type, value: Any) -> Any:
    number = _to_double(type_, value)
    if isinstance(number, OutOfRange) or math.isinf(number) or math.isnan(number):
        return number
    if abs(number) > _FLOAT_MAX:
        return ABOVE_MAX if number > 0 else BELOW_MIN
    return struct.unpack("<f", struct.pack("<f", number))[0]


def _to_decimal(type_: DecimalType, value: Any) -> Any:
    match value:
        case bool():
            _refuse(type_, value)
        case int() | Decimal():
            exact, number = True, Decimal(value)
        case float():
            exact, number = False, Decimal(repr(value))
        case str():
            exact, number = True, Decimal(value.strip())
        case _:
            _refuse(type_, value)
    if number.is_nan():
        _refuse(type_, value)
    whole_digits = type_.precision - type_.scale
    if number.is_infinite() or (number and number.adjusted() >= whole_digits):
        return ABOVE_MAX if number > 0 else BELOW_MIN
    unit = Decimal(1).scaleb(-type_.scale)
    scaled = number.quantize(unit, context=_EXACT) if exact else number.quantize(unit, ROUND_HALF_UP, _ROUNDED)
    if scaled and scaled.adjusted() >= whole_digits:  # rounding carried
        return ABOVE_MAX if scaled > 0 else BELOW_MIN
    return scaled


def _to_date(type_: Type, value: Any) -> Any:
    match value:
        case dt.datetime():
            _refuse(type_, value)
        case dt.date():
            return value.toordinal() - _EPOCH_DAY
        case str() if not _WHOLE.fullmatch(value):
            return _ranged(iso.days_from_iso(value), 32)
    return _to_whole(32)(type_, value)


def _to_time(type_: Type, value: Any) -> Any:
    match value:
        case dt.time() if value.tzinfo is None:
            return ((value.hour * 60 + value.minute) * 60 + value.second) * MICROS_PER_SECOND + value.microsecond
        case str():
            return iso.nanos_of_day_from_iso(value) // NANOS_PER_MICRO
        case int() if not isinstance(value, bool):
            if value >= MICROS_PER_DAY:
                return ABOVE_MAX
            return BELOW_MIN if value < 0 else value
        case _:
            _refuse(type_, value)


def _to_timestamp(*, zoned: bool, unit_nanos: int) -> Callable[[Type, Any], Any]:
    whole = _to_whole(64)

    def convert(type_: Type, value: Any) -> Any:
        match value:
            case dt.datetime() if (value.tzinfo is not None) == zoned:
                return _ranged(_micros(value) * NANOS_PER_MICRO // unit_nanos, 64)
            case dt.datetime():
                why = "has no time zone" if zoned else "has a time zone"
                raise InvalidArgumentError(f"Cannot convert literal: not a {type_}, {why}: {value!r}", type=str(type_))
            case dt.date():
                return _ranged((value.toordinal() - _EPOCH_DAY) * MICROS_PER_DAY * NANOS_PER_MICRO // unit_nanos, 64)
            case str() if not zoned and _DAY.fullmatch(value):  # its midnight; with a time zone the text must say whose
                return _ranged(iso.nanos_from_iso(f"{value}T00:00:00", zoned=False) // unit_nanos, 64)
            case str() if not _WHOLE.fullmatch(value):
                return _ranged(iso.nanos_from_iso(value, zoned=zoned) // unit_nanos, 64)
        return whole(type_, value)

    return convert


def _micros(value: dt.datetime) -> int:
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc if value.tzinfo else None)
    return (value - epoch) // dt.timedelta(microseconds=1)


def _to_string(type_: Type, value: Any) -> str:
    if isinstance(value, str):
        return value
    _refuse(type_, value)


def _to_uuid(type_: Type, value: Any) -> uuid.UUID:
    match value:
        case uuid.UUID():
            return value
        case bytes() if len(value) == 16:
            return uuid.UUID(bytes=value)
        case str():
            try:
                return uuid.UUID(value)
            except ValueError:
                _refuse(type_, value)
        case _:
            _refuse(type_, value)


def _to_binary(type_: Type, value: Any) -> bytes:
    match value:
        case bytes() | bytearray() | memoryview():
            data = bytes(value)
        case uuid.UUID():
            data = value.bytes
        case str() if matched := _HEX.fullmatch(value):
            data = bytes.fromhex(matched[1])
        case _:
            _refuse(type_, value)
    if isinstance(type_, FixedType) and len(data) != type_.length:
        _refuse(type_, value)
    return data


_CONVERSIONS: dict[type, Callable[[Any, Any], Any]] = {
    BooleanType: _to_boolean,
    IntegerType: _to_whole(32),
    LongType: _to_whole(64),
    FloatType: _to_float,
    DoubleType: _to_double,
    DecimalType: _to_decimal,
    DateType: _to_date,
    TimeType: _to_time,
    TimestampType: _to_timestamp(zoned=False, unit_nanos=NANOS_PER_MICRO),
    TimestamptzType: _to_timestamp(zoned=True, unit_nanos=NANOS_PER_MICRO),
    TimestampNanoType: _to_timestamp(zoned=False, unit_nanos=1),
    TimestamptzNanoType: _to_timestamp(zoned=True, unit_nanos=1),
    StringType: _to_string,
    UUIDType: _to_uuid,
    FixedType: _to_binary,
    BinaryType: _to_binary,
}
