"""Comparisons of computed values: ``amount * 2 > 10``, ``a < b``, ``x % 2 = 0``. A predicate ``Op.HOLDS`` has one as its literal.

Values are as Spark computes them in ANSI mode: a null makes the result null, an integer that overflows and a division by zero are errors
(``InvalidArgumentError`` when a row is tested), decimals have Spark's precision and scale and round half up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from icesql.expr.tree import BoundReference, Term

ARITHMETIC = ("+", "-", "*", "/", "%", "div")
FUNCTIONS = ("negative", "abs", "length")


@dataclass(frozen=True, slots=True)
class Column:
    reference: Term


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is not null, and Spark's simple name of its type: int, bigint, float, double, ``decimal(p,s)``, string, boolean, date or
    timestamp, the last two as text."""

    value: object
    type: str


@dataclass(frozen=True, slots=True)
class Calculation:
    """``function``: one of ``ARITHMETIC`` with two arguments, or of ``FUNCTIONS`` with one."""

    function: str
    arguments: tuple[Value, ...]


Value: TypeAlias = Column | Literal | Calculation
Row: TypeAlias = "Mapping[int, Any]"  # values in internal form, by field id
Computed: TypeAlias = "Callable[[Row], Any]"


@dataclass(frozen=True, slots=True)
class Formula:
    """``left symbol right``; null, and so not kept, where a column in it is null. NaN equals itself and is larger than other numbers."""

    symbol: str  # = != < <= > >=
    left: Value
    right: Value

    def columns(self) -> list[Term]:
        """Each once, from the left."""
        return list(dict.fromkeys([*columns_of(self.left), *columns_of(self.right)]))

    def with_columns(self, change: Callable[[Any], BoundReference]) -> Formula:
        return replace(self, left=_with_columns(self.left, change), right=_with_columns(self.right, change))

    def negated(self) -> Formula:
        return replace(self, symbol=NEGATED[self.symbol])

    def __str__(self) -> str:
        return f"{text_of(self.left)} {self.symbol} {text_of(self.right)}"


NEGATED = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def columns_of(value: Value) -> Iterator[Term]:
    match value:
        case Column(reference=reference):
            yield reference
        case Calculation(arguments=arguments):
            for argument in arguments:
                yield from columns_of(argument)
        case Literal():
            pass


def _with_columns(value: Value, change: Callable[[Any], BoundReference]) -> Value:
    match value:
        case Column(reference=reference):
            return Column(change(reference))
        case Calculation(arguments=arguments):
            return replace(value, arguments=tuple(_with_columns(argument, change) for argument in arguments))
        case Literal():
            return value


def text_of(value: Value) -> str:
    """SQL text of the value."""
    match value:
        case Column(reference=reference):
            return reference.name
        case Literal(value=(months, days, micros), type="interval"):
            return f"INTERVAL '{months} months {days} days {micros} microseconds'"
        case Literal(value=literal, type=type_):
            quoted = f"'{literal}'" if isinstance(literal, str) else str(literal).lower() if isinstance(literal, bool) else str(literal)
            return f"{type_.upper()} {quoted}" if type_ in ("date", "timestamp", "timestamp_ntz") else quoted
        case Calculation(function=function, arguments=(left, right)):
            return f"{_inside(left)} {function} {_inside(right)}"
        case Calculation(function="negative", arguments=arguments):
            return f"-{_inside(arguments[0])}"
        case Calculation(function=function, arguments=arguments):
            return f"{function}({', '.join(map(text_of, arguments))})"


def _inside(value: Value) -> str:
    return f"({text_of(value)})" if isinstance(value, Calculation) and len(value.arguments) == 2 else text_of(value)
