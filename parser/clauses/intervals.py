"""Intervals of SQL text, and dates and times moved by one."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from decimal import Decimal
from typing import NamedTuple

_MICROS = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000}
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d{1,6})?)\s+([a-z]+?)s?(?=\s|$)", re.ASCII | re.IGNORECASE)


class Interval(NamedTuple):
    months: int
    days: int
    micros: int

    def negated(self) -> Interval:
        return Interval(-self.months, -self.days, -self.micros)


def interval_of(text: str) -> Interval | None:
    """``1 day 2 hours``; None for what is not understood. Only seconds have decimals."""
    months, days, micros, place = 0, 0, 0, 0
    while place < len(text.rstrip()):
        part = _PART.match(text, place)
        if part is None:
            return None
        amount, unit, place = Decimal(part[1]), part[2].upper(), part.end()
        if unit != "SECOND" and amount != int(amount):
            return None
        match unit:
            case "YEAR" | "MONTH":
                months += int(amount) * (12 if unit == "YEAR" else 1)
            case "WEEK" | "DAY":
                days += int(amount) * (7 if unit == "WEEK" else 1)
            case _ if unit in _MICROS:
                micros += int(amount * _MICROS[unit])
            case _:
                return None
    return Interval(months, days, micros) if place else None


def moved(text: str, interval: Interval, *, is_date: bool) -> str | None:
    """A date or time as ISO text, later by the interval; None where that is no date or time of the years 1 to 9999."""
    if is_date and interval.micros:
        return None
    try:
        time = dt.datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        month = time.year * 12 + time.month - 1 + interval.months
        year, month = divmod(month, 12)
        day = min(time.day, calendar.monthrange(year, month + 1)[1])
        time = time.replace(year=year, month=month + 1, day=day) + dt.timedelta(days=interval.days, microseconds=interval.micros)
    except (ValueError, OverflowError, calendar.IllegalMonthError):
        return None
    return time.date().isoformat() if is_date else time.isoformat(sep=" ")
