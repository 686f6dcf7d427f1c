"""CASE and COALESCE in filters, and conditions that are true, false or null, rewritten to AND, OR and the plain predicates."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.expr.tree import Reference
from icesql.parser.clauses.filter_tree import (
    And,
    Between,
    Calculated,
    Case,
    Coalesce,
    Comparison,
    In,
    IsNan,
    IsNull,
    IsTruth,
    Like,
    Node,
    Not,
    Operand,
    Or,
    Truth,
)
from icesql.parser.constants import Constant
from icesql.parser.text.names import Span

_HERE = Span(0, 0)
NEVER = Truth(Constant(False, "boolean"), _HERE)
ALWAYS = Truth(Constant(True, "boolean"), _HERE)


def untrue(node: Node, *, negated: bool = False) -> Node:
    """True where ``node`` (its negation with ``negated``) is false or null; never null itself."""
    match node:
        case And(left=left, right=right):
            return (And if negated else Or)(untrue(left, negated=negated), untrue(right, negated=negated))
        case Or(left=left, right=right):
            return (Or if negated else And)(untrue(left, negated=negated), untrue(right, negated=negated))
        case Not(child=child):
            return untrue(child, negated=not negated)
        case Between(term=term, low=low, high=high, negated=reverse, span=span):
            return untrue(And(Comparison(">=", term, low, span), Comparison("<=", term, high, span)), negated=negated != reverse)
        case Truth(value=Constant(value=value)):
            return NEVER if value is not None and value != negated else ALWAYS
        case In(term=term, values=values, negated=reverse, span=span):
            if any(isinstance(value, Constant) and value.value is None for value in values):
                if negated != reverse:
                    return ALWAYS
                values = tuple(value for value in values if not (isinstance(value, Constant) and value.value is None))
                node = In(term, values, reverse, span)
            return ALWAYS if not values else Or(node if negated else Not(node), _is_null((term, *values)))
        case Truth() | Comparison() | Like() | IsNull() | IsNan() | IsTruth():
            opposite = node if negated else Not(node)
            return Or(opposite, _is_null(_operands(node)))


def _operands(node: Truth | Comparison | Like | IsNull | IsNan | IsTruth) -> tuple[Operand, ...]:
    """Of which one that is null makes the condition null."""
    match node:
        case Truth(value=value):
            return (value,)
        case Comparison(symbol=symbol, left=left, right=right):
            return () if symbol == "<=>" else (left, right)
        case Like(term=term, pattern=pattern):
            return (term, pattern)
        case IsNull() | IsNan() | IsTruth():
            return ()


def _is_null(operands: tuple[Operand, ...]) -> Node:
    node: Node = NEVER
    for operand in operands:
        node = Or(node, is_null(operand))
    return node


def is_null(operand: Operand) -> Node:
    """Whether a value is null, as a condition that is never null."""
    match operand:
        case Constant(value=value):
            return ALWAYS if value is None else NEVER
        case Reference() | Calculated():
            return IsNull(operand, False)
        case Case() | Coalesce():
            node: Node = NEVER
            for condition, value in choices(operand):
                node = Or(node, And(condition, is_null(value)))
            return node


def choices(operand: Operand) -> Iterator[tuple[Node, Operand]]:
    """Values that a value may be, each with the condition under which it is; the conditions exclude each other and are never null."""
    match operand:
        case Reference() | Constant() | Calculated():
            yield ALWAYS, operand
        case Coalesce(arguments=arguments):
            present = tuple((Not(is_null(argument)), argument) for argument in arguments[:-1])
            yield from choices(Case(present, arguments[-1]))
        case Case(branches=branches, default=default):
            before: Node = ALWAYS
            for condition, value in (*branches, (ALWAYS, default or Constant(None, "void"))):
                is_this = And(before, Not(untrue(condition)))
                for inner, chosen in choices(value):
                    yield And(is_this, inner), chosen
                before = And(before, untrue(condition))
