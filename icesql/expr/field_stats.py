"""Statistics of a column over a set of rows, and what they prove of a predicate: may some row match, must every row match.

Data-file metrics and partition summaries both become ``FieldStats``; the vectorised form is
``icesql.table.manifests.column_predicates``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from icesql.errors import unknown_case
from icesql.expr.tree import Op, Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldStats:
    """Proven facts only; a false flag means "not known". Bounds hold for all values but nulls and NaN, ``None`` where not known."""

    no_nulls: bool = False
    only_nulls: bool = False
    no_nans: bool = False
    only_nans: bool = False
    only_nulls_and_nans: bool = False
    lower: Any = None
    upper: Any = None


UNKNOWN = FieldStats()


def sound_bounds(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Bounds as they may be used: NaN bounds and bounds in the wrong order (other orders of old writers) say nothing."""
    if lower is not None and lower != lower:
        lower = None
    if upper is not None and upper != upper:
        upper = None
    if lower is not None and upper is not None and lower > upper:
        return None, None
    return lower, upper


def may_match(leaf: Predicate, stats: FieldStats) -> bool:
    """False only if no row can match the bound leaf."""
    match leaf.op:
        case Op.IS_NULL:
            return not stats.no_nulls
        case Op.NOT_NULL:
            return not stats.only_nulls
        case Op.IS_NAN:
            return not (stats.no_nans or stats.only_nulls)
        case Op.NOT_NAN:
            return not stats.only_nans
        case Op.LT | Op.LT_EQ | Op.GT | Op.GT_EQ | Op.EQ | Op.NOT_EQ | Op.IN | Op.NOT_IN | Op.STARTS_WITH | Op.NOT_STARTS_WITH:
            if stats.only_nulls:
                return False
            if not stats.no_nans and leaf.op in _TRUE_FOR_NAN:
                return True
            return not stats.only_nulls_and_nans and _value_may_match(leaf, stats.lower, stats.upper)
        case Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
            return not stats.only_nulls
        case _:
            raise unknown_case(leaf.op)


_TRUE_FOR_NAN = frozenset({Op.GT, Op.GT_EQ, Op.NOT_EQ, Op.NOT_IN})


def _value_may_match(leaf: Predicate, lower: Any, upper: Any) -> bool:
    literal: Any = leaf.literal
    match leaf.op:
        case Op.LT:
            return lower is None or lower < literal
        case Op.LT_EQ:
            return lower is None or lower <= literal
        case Op.GT:
            return upper is None or upper > literal
        case Op.GT_EQ:
            return upper is None or upper >= literal
        case Op.EQ | Op.IN:
            return any(_within(value, lower, upper) for value in leaf.literals)
        case Op.NOT_EQ | Op.NOT_IN:
            return lower is None or lower != upper or lower not in leaf.literals
        case Op.STARTS_WITH:
            return (lower is None or lower[: len(literal)] <= literal) and (upper is None or upper[: len(literal)] >= literal)
        case Op.NOT_STARTS_WITH:
            return lower is None or upper is None or not (lower.startswith(literal) and upper.startswith(literal))
        case Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
            return True  # bounds say nothing of them
        case _:
            raise unknown_case(leaf.op)


def _within(value: Any, lower: Any, upper: Any) -> bool:
    return (lower is None or lower <= value) and (upper is None or value <= upper)


def must_match(leaf: Predicate, stats: FieldStats) -> bool:
    """True only if every row matches the bound leaf (a null row matches IS_NULL and NOT_NAN alone)."""
    match leaf.op:
        case Op.IS_NULL:
            return stats.only_nulls
        case Op.NOT_NULL:
            return stats.no_nulls
        case Op.IS_NAN:
            return stats.only_nans and stats.no_nulls
        case Op.NOT_NAN:
            return stats.no_nans
        case Op.LT | Op.LT_EQ | Op.GT | Op.GT_EQ | Op.EQ | Op.NOT_EQ | Op.IN | Op.NOT_IN | Op.STARTS_WITH | Op.NOT_STARTS_WITH:
            if not stats.no_nulls:
                return False
            if leaf.op in _TRUE_FOR_NAN:
                return stats.only_nans or _values_must_match(leaf, stats.lower, stats.upper)
            return stats.no_nans and _values_must_match(leaf, stats.lower, stats.upper)
        case Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
            return False
        case _:
            raise unknown_case(leaf.op)


def _values_must_match(leaf: Predicate, lower: Any, upper: Any) -> bool:
    literal: Any = leaf.literal
    match leaf.op:
        case Op.LT:
            return upper is not None and upper < literal
        case Op.LT_EQ:
            return upper is not None and upper <= literal
        case Op.GT:
            return lower is not None and lower > literal
        case Op.GT_EQ:
            return lower is not None and lower >= literal
        case Op.EQ | Op.IN:
            return lower is not None and lower == upper and lower in leaf.literals
        case Op.NOT_EQ | Op.NOT_IN:
            return not any(_within(value, lower, upper) for value in leaf.literals)
        case Op.STARTS_WITH:
            return lower is not None and upper is not None and lower.startswith(literal) and upper.startswith(literal)
        case Op.NOT_STARTS_WITH:
            return (upper is not None and upper[: len(literal)] < literal) or (lower is not None and lower[: len(literal)] > literal)
        case Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
            return False  # bounds say nothing of them
        case _:
            raise unknown_case(leaf.op)
