"""SQL's meaning of a tree over one row, written as plainly as can be: the oracle of the property tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from icesql.expr.tree import AlwaysFalse, AlwaysTrue, And, Expression, Not, Op, Or, Predicate


def holds(expression: Expression, row: Mapping[str, Any]) -> bool | None:
    """True, False or None (null) of an unbound tree whose literals are internal values."""
    match expression:
        case AlwaysTrue():
            return True
        case AlwaysFalse():
            return False
        case And(left=left, right=right):
            sides = {holds(left, row), holds(right, row)}
            return False if False in sides else None if None in sides else True
        case Or(left=left, right=right):
            sides = {holds(left, row), holds(right, row)}
            return True if True in sides else None if None in sides else False
        case Not(child=child):
            found = holds(child, row)
            return None if found is None else not found
        case Predicate():
            return _leaf(expression, row[expression.term.name])


def order(value: Any) -> tuple[bool, Any]:
    """A sort key with NaN above all and both zeros equal."""
    if isinstance(value, float):
        return (True, 0.0) if math.isnan(value) else (False, value + 0.0)
    return (False, value)


def _leaf(leaf: Predicate, value: Any) -> bool | None:
    match leaf.op:
        case Op.IS_NULL:
            return value is None
        case Op.NOT_NULL:
            return value is not None
        case Op.IS_NAN:
            return value is not None and math.isnan(value)
        case Op.NOT_NAN:
            return value is None or not math.isnan(value)
    if value is None:
        return None
    key, literals = order(value), [order(literal) for literal in leaf.literals]
    match leaf.op:
        case Op.LT:
            return key < literals[0]
        case Op.LT_EQ:
            return key <= literals[0]
        case Op.GT:
            return key > literals[0]
        case Op.GT_EQ:
            return key >= literals[0]
        case Op.EQ | Op.IN:
            return key in literals
        case Op.NOT_EQ | Op.NOT_IN:
            return key not in literals
        case Op.STARTS_WITH:
            return bool(value.startswith(leaf.literal))
        case Op.NOT_STARTS_WITH:
            return not value.startswith(leaf.literal)
        case Op.LIKE:
            return like(value, str(leaf.literal))
        case Op.NOT_LIKE:
            return not like(value, str(leaf.literal))
    raise AssertionError(leaf.op)


def like(text: str, pattern: str) -> bool:
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "%":
        return any(like(text[start:], rest) for start in range(len(text) + 1))
    if first == "\\" and rest:
        first, rest = rest[0], rest[1:]
    elif first == "_" and text:
        first = text[0]
    return text[:1] == first and like(text[1:], rest)
