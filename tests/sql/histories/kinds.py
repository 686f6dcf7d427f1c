"""Column types of random tables: a few telling values each, as Python holds them and as SQL writes them."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

UTC = datetime.timezone.utc


@dataclass(frozen=True, slots=True)
class Kind:
    """``wider``: the SQL type the column may be widened to. ``transforms``: those that take it, with ``{}`` for the column."""

    name: str
    values: tuple[Any, ...]
    transforms: tuple[str, ...]
    wider: str | None = None

    def literal(self, value: Any) -> str:
        return f"CAST(NULL AS {self.name})" if value is None else f"CAST({_text(value)} AS {self.name})"

    def constant(self, value: Any) -> str:
        """Without a call, as PARTITION clauses want it."""
        return "NULL" if value is None else _text(value)


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float() if math.isnan(value) or math.isinf(value):
            return f"'{value}'"
        case float():
            return f"{value!r}D"
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case datetime.datetime():
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}'"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case bytes():
            return f"X'{value.hex()}'"
    return str(value)


_TIMES = [
    datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(1970, 1, 1), datetime.datetime(2024, 2, 29, 12, 30),
    datetime.datetime(2024, 3, 1),
]  # fmt: skip
INT = Kind("int", (0, 1, 2, 7, -1, -8, 2147483647), ("{}", "bucket(3, {})", "truncate(5, {})"), "bigint")
LONG = Kind("bigint", (0, 3, -3, 10, 2**40, -(2**40)), ("{}", "bucket(4, {})", "truncate(10, {})"))
STRING = Kind("string", ("", "a", "ab", "abc", "b", "é", "a/b=c %", "A"), ("{}", "bucket(2, {})", "truncate(1, {})"))
DOUBLE = Kind("double", (0.0, -0.0, 1.5, -2.5, math.nan, math.inf, -math.inf), ())
FLOAT = Kind("float", (0.5, -1.25, math.nan, 3.0), (), "double")
DATE = Kind("date", tuple(t.date() for t in _TIMES), ("{}", "years({})", "months({})", "days({})", "bucket(3, {})"))
TIMESTAMP = Kind("timestamp", tuple(_TIMES), ("{}", "years({})", "months({})", "days({})", "hours({})"))
DECIMAL = Kind(
    "decimal(9,2)", tuple(decimal.Decimal(t) for t in ("0.00", "1.25", "-1.25", "99.99")), ("{}", "truncate(50, {})", "bucket(3, {})")
)
BOOLEAN = Kind("boolean", (True, False), ("{}",))
BINARY = Kind("binary", (b"", b"\x00", b"\x01\xff"), ("{}", "bucket(2, {})", "truncate(1, {})"))
KINDS = (INT, LONG, STRING, DOUBLE, FLOAT, DATE, TIMESTAMP, DECIMAL, BOOLEAN, BINARY)
WIDER = {"bigint": Kind("bigint", INT.values, LONG.transforms), "double": Kind("double", FLOAT.values, ())}


def plain(value: Any) -> Any:
    """A value as rows of the table give it, comparable by ``repr``: byte arrays as bytes, -0.0 as itself, nan as text."""
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, float) and math.isnan(value):
        return "nan"
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def multiset(rows: Sequence[Sequence[Any]]) -> list[str]:
    return sorted(repr([plain(value) for value in row]) for row in rows)
