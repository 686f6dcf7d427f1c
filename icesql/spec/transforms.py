"""Partition transforms. Spec: "Partition Transforms", appendix B (hashing), "Truncate Transform Details".

A transform is a value; ``transform_function`` gives the function over internal-form values (null in, null out).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.spec.types import (
    BinaryType,
    DateType,
    DecimalType,
    FixedType,
    GeographyType,
    GeometryType,
    IntegerType,
    LongType,
    PrimitiveType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
    VariantType,
)
from icesql.spec.values import human
from icesql.spec.values.calendar import MICROS_PER_DAY, MICROS_PER_HOUR, NANOS_PER_MICRO, months_from_days, years_from_days
from icesql.spec.values.decimals import from_unscaled, to_twos_complement, unscaled

Function = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Transform:
    """``name`` in lower case: identity, bucket, truncate, year, month, day, hour, void, or an unknown one kept as it was written."""

    name: str
    width: int | None = None  # bucket count N, or truncate width W

    def __str__(self) -> str:
        return self.name if self.width is None else f"{self.name}[{self.width}]"

    @property
    def is_void(self) -> bool:
        return self.name == "void"

    @property
    def is_identity(self) -> bool:
        return self.name == "identity"

    @property
    def is_known(self) -> bool:
        """False for a transform of a later specification: it cannot be computed or filtered by."""
        return self.name in _SIMPLE or (self.width is not None and self.name in _WITH_WIDTH)


IDENTITY = Transform("identity")
VOID = Transform("void")
YEAR = Transform("year")
MONTH = Transform("month")
DAY = Transform("day")
HOUR = Transform("hour")

_SIMPLE = frozenset({"identity", "void", "year", "month", "day", "hour"})
_WITH_WIDTH = frozenset({"bucket", "truncate"})
_PARAMETERISED = re.compile(r"(\w+)\[(\d+)\]", re.ASCII)
_INT_MAX = 2**31 - 1

_TIMESTAMPS = (TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType)
_NANO_TIMESTAMPS = (TimestampNanoType, TimestamptzNanoType)
_HASHED_AS_LONG = (IntegerType, LongType, DateType, TimeType, TimestampType, TimestamptzType)
_BUCKETABLE = (*_HASHED_AS_LONG, *_NANO_TIMESTAMPS, DecimalType, StringType, UUIDType, FixedType, BinaryType)
_TRUNCATABLE = (IntegerType, LongType, DecimalType, StringType, BinaryType)


def bucket(count: int) -> Transform:
    return Transform("bucket", count)


def truncate(width: int) -> Transform:
    return Transform("truncate", width)


def parse_transform(text: str) -> Transform:
    """The transform a metadata file names, in any case. One this version does not know is kept with its text.

    Raises InvalidArgumentError for a bucket count or width that is not in 1 .. 2**31-1.
    """
    lower = text.lower()
    if lower in _SIMPLE:
        return Transform(lower)
    matched = _PARAMETERISED.fullmatch(lower)
    if matched is None or matched[1] not in _WITH_WIDTH:
        return Transform(text)
    width = int(matched[2]) if len(matched[2]) <= 10 else 0
    if not 0 < width <= _INT_MAX:
        what = "number of buckets" if matched[1] == "bucket" else "truncate width"
        raise InvalidArgumentError(f"Invalid {what}: {matched[2]} (must be > 0)", transform=text)
    return Transform(matched[1], width)


def can_transform(transform: Transform, source: Type) -> bool:
    """True if the specification allows the transform over ``source``; unknown transforms are taken at their word."""
    match transform.name:
        case _ if not transform.is_known:
            return isinstance(source, PrimitiveType)
        case "identity":
            return isinstance(source, PrimitiveType) and not isinstance(source, VariantType | GeometryType | GeographyType)
        case "bucket":
            return isinstance(source, _BUCKETABLE)
        case "truncate":
            return isinstance(source, _TRUNCATABLE)
        case "year" | "month" | "day":
            return isinstance(source, (DateType, *_TIMESTAMPS))
        case "hour":
            return isinstance(source, _TIMESTAMPS)
        case _:
            return isinstance(source, PrimitiveType)  # void


def result_type(transform: Transform, source: Type) -> Type:
    """Type of a transform's results over ``source``. ``day`` gives date, as every implementation has it; unknown ones give string."""
    match transform.name:
        case _ if not transform.is_known:
            return StringType()
        case "bucket" | "year" | "month" | "hour":
            return IntegerType()
        case "day":
            return DateType()
        case _:
            return source


