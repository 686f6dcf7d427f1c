"""Hypothesis strategies: values of every comparable type, predicates over them, and rows."""

from __future__ import annotations

import math
from uuid import UUID

from hypothesis import strategies as st

from icesql.expr.tree import And, Expression, Not, Op, Or, Predicate, Reference
from icesql.spec.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    Type,
    UUIDType,
)
from icesql.spec.values.decimals import from_unscaled

DAY_US = 86_400_000_000
YEAR_DAYS = 366

_floats = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -1.5, 2.0, 1e10]) | st.floats(width=32, allow_nan=True)
_times = st.integers(-3 * YEAR_DAYS * DAY_US, 3 * YEAR_DAYS * DAY_US) | st.sampled_from(
    [0, -1, 1, DAY_US, -DAY_US, DAY_US - 1, -DAY_US - 1, 3_600_000_000, -3_600_000_000]
)
_text = st.text(alphabet="abcz\u00e9\U0001f600", max_size=6)


def _ints(bits: int) -> st.SearchStrategy[int]:
    half = 1 << (bits - 1)
    return (
        st.integers(-40, 40)
        | st.sampled_from([-half, -half + 1, -half + 7, half - 1, half - 2, 1000, -1000])
        | st.integers(-half, half - 1)
    )


VALUES: dict[Type, st.SearchStrategy[object]] = {
    BooleanType(): st.booleans(),
    IntegerType(): _ints(32),
    LongType(): _ints(64),
    FloatType(): _floats,
    DoubleType(): _floats,
    DecimalType(9, 2): st.integers(-2000, 2000).map(lambda n: from_unscaled(n, 2)),
    DecimalType(38, 10): st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: from_unscaled(n, 10)),
    DateType(): st.integers(-3 * YEAR_DAYS, 3 * YEAR_DAYS),
    TimeType(): st.integers(0, DAY_US - 1),
    TimestampType(): _times,
    TimestamptzType(): _times,
    TimestampNanoType(): _times.map(lambda us: us * 1000 + 7),
    TimestamptzNanoType(): _times.map(lambda us: us * 1000 - 7),
    StringType(): _text,
    UUIDType(): st.sampled_from([UUID(int=n) for n in (0, 1, 2**64, 2**127, 2**128 - 1)]) | st.uuids(),
    FixedType(2): st.binary(min_size=2, max_size=2),
    BinaryType(): st.binary(max_size=4),
}

COMPARISONS = (Op.LT, Op.LT_EQ, Op.GT, Op.GT_EQ, Op.EQ, Op.NOT_EQ)


def leaves_over(name: str, type_: Type, *, with_patterns: bool = True) -> st.SearchStrategy[Expression]:
    """Every operator the type allows, with literals that are internal values of it."""
    reference, value = Reference(name), VALUES[type_]
    options: list[st.SearchStrategy[Expression]] = [
        st.sampled_from([Predicate(Op.IS_NULL, reference), Predicate(Op.NOT_NULL, reference)]),
        st.builds(lambda op, literal: Predicate(op, reference, (literal,)), st.sampled_from(COMPARISONS), value),
        st.builds(
            lambda op, literals: Predicate(op, reference, tuple(literals)),
            st.sampled_from([Op.IN, Op.NOT_IN]),
            st.lists(value, min_size=1, max_size=4),
        ),
    ]
    if isinstance(type_, (FloatType, DoubleType)):
        options.append(st.sampled_from([Predicate(Op.IS_NAN, reference), Predicate(Op.NOT_NAN, reference)]))
    if isinstance(type_, StringType):
        options.append(
            st.builds(lambda op, prefix: Predicate(op, reference, (prefix,)), st.sampled_from([Op.STARTS_WITH, Op.NOT_STARTS_WITH]), _text)
        )
    if isinstance(type_, StringType) and with_patterns:
        patterns = st.lists(_text | st.sampled_from(["%", "_", "\\%", "\\_", "\\\\"]), max_size=4).map("".join)
        kinds = st.sampled_from([Op.LIKE, Op.NOT_LIKE])
        options.append(st.builds(lambda op, pattern: Predicate(op, reference, (pattern,)), kinds, patterns))
    return st.one_of(options)


def trees(leaf: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.recursive(
        leaf, lambda inner: st.builds(And, inner, inner) | st.builds(Or, inner, inner) | st.builds(Not, inner), max_leaves=5
    )
