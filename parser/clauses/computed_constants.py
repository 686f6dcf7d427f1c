"""Constant folding in filters: a calculation whose arguments are all constants is evaluated while the filter is parsed."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from decimal import Decimal

from icesql.errors import IcesqlError
from icesql.expr.formula import Calculation, Literal
from icesql.expr.formula_types import type_of
from icesql.expr.formula_values import computed
from icesql.parser.clauses.filter_tree import Calculated, Operand
from icesql.parser.clauses.intervals import Interval, moved
from icesql.parser.constants import Constant
from icesql.parser.frozen.folding import NULL
from icesql.parser.text.names import Span
from icesql.parser.text.places import sql_error
from icesql.spec.types import DecimalType, Type

_TIMES = ("date", "timestamp", "timestamp_ntz")
_NAMES = {"int": "int", "long": "bigint", "float": "float", "double": "double", "string": "string", "boolean": "boolean"}


def calculated(function: str, arguments: Sequence[Operand], span: Span, sql: str) -> Operand:
    """A constant where all arguments are constants, null where one is null, else the calculation. Raises SqlError."""
    constants = [argument for argument in arguments if isinstance(argument, Constant)]
    if any(constant.value is None for constant in constants):
        return NULL
    if len(constants) < len(arguments):
        return Calculated(function, tuple(arguments), span)
    try:
        result = _with_interval(function, constants) or _number(function, constants)
    except IcesqlError as error:
        raise sql_error(f"Cannot use filter: {error.message.partition(': ')[2]}", sql, span.start, span.end) from None
    return result


def _number(function: str, constants: Sequence[Constant]) -> Constant:
    value = Calculation(function, tuple(Literal(constant.value, constant.type) for constant in constants))
    type_ = type_of(value)
    return Constant(_plain(computed(value)({})), _name(type_))


def _plain(value: object) -> object:
    return value if not isinstance(value, Decimal) else +value


def _name(type_: Type) -> str:
    return f"decimal({type_.precision},{type_.scale})" if isinstance(type_, DecimalType) else _NAMES.get(str(type_), str(type_))


def _with_interval(function: str, constants: Sequence[Constant]) -> Constant | None:
    """A date or time moved by an interval, or intervals added."""
    match function, *constants:
        case "negative", Constant(value=Interval() as only):
            return Constant(only.negated(), "interval")
        case (("+" | "-"), Constant(value=Interval() as left), Constant(value=Interval() as right)):
            apply: Callable[[int, int], int] = operator.add if function == "+" else operator.sub
            return Constant(Interval(*map(apply, left, right)), "interval")
        case (("+" | "-"), Constant(type=kind) as time, Constant(value=Interval() as interval)) if kind in _TIMES:
            return _moved(time, interval if function == "+" else interval.negated())
        case "+", Constant(value=Interval() as interval), Constant(type=kind) as time if kind in _TIMES:
            return _moved(time, interval)
        case (("+" | "-"), Constant(type="date") as date, Constant(value=int() as days, type="int")):
            return _moved(date, Interval(0, days if function == "+" else -days, 0))
        case _:
            return None


def _moved(time: Constant, interval: Interval) -> Constant:
    text = moved(str(time.value), interval, is_date=time.type == "date")
    if text is None:
        raise IcesqlError(f"Cannot use filter: the {time.type} cannot be moved by this interval: {time.value}")
    return Constant(text, time.type)
