"""Single values as bytes, and bounds cut to a length. Spec: appendix D, "Binary single-value serialization"."""

from __future__ import annotations

import struct
import uuid
from typing import Any

from icesql.errors import CorruptMetadataError, InvalidArgumentError
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
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
    UnknownType,
    UUIDType,
    VariantType,
)
from icesql.spec.values.calendar import MICROS_PER_DAY, NANOS_PER_MICRO
from icesql.spec.values.decimals import from_unscaled, to_twos_complement, unscaled

_INT, _LONG, _FLOAT, _DOUBLE = (struct.Struct(form) for form in ("<i", "<q", "<f", "<d"))
_AS_INT = (IntegerType, DateType)
_AS_LONG = (LongType, TimeType, TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType)
_OPAQUE = (BinaryType, FixedType, VariantType, GeometryType, GeographyType)


def to_bytes(type_: Type, value: Any) -> bytes:
    """The bytes of a non-null value of internal form. Raises InvalidArgumentError for nested types and values out of range."""
    try:
        return _encode(type_, value)
    except (struct.error, OverflowError, ArithmeticError, AttributeError, TypeError, UnicodeError) as error:
        raise InvalidArgumentError(f"Cannot serialize value: not a {type_}: {value!r}", type=str(type_)) from error


def _encode(type_: Type, value: Any) -> bytes:
    if isinstance(type_, _AS_INT):
        return _INT.pack(value)
    if isinstance(type_, _AS_LONG):
        return _LONG.pack(value)
    if isinstance(type_, _OPAQUE):
        return memoryview(value).tobytes()
    match type_:
        case StringType():
            return bytes(value.encode("utf-8"))
        case BooleanType():
            return b"\x01" if value else b"\x00"
        case FloatType():
            return _FLOAT.pack(value)
        case DoubleType():
            return _DOUBLE.pack(value)
        case DecimalType(scale=scale):
            return to_twos_complement(unscaled(value, scale))
        case UUIDType():
            return bytes(value.bytes)
        case _:
            raise InvalidArgumentError(f"Cannot serialize value: no single-value form of type: {type_}", type=str(type_))


def from_bytes(type_: Type, data: bytes) -> Any:
    """The value of bytes written as ``type_`` or as a type that was promoted to it since (Spec: "Schema Evolution").

    Raises CorruptMetadataError where the length or content does not fit.
    """
    try:
        return _decode(type_, bytes(data))
    except (struct.error, ValueError) as error:
        raise CorruptMetadataError(
            f"Cannot read single value: {len(data)} bytes are not a {type_}: {bytes(data[:32]).hex()}", type=str(type_)
        ) from error


def _decode(type_: Type, data: bytes) -> Any:
    if isinstance(type_, _AS_INT):
        return _INT.unpack(data)[0]
    if isinstance(type_, _AS_LONG):
        return _LONG.unpack(data)[0] if len(data) == 8 else _promoted_int(type_, _INT.unpack(data)[0])
    if isinstance(type_, FixedType) and len(data) != type_.length:
        raise ValueError("length")
    if isinstance(type_, _OPAQUE):
        return data
    match type_:
        case StringType():
            return data.decode("utf-8")
        case BooleanType():
            if len(data) != 1:
                raise ValueError("length")
            return data != b"\x00"
        case FloatType():
            return _FLOAT.unpack(data)[0]
        case DoubleType():
            return (_DOUBLE if len(data) == 8 else _FLOAT).unpack(data)[0]
        case DecimalType(scale=scale):
            if not 0 < len(data) <= 17:
                raise ValueError("length")
            return from_unscaled(int.from_bytes(data, "big", signed=True), scale)
        case UUIDType():
            return uuid.UUID(bytes=data)
        case UnknownType():
            return None
        case _:
            raise InvalidArgumentError(f"Cannot read single value: no single-value form of type: {type_}", type=str(type_))


def _promoted_int(type_: PrimitiveType, value: int) -> int:
    """Four bytes in an eight-byte column: an int that became long, or a date that became a timestamp (v3)."""
    match type_:
        case LongType():
            return value
        case TimestampType():
            return value * MICROS_PER_DAY
        case TimestampNanoType():
            return value * MICROS_PER_DAY * NANOS_PER_MICRO
        case _:
            raise ValueError("length")


def truncate_lower(type_: Type, value: Any, length: int) -> Any:
    """A lower bound of at most ``length`` code points or bytes; other types unchanged."""
    return value[:length] if isinstance(type_, StringType | BinaryType | FixedType) else value


def truncate_upper(type_: Type, value: Any, length: int) -> Any:
    """An upper bound of at most ``length`` code points or bytes, ``None`` where no such bound exists; other types unchanged."""
    match type_:
        case StringType() if len(value) > length:
            return _next_string(value[:length])
        case BinaryType() | FixedType() if len(value) > length:
            return _next_bytes(bytes(value[:length]))
    return value


def _next_string(prefix: str) -> str | None:
    for end in range(len(prefix) - 1, -1, -1):
        following = ord(prefix[end]) + 1
        if 0xD800 <= following <= 0xDFFF:  # surrogates are no characters
            following = 0xE000
        if following <= 0x10FFFF:
            return prefix[:end] + chr(following)
    return None


def _next_bytes(prefix: bytes) -> bytes | None:
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