def preserves_order(transform: Transform) -> bool:
    """True if ``a <= b`` implies ``transform(a) <= transform(b)``."""
    return transform.is_known and transform.name not in ("bucket", "void")


def transform_function(transform: Transform, source_type: Type) -> Function:
    """The function of a transform over internal-form values of ``source_type``; null gives null.

    Raises UnsupportedError for an unknown transform and InvalidArgumentError where the type is not allowed.
    """
    if not transform.is_known:
        raise UnsupportedError(f"Cannot apply transform: unknown transform: {transform}", transform=str(transform))
    if not can_transform(transform, source_type):
        raise InvalidArgumentError(f"Invalid source type {source_type} for transform: {transform}")
    match transform.name, transform.width:
        case "identity", _:
            return lambda value: value
        case "void", _:
            return lambda value: None
        case "bucket", int(count):
            return _bucket_function(count, source_type)
        case "truncate", int(width):
            return _null_safe(_truncate_function(width, source_type))
        case _:
            return _null_safe(_time_function(transform.name, source_type))


def bucket_hash(source_type: Type) -> Function:
    """The 32-bit hash the bucket transform uses (signed, never of null). Spec: appendix B."""
    import mmh3

    hash_bytes = mmh3.hash
    if isinstance(source_type, _HASHED_AS_LONG):
        return lambda value: hash_bytes(value.to_bytes(8, "little", signed=True))
    match source_type:
        case TimestampNanoType() | TimestamptzNanoType():  # hashed as microseconds, so that promotion keeps buckets
            return lambda value: hash_bytes((value // NANOS_PER_MICRO).to_bytes(8, "little", signed=True))
        case DecimalType(scale=scale):
            return lambda value: hash_bytes(to_twos_complement(unscaled(value, scale)))
        case StringType():
            return lambda value: hash_bytes(value.encode("utf-8", "replace"))
        case UUIDType():
            return lambda value: hash_bytes(value.bytes)
        case FixedType() | BinaryType():
            return lambda value: hash_bytes(bytes(value))
        case _:
            raise InvalidArgumentError(f"Invalid source type {source_type} for transform: bucket")


def _bucket_function(count: int, source_type: Type) -> Function:
    hash_value = bucket_hash(source_type)
    return lambda value: None if value is None else (hash_value(value) & _INT_MAX) % count


def _truncate_function(width: int, source_type: Type) -> Function:
    match source_type:
        case StringType() | BinaryType():
            return lambda value: value[:width]
        case DecimalType(scale=scale):
            return lambda value: from_unscaled(_floor_to(unscaled(value, scale), width), scale)
        case IntegerType():
            return lambda value: _wrapped(_floor_to(value, width), 32)
        case _:
            return lambda value: _wrapped(_floor_to(value, width), 64)


def _floor_to(value: int, width: int) -> int:
    return value - value % width


def _wrapped(value: int, bits: int) -> int:
    """Two's-complement wrap-around: below the type's minimum, Java (and so every existing partition) has the wrapped value."""
    half = 1 << (bits - 1)
    return value if value >= -half else value + (1 << bits)


def _time_function(name: str, source_type: Type) -> Function:
    if isinstance(source_type, DateType):
        to_days: Function = lambda value: value  # noqa: E731
        per_hour = 0
    else:
        unit = NANOS_PER_MICRO if isinstance(source_type, _NANO_TIMESTAMPS) else 1
        per_day, per_hour = MICROS_PER_DAY * unit, MICROS_PER_HOUR * unit
        to_days = lambda value: value // per_day  # noqa: E731
    match name:
        case "year":
            return lambda value: years_from_days(to_days(value))
        case "month":
            return lambda value: months_from_days(to_days(value))
        case "day":
            return to_days
        case _:
            return lambda value: value // per_hour


def _null_safe(function: Function) -> Function:
    return lambda value: None if value is None else function(value)


_HUMAN_TIMES: dict[str, Callable[[int], str]] = {
    "year": human.human_year,
    "month": human.human_month,
    "day": human.human_day,
    "hour": human.human_hour,
}


def human_string(transform: Transform, source_type: Type, value: object) -> str:
    """A transform's *result* as paths and metadata tables show it: ``2021-10``, ``2021-10-01-05``, ``null``, base64 for binary."""
    if isinstance(value, int) and (form := _HUMAN_TIMES.get(transform.name)):
        return form(value)
    return human.human_value(result_type(transform, source_type), value)
