"""``ts + INTERVAL '1' DAY > TIMESTAMP '...'``: the interval moves to the literal, so that what is left is a predicate on the column."""

from __future__ import annotations

from icesql.errors import InvalidArgumentError
from icesql.expr.formula import FLIPPED, Calculation, Column, Formula, Literal, Value
from icesql.expr.tree import BoundReference
from icesql.spec.types import DateType, TimestampType, TimestamptzType
from icesql.spec.values.calendar import MICROS_PER_DAY
from icesql.spec.values.literals import literal

_TIMES = ("date", "timestamp", "timestamp_ntz", "string")


def has_interval(formula: Formula) -> bool:
    return any(map(_holds_interval, (formula.left, formula.right)))


def _holds_interval(value: Value) -> bool:
    if isinstance(value, Calculation):
        return any(map(_holds_interval, value.arguments))
    return isinstance(value, Literal) and value.type == "interval"


def without_interval(formula: Formula) -> tuple[BoundReference, str, int]:
    """Column, comparison and the literal it is compared with, in the column's internal form. Raises InvalidArgumentError where the moved
    column is not compared with a literal, or where an interval has no one length: months, days and hours of different zones."""
    value, other, symbol = formula.left, formula.right, formula.symbol
    if isinstance(value, Literal):
        value, other, symbol = other, value, FLIPPED[symbol]
    if not isinstance(other, Literal) or other.type not in _TIMES:
        raise _refusal(formula, "a time moved by an interval is compared with a literal only")
    days = micros = 0
    while isinstance(value, Calculation):
        inner, interval, sign = _parts(value, formula)
        if interval[0]:
            raise _refusal(formula, "months and years have no one length; move the literal")
        days, micros = days + sign * interval[1], micros + sign * interval[2]
        value = inner
    assert isinstance(value, Column)
    assert isinstance(value.reference, BoundReference)
    term = value.reference
    held = literal(term.type, other.value)
    match term.type:
        case DateType() if not micros:
            return term, symbol, held - days
        case TimestampType():
            return term, symbol, held - days * MICROS_PER_DAY - micros
        case TimestamptzType() if not days:
            return term, symbol, held - micros
        case TimestamptzType():
            raise _refusal(formula, "days differ in length between time zones; write hours, or move the literal")
        case _:
            raise _refusal(formula, f"the interval cannot be added to {term.type}")


def _parts(value: Calculation, formula: Formula) -> tuple[Value, tuple[int, int, int], int]:
    """The value that is moved, the interval, and its sign."""
    match value:
        case Calculation(function="+" | "-" as function, arguments=(inner, Literal(type="interval", value=tuple() as interval))):
            return inner, interval, 1 if function == "+" else -1
        case Calculation(function="+", arguments=(Literal(type="interval", value=tuple() as interval), inner)):
            return inner, interval, 1
        case _:
            raise _refusal(formula, "an interval is added to a column, or taken from it")


def _refusal(formula: Formula, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Cannot use filter: {why}: {formula}")
