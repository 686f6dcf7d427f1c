"""Predicates as SQL text, for reports, plans and messages."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from uuid import UUID

from icesql.errors import unknown_case
from icesql.expr.tree import AlwaysFalse, AlwaysTrue, And, BoundReference, Expression, Not, Op, Or, Predicate, Term
from icesql.spec.transforms import Transform
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    FixedType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)
from icesql.spec.values.human import human_value

_SYMBOLS = {Op.LT: "<", Op.LT_EQ: "<=", Op.GT: ">", Op.GT_EQ: ">=", Op.EQ: "=", Op.NOT_EQ: "!="}
_SHOWN_LITERALS = 20


def describe(expression: Expression) -> str:
    """SQL-like text: ``event_time >= TIMESTAMP '2021-10-01T00:00' AND device_id IN (1, 2)``. Long IN lists are cut short."""
    match expression:
        case AlwaysTrue():
            return "true"
        case AlwaysFalse():
            return "false"
        case And(left=left, right=right):
            return f"{_inside_and(left)} AND {_inside_and(right)}"
        case Or(left=left, right=right):
            return f"{describe(left)} OR {describe(right)}"
        case Not(child=child):
            return f"NOT ({describe(child)})"
        case Predicate():
            return _leaf(expression)
        case _:
            raise unknown_case(expression)


def _inside_and(expression: Expression) -> str:
    return f"({describe(expression)})" if isinstance(expression, Or) else describe(expression)


def _leaf(leaf: Predicate) -> str:
    name = describe_term(leaf.term)
    shown = [_value(leaf.term, value) for value in leaf.literals[:_SHOWN_LITERALS]]
    match leaf.op:
        case Op.IS_NULL:
            return f"{name} IS NULL"
        case Op.NOT_NULL:
            return f"{name} IS NOT NULL"
        case Op.IS_NAN:
            return f"isnan({name})"
        case Op.NOT_NAN:
            return f"NOT isnan({name})"
        case Op.STARTS_WITH | Op.NOT_STARTS_WITH:
            pattern = str(leaf.literal).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("'", "''")
            return f"{name} {'NOT ' if leaf.op is Op.NOT_STARTS_WITH else ''}LIKE '{pattern}%'"
        case Op.LIKE | Op.NOT_LIKE:
            return f"{name} {'NOT ' if leaf.op is Op.NOT_LIKE else ''}LIKE {shown[0]}"
        case Op.HOLDS:
            return str(leaf.literal)
        case Op.IN | Op.NOT_IN:
            more = f", ... ({len(leaf.literals) - _SHOWN_LITERALS} more)" if len(leaf.literals) > _SHOWN_LITERALS else ""
            return f"{name} {'NOT ' if leaf.op is Op.NOT_IN else ''}IN ({', '.join(shown)}{more})"
        case Op.LT | Op.LT_EQ | Op.GT | Op.GT_EQ | Op.EQ | Op.NOT_EQ:
            return f"{name} {_SYMBOLS[leaf.op]} {shown[0]}"
        case _:
            raise unknown_case(leaf.op)


_FUNCTIONS = {"year": "years", "month": "months", "day": "days", "hour": "hours"}


def describe_term(term: Term) -> str:
    """``name``, or the name under its transform as SQL writes it: ``bucket(16, id)``, ``days(ts)``."""
    return term.name if term.transform is None else _call(term.transform, term.name)


def _call(transform: Transform, name: str) -> str:
    function = _FUNCTIONS.get(transform.name, transform.name)
    return f"{function}({name})" if transform.width is None else f"{function}({transform.width}, {name})"


_PREFIXES: dict[type[object], str] = {
    DateType: "DATE ",
    TimeType: "TIME ",
    TimestampType: "TIMESTAMP ",
    TimestamptzType: "TIMESTAMP ",
    TimestampNanoType: "TIMESTAMP ",
    TimestamptzNanoType: "TIMESTAMP ",
}


def _value(term: Term, value: object) -> str:
    return bound_value(term.type, value) if isinstance(term, BoundReference) else _plain(value)


def bound_value(type_: Type, value: object) -> str:
    """A literal in internal form as SQL text."""
    prefix = _PREFIXES.get(type(type_))
    if prefix is not None:
        return f"{prefix}'{human_value(type_, value)}'"
    if isinstance(type_, (BooleanType, UUIDType, BinaryType, FixedType)):
        return _plain(value)
    return _plain(value) if isinstance(value, (str, bytes)) else human_value(type_, value)


def _plain(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return f"X'{value.hex().upper()}'"
        case UUID():
            return f"'{value}'"
        case Decimal():
            return format(value, "f")
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case dt.time():
            return f"TIME '{value.isoformat()}'"
        case _:
            return str(value)
