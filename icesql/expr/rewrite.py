"""Rewriting trees: negations pushed down to the leaves, and one fold over all leaves.

In a tree without NOT a null leaf and a false leaf mean the same: the row is not kept. Everything that prunes works on such trees,
which is what keeps three-valued logic right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from icesql.errors import unknown_case
from icesql.expr.formula import Formula
from icesql.expr.tree import (
    FALSE,
    TRUE,
    AlwaysFalse,
    AlwaysTrue,
    And,
    BoundReference,
    Expression,
    Not,
    Op,
    Or,
    Predicate,
    Term,
    and_,
    or_,
)

NEGATIONS: dict[Op, Op] = {
    Op.IS_NULL: Op.NOT_NULL,
    Op.NOT_NULL: Op.IS_NULL,
    Op.IS_NAN: Op.NOT_NAN,
    Op.NOT_NAN: Op.IS_NAN,
    Op.LT: Op.GT_EQ,
    Op.LT_EQ: Op.GT,
    Op.GT: Op.LT_EQ,
    Op.GT_EQ: Op.LT,
    Op.EQ: Op.NOT_EQ,
    Op.NOT_EQ: Op.EQ,
    Op.IN: Op.NOT_IN,
    Op.NOT_IN: Op.IN,
    Op.STARTS_WITH: Op.NOT_STARTS_WITH,
    Op.NOT_STARTS_WITH: Op.STARTS_WITH,
    Op.LIKE: Op.NOT_LIKE,
    Op.NOT_LIKE: Op.LIKE,
}

FLIPPED: dict[Op, Op] = {
    Op.LT: Op.GT,
    Op.LT_EQ: Op.GT_EQ,
    Op.GT: Op.LT,
    Op.GT_EQ: Op.LT_EQ,
    Op.EQ: Op.EQ,
    Op.NOT_EQ: Op.NOT_EQ,
}
"""``literal op column`` read as ``column op literal``."""


def push_not(expression: Expression) -> Expression:
    """An equal tree without NOT: true for exactly the same rows, null logic included. Constants are folded."""
    match expression:
        case And(left=left, right=right):
            return and_(push_not(left), push_not(right))
        case Or(left=left, right=right):
            return or_(push_not(left), push_not(right))
        case Not(child=child):
            return _negated(child)
        case AlwaysTrue() | AlwaysFalse() | Predicate():
            return expression
        case _:
            raise unknown_case(expression)


def _negated(expression: Expression) -> Expression:
    match expression:
        case AlwaysTrue():
            return FALSE
        case AlwaysFalse():
            return TRUE
        case Not(child=child):
            return push_not(child)
        case And(left=left, right=right):
            return or_(_negated(left), _negated(right))
        case Or(left=left, right=right):
            return and_(_negated(left), _negated(right))
        case Predicate(op=Op.HOLDS, term=term, literals=(Formula() as formula,)):
            return Predicate(Op.HOLDS, term, (formula.negated(),))
        case Predicate(op=op, term=term, literals=literals):
            return Predicate(NEGATIONS[op], term, literals)
        case _:
            raise unknown_case(expression)


def map_leaves(expression: Expression, change: Callable[[Predicate], Expression]) -> Expression:
    """The tree with every leaf replaced by ``change(leaf)``, constants folded. NOT is kept where it stands."""
    match expression:
        case And(left=left, right=right):
            return and_(map_leaves(left, change), map_leaves(right, change))
        case Or(left=left, right=right):
            return or_(map_leaves(left, change), map_leaves(right, change))
        case Not(child=child):
            return _fold_not(map_leaves(child, change))
        case Predicate():
            return change(expression)
        case AlwaysTrue() | AlwaysFalse():
            return expression
        case _:
            raise unknown_case(expression)


def _fold_not(child: Expression) -> Expression:
    match child:
        case AlwaysTrue():
            return FALSE
        case AlwaysFalse():
            return TRUE
        case And() | Or() | Not() | Predicate():
            return Not(child)
        case _:
            raise unknown_case(child)


def satisfied(expression: Expression, test: Callable[[Predicate], bool]) -> bool:
    """The value of a tree without NOT if ``test`` answers its leaves; leaves of AND and OR that cannot change it are not tested."""
    match expression:
        case And(left=left, right=right):
            return satisfied(left, test) and satisfied(right, test)
        case Or(left=left, right=right):
            return satisfied(left, test) or satisfied(right, test)
        case AlwaysTrue():
            return True
        case AlwaysFalse():
            return False
        case Predicate():
            return test(expression)
        case Not():
            raise with_not(expression)
        case _:
            raise unknown_case(expression)


def with_not(expression: Not) -> AssertionError:
    """Raises for a NOT in a tree that binding must have freed of it: guessing here could skip a file."""
    return AssertionError(f"NOT in a bound tree: {expression}")


def leaves(expression: Expression) -> Iterator[Predicate]:
    """Every predicate of the tree, left to right."""
    match expression:
        case And(left=left, right=right) | Or(left=left, right=right):
            yield from leaves(left)
            yield from leaves(right)
        case Not(child=child):
            yield from leaves(child)
        case Predicate():
            yield expression
        case AlwaysTrue() | AlwaysFalse():
            pass
        case _:
            raise unknown_case(expression)


def conjuncts(expression: Expression) -> list[Expression]:
    """The parts of the outermost AND, left to right; ``[]`` for TRUE."""
    match expression:
        case And(left=left, right=right):
            return [*conjuncts(left), *conjuncts(right)]
        case AlwaysTrue():
            return []
        case AlwaysFalse() | Or() | Not() | Predicate():
            return [expression]
        case _:
            raise unknown_case(expression)


def referenced_ids(expression: Expression) -> frozenset[int]:
    """Field ids of a bound tree's columns."""
    return frozenset(term.field.id for leaf in leaves(expression) for term in terms(leaf) if isinstance(term, BoundReference))


def terms(leaf: Predicate) -> Sequence[Term]:
    """The columns that a leaf asks about: one, but for a formula."""
    match leaf:
        case Predicate(op=Op.HOLDS, literals=(Formula() as formula,)):
            return formula.columns()
        case _:
            return (leaf.term,)


_OURS = frozenset({Op.LIKE, Op.NOT_LIKE, Op.HOLDS})
"""Operators that the specification lacks."""


def without_patterns(expression: Expression) -> Expression:
    """A tree without LIKE and formulas that is true for the same rows and perhaps more, for readers of the specification's operators."""
    return map_leaves(push_not(expression), lambda leaf: Predicate(Op.NOT_NULL, leaf.term) if leaf.op in _OURS else leaf)


def has_patterns(expression: Expression) -> bool:
    """Whether a leaf is LIKE or a formula."""
    match expression:
        case And(left=left, right=right) | Or(left=left, right=right):
            return has_patterns(left) or has_patterns(right)
        case Not(child=child):
            return has_patterns(child)
        case Predicate(op=op):
            return op in _OURS
        case AlwaysTrue() | AlwaysFalse():
            return False
        case _:
            raise unknown_case(expression)
