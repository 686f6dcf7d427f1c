"""Days and instants of the proleptic Gregorian calendar, as whole numbers since 1970-01-01.

Unlike ``datetime`` these work for every int32 day and int64 microsecond, years below 1 and above 9999 included.
"""

from __future__ import annotations

MICROS_PER_SECOND = 1_000_000
MICROS_PER_HOUR = 3_600 * MICROS_PER_SECOND
MICROS_PER_DAY = 24 * MICROS_PER_HOUR
NANOS_PER_MICRO = 1_000


def civil_from_days(days: int) -> tuple[int, int, int]:
    """(year, month, day) of the day that many days after 1970-01-01. Works in 400-year eras that begin on 1 March."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted_month = (5 * day_of_year + 2) // 153
    month = shifted_month + 3 if shifted_month < 10 else shifted_month - 9
    day = day_of_year - (153 * shifted_month + 2) // 5 + 1
    return year_of_era + era * 400 + (month <= 2), month, day


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to that date; the inverse of ``civil_from_days``."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return era * 146_097 + day_of_era - 719_468


def years_from_days(days: int) -> int:
    return civil_from_days(days)[0] - 1970


def months_from_days(days: int) -> int:
    year, month, _ = civil_from_days(days)
    return (year - 1970) * 12 + month - 1
