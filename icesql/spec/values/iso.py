"""ISO 8601 text to and from whole numbers of days and nanoseconds, for the whole range the types have."""

from __future__ import annotations

import re

from icesql.errors import InvalidArgumentError
from icesql.spec.values.calendar import civil_from_days, days_from_civil

NANOS_PER_SECOND = 1_000_000_000
NANOS_PER_DAY = 86_400 * NANOS_PER_SECOND

_DATE = r"(?P<year>\d{4}|[+-]\d{4,9})-(?P<month>\d\d)-(?P<day>\d\d)"
_TIME = r"(?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<fraction>\d{1,9}))?)?"
_OFFSET = r"(?P<offset>[Zz]|[+-]\d\d(?::?\d\d(?::?\d\d)?)?)"
_DATE_TEXT = re.compile(_DATE, re.ASCII)
_TIME_TEXT = re.compile(_TIME, re.ASCII)
_TIMESTAMP_TEXT = re.compile(rf"{_DATE}[Tt ]{_TIME}(?:{_OFFSET}(?:\[[\w/+-]+\])?)?", re.ASCII)
_MONTH_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def days_from_iso(text: str) -> int:
    """Days since 1970-01-01 of ``2017-11-16``. Raises InvalidArgumentError."""
    matched = _DATE_TEXT.fullmatch(text)
    if matched is None:
        raise InvalidArgumentError(f"Cannot parse date: expected YYYY-MM-DD: {text!r}", value=text)
    return _days(matched)


def nanos_of_day_from_iso(text: str) -> int:
    """Nanoseconds since midnight of ``22:31:08.123456``. Raises InvalidArgumentError."""
    matched = _TIME_TEXT.fullmatch(text)
    if matched is None:
        raise InvalidArgumentError(f"Cannot parse time: expected HH:MM:SS[.ffffff]: {text!r}", value=text)
    return _nanos_of_day(matched)


def nanos_from_iso(text: str, *, zoned: bool) -> int:
    """Nanoseconds since the epoch of a timestamp; an offset is demanded if ``zoned`` and refused if not. Raises InvalidArgumentError."""
    matched = _TIMESTAMP_TEXT.fullmatch(text)
    offset = matched and matched["offset"]
    if matched is None or bool(offset) != zoned:
        kind, form = ("timestamptz", "+00:00") if zoned else ("timestamp", "")
        raise InvalidArgumentError(f"Cannot parse {kind}: expected YYYY-MM-DDTHH:MM:SS[.ffffff]{form}: {text!r}", value=text)
    return _days(matched) * NANOS_PER_DAY + _nanos_of_day(matched) - _offset_seconds(offset or "Z") * NANOS_PER_SECOND


def days_to_iso(days: int) -> str:
    year, month, day = civil_from_days(days)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):04d}"
    return f"{shown}-{month:02d}-{day:02d}"


def nanos_of_day_to_iso(nanos: int, *, digits: int) -> str:
    """``HH:MM:SS``, followed by a fraction of exactly ``digits`` (6 or 9) places unless it is zero."""
    seconds, fraction = divmod(nanos, NANOS_PER_SECOND)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{clock}.{fraction:09d}"[: 9 + digits] if fraction else clock


def nanos_to_iso(nanos: int, *, digits: int) -> str:
    days, of_day = divmod(nanos, NANOS_PER_DAY)
    return f"{days_to_iso(days)}T{nanos_of_day_to_iso(of_day, digits=digits)}"


def _days(parts: re.Match[str]) -> int:
    year, month, day = int(parts["year"]), int(parts["month"]), int(parts["day"])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= _MONTH_DAYS[month - 1] or (month == 2 and day == 29 and not leap):
        raise InvalidArgumentError(f"Cannot parse date: no such day: {parts.group(0)!r}", value=parts.group(0))
    return days_from_civil(year, month, day)


def _nanos_of_day(parts: re.Match[str]) -> int:
    hour, minute, second = int(parts["hour"]), int(parts["minute"]), int(parts["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        raise InvalidArgumentError(f"Cannot parse time: no such time of day: {parts.group(0)!r}", value=parts.group(0))
    return (hour * 3600 + minute * 60 + second) * NANOS_PER_SECOND + int((parts["fraction"] or "0").ljust(9, "0"))


def _offset_seconds(offset: str) -> int:
    if offset in "Zz":
        return 0
    digits = offset[1:].replace(":", "").ljust(6, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:])
    return -seconds if offset[0] == "-" else seconds
