"""Values as people and partition paths see them, character for character as Java's ``Transform.toHumanString`` writes them."""

from __future__ import annotations

import base64
import math
import struct
from decimal import Decimal

from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DoubleType,
    FixedType,
    FloatType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
)
from icesql.spec.values import iso
from icesql.spec.values.calendar import NANOS_PER_MICRO, civil_from_days


def human_value(type_: Type, value: object) -> str:
    """A value of internal form as text; null is ``null``, binary is base64."""
    if value is None:
        return "null"
    match type_, value:
        case BooleanType(), _:
            return "true" if value else "false"
        case DateType(), int():
            return human_day(value)
        case TimeType(), int():
            return human_time(value * NANOS_PER_MICRO)
        case TimestampType(), int():
            return human_timestamp(value * NANOS_PER_MICRO)
        case TimestamptzType(), int():
            return human_timestamp(value * NANOS_PER_MICRO) + "+00:00"
        case TimestampNanoType(), int():
            return human_timestamp(value)
        case TimestamptzNanoType(), int():
            return human_timestamp(value) + "+00:00"
        case ((FixedType() | BinaryType()), bytes()):
            return base64.b64encode(value).decode("ascii")
        case FloatType(), (int() | float()):
            return java_float(float(value))
        case DoubleType(), (int() | float()):
            return java_double(float(value))
        case _:
            return str(value)


def human_year(years: int) -> str:
    return f"{1970 + years:04d}"


def human_month(months: int) -> str:
    return f"{1970 + months // 12:04d}-{months % 12 + 1:02d}"


def human_day(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def human_hour(hours: int) -> str:
    return f"{human_day(hours // 24)}-{hours % 24:02d}"


def human_time(nanos_of_day: int) -> str:
    """As Java's ``LocalTime.toString``: seconds left out when zero, fractions in groups of three digits."""
    seconds, nanos = divmod(nanos_of_day, iso.NANOS_PER_SECOND)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    if not seconds % 60 and not nanos:
        return clock
    return f"{clock}:{seconds % 60:02d}{_fraction(nanos)}"


def human_timestamp(nanos: int) -> str:
    """ISO, seconds always there, the fraction without trailing zeros."""
    days, of_day = divmod(nanos, iso.NANOS_PER_DAY)
    seconds, fraction = divmod(of_day, iso.NANOS_PER_SECOND)
    clock = iso.nanos_of_day_to_iso(seconds * iso.NANOS_PER_SECOND, digits=9)
    shown = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{iso.days_to_iso(days)}T{clock}{shown}"


def java_double(value: float) -> str:
    """As ``Double.toString`` of Java 19 on: the shortest text that reads back equal, of at least two digits."""
    two_digits = f"{value:.1e}"
    return _java_text(value, two_digits if float(two_digits) == value else repr(value))


def java_float(value: float) -> str:
    """As Java's ``Float.toString`` for a value that is exactly a 32-bit float."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if _as_float32(float(text)) == value:
            return _java_text(value, text)
    return _java_text(value, repr(value))


def _as_float32(value: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _java_text(value: float, text: str) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(text).as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits)).rstrip("0")
    if not shown:
        return "-0.0" if sign else "0.0"
    point = len(digits) + exponent  # digits before the decimal point
    body = _plain(shown, point) if -3 < point <= 7 else f"{shown[0]}.{shown[1:] or '0'}E{point - 1}"
    return "-" * sign + body


def _plain(digits: str, point: int) -> str:
    if point <= 0:
        return "0." + "0" * -point + digits
    whole = digits[:point].ljust(point, "0")
    return f"{whole}.{digits[point:] or '0'}"


def _fraction(nanos: int) -> str:
    if not nanos:
        return ""
    text = f"{nanos:09d}"
    while text.endswith("000"):
        text = text[:-3]
    return "." + text
