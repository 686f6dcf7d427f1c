"""Predicates over whole columns of a manifest: the vectorised forms of ``icesql.expr.metrics`` and of the row evaluator for partition
tuples.

Every function takes ``rows`` (indices into the manifest) and returns one boolean for each of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from icesql.errors import unknown_case
from icesql.expr.binding import is_floating
from icesql.expr.evaluate import value_test
from icesql.expr.metrics import has_ordered_bounds
from icesql.expr.rewrite import with_not
from icesql.expr.tree import AlwaysFalse, AlwaysTrue, And, BoundReference, Expression, Not, Op, Or, Predicate
from icesql.io.manifests.byte_columns import BytesColumn
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.manifests.partition_columns import PartitionColumn
from icesql.spec.schema import Schema
from icesql.spec.transforms import transform_function
from icesql.spec.types import (
    BinaryType,
    FixedType,
    StringType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    Type,
    UUIDType,
)
from icesql.spec.values.binary import from_bytes

Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]
LeafMask = Callable[[Predicate], Mask]

_RAW_BYTES = (StringType, BinaryType, FixedType, UUIDType)  # their bytes compare as their values do
_TIMESTAMPS = (TimestampType, TimestamptzType, TimestampNanoType, TimestamptzNanoType)
_TRUE_FOR_NAN = frozenset({Op.GT, Op.GT_EQ, Op.NOT_EQ, Op.NOT_IN})


def fold(expression: Expression, leaf_mask: LeafMask, count: int) -> Mask:
    """The mask of a NOT-free tree over ``count`` rows, from the masks of its leaves."""
    match expression:
        case AlwaysTrue():
            return np.ones(count, bool)
        case And(left=left, right=right):
            mask = fold(left, leaf_mask, count)
            return mask & fold(right, leaf_mask, count) if mask.any() else mask
        case Or(left=left, right=right):
            return fold(left, leaf_mask, count) | fold(right, leaf_mask, count)
        case Predicate():
            return leaf_mask(expression)
        case AlwaysFalse():
            return np.zeros(count, bool)
        case Not():
            raise with_not(expression)
        case _:
            raise unknown_case(expression)


# -- partition tuples --------------------------------------------------------------------------------------------


def partition_mask(projected: Expression, columns: ManifestColumns, rows: Rows) -> Mask:
    """Which rows' partition tuples satisfy a tree bound to the partition struct; null counts as false."""
    partitions = columns.partition_columns
    return fold(projected, lambda leaf: _partition_leaf(leaf, partitions, rows), len(rows))


def _partition_leaf(leaf: Predicate, partitions: dict[int, PartitionColumn], rows: Rows) -> Mask:
    term = leaf.term
    assert isinstance(term, BoundReference)
    column = partitions.get(term.field.id)
    if column is None:
        return np.ones(len(rows), bool)  # not in the file: nothing is known
    valid = column.valid[rows]
    if leaf.op is Op.IS_NULL:
        return ~valid
    if leaf.op is Op.NOT_NULL:
        return valid
    if column.integers is not None and term.transform is None:
        return valid & _compare_exact(leaf, column.integers[rows])
    return _each_distinct(leaf, term, column, rows)


_COMPARISONS: dict[Op, Callable[[Any, Any], Any]] = {
    Op.LT: operator.lt,
    Op.LT_EQ: operator.le,
    Op.GT: operator.gt,
    Op.GT_EQ: operator.ge,
    Op.EQ: operator.eq,
    Op.NOT_EQ: operator.ne,
}


def _compare_exact(leaf: Predicate, values: npt.NDArray[Any]) -> Mask:
    compare = _COMPARISONS.get(leaf.op)
    if compare is not None:
        return _compared(compare, values, leaf.literal)
    if leaf.op not in (Op.IN, Op.NOT_IN):
        raise AssertionError(f"no comparison of integers: {leaf}")
    is_member = np.isin(values, np.array(leaf.literals, np.int64))
    return is_member if leaf.op is Op.IN else ~is_member


def _compared(compare: Callable[[Any, Any], Any], values: npt.NDArray[Any], other: Any) -> Mask:
    """Elementwise comparison; always booleans, also where the elements are Python objects."""
    holds: Mask = np.asarray(compare(values, other), bool)
    return holds


def _each_distinct(leaf: Predicate, term: BoundReference, column: PartitionColumn, rows: Rows) -> Mask:
    """The test once for each distinct value."""
    test = value_test(leaf)
    apply = None if term.transform is None else transform_function(term.transform, term.field.type)
    known: dict[Any, bool] = {}

    def holds(row: int) -> bool:
        value = column.value(row)
        result = known.get(value)
        if result is None:
            result = known[value] = test(value if apply is None else apply(value)) is True
        return result

    return np.fromiter((holds(row) for row in rows.tolist()), bool, len(rows))


# -- column metrics ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bound:
    values: npt.NDArray[Any]
    valid: Mask


@dataclass(frozen=True, slots=True)
class _Stats:
    """``icesql.expr.field_stats.FieldStats`` as arrays, one for each fact."""

    no_nulls: Mask
    only_nulls: Mask
    no_nans: Mask
    only_nans: Mask
    only_nulls_and_nans: Mask
    lower: _Bound
    upper: _Bound


def metrics_mask(bound: Expression, schema: Schema, columns: ManifestColumns, rows: Rows) -> Mask:
    """False only for rows (files) none of whose records can match the bound tree."""
    known: dict[int, _Stats] = {}

    def leaf_mask(leaf: Predicate) -> Mask:
        term = leaf.term
        assert isinstance(term, BoundReference)
        if term.transform is not None or term.field.id not in columns.wanted:
            return np.ones(len(rows), bool)
        if term.field.id not in known:
            known[term.field.id] = _stats(columns, term.field.id, term.type, rows, nested=term.field.id in schema.parents)
        return _may_match(leaf, known[term.field.id], term.type)

    mask: Mask = fold(bound, leaf_mask, len(rows)) & (columns.record_count[rows] != 0)
    return mask


def _stats(columns: ManifestColumns, field_id: int, type_: Type, rows: Rows, *, nested: bool) -> _Stats:
    (values, has_values), (nulls, has_nulls), (nans, has_nans) = (
        (array[rows], valid[rows])
        for array, valid in (columns.value_count(field_id), columns.null_count(field_id), columns.nan_count(field_id))
    )
    floating = is_floating(type_)
    if not floating:
        nans, has_nans = np.zeros(len(rows), np.int64), np.ones(len(rows), bool)
    no_nulls = has_nulls & (nulls == 0)
    if nested:
        no_nulls &= has_values & (values == columns.record_count[rows])
    only_nulls = has_values & has_nulls & (values == nulls)
    lower, upper = _sound(_bounds(columns.lower(field_id), type_, rows), _bounds(columns.upper(field_id), type_, rows))
    return _Stats(
        no_nulls=no_nulls,
        only_nulls=only_nulls,
        no_nans=has_nans & (nans == 0),
        only_nans=has_values & has_nans & (values > 0) & (values == nans) if floating else np.zeros(len(rows), bool),
        only_nulls_and_nans=only_nulls | (has_values & has_nulls & has_nans & (values == nulls + nans)),
        lower=lower,
        upper=upper,
    )


def _bounds(column: BytesColumn, type_: Type, rows: Rows) -> _Bound:
    part = BytesColumn(column.buffer, column.offsets[rows], column.lengths[rows])
    if not has_ordered_bounds(type_):
        return _Bound(np.zeros(len(rows), np.int64), np.zeros(len(rows), bool))
    numbers = part.numbers(type_)
    if numbers is None:
        return _object_bounds(part, type_)
    values, valid = numbers
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
        return _Bound(values, valid & ~np.isnan(values))
    if isinstance(type_, _TIMESTAMPS):
        valid = valid & (part.lengths == 8)  # a date's bound, from before a promotion, is of another unit
    return _Bound(values.astype(np.int64), valid)


def _object_bounds(part: BytesColumn, type_: Type) -> _Bound:
    raw = isinstance(type_, _RAW_BYTES)
    valid = part.valid
    empty = b"" if raw else from_bytes(type_, b"\x00")
    values = np.empty(len(part), object)
    for row in range(len(part)):
        data = part[row]
        values[row] = empty if data is None else data if raw else from_bytes(type_, data)
    return _Bound(values, valid)


def _sound(lower: _Bound, upper: _Bound) -> tuple[_Bound, _Bound]:
    """Bounds as they may be used: bounds in the wrong order say nothing."""
    crossed = lower.valid & upper.valid & _compared(operator.gt, lower.values, upper.values)
    if not crossed.any():
        return lower, upper
    return _Bound(lower.values, lower.valid & ~crossed), _Bound(upper.values, upper.valid & ~crossed)


def comparable(type_: Type, literal: Any) -> Any:
    """A literal in the form in which bounds are compared."""
    match type_:
        case StringType():
            return literal.encode("utf-8", "surrogatepass")
        case UUIDType():
            return literal.bytes
        case _:  # numbers, and times as numbers
            return int(literal) if isinstance(literal, bool) else literal


def _may_match(leaf: Predicate, stats: _Stats, type_: Type) -> Mask:
    match leaf.op:
        case Op.IS_NULL:
            return ~stats.no_nulls
        case Op.NOT_NULL:
            return ~stats.only_nulls
        case Op.IS_NAN:
            return ~(stats.no_nans | stats.only_nulls)
        case Op.NOT_NAN:
            return ~stats.only_nans
        case Op.LT | Op.LT_EQ | Op.GT | Op.GT_EQ | Op.EQ | Op.NOT_EQ | Op.IN | Op.NOT_IN | Op.STARTS_WITH | Op.NOT_STARTS_WITH:
            return _value_may_match(leaf, stats, type_)
        case Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
            return ~stats.only_nulls
        case _:
            raise unknown_case(leaf.op)


def _value_may_match(leaf: Predicate, stats: _Stats, type_: Type) -> Mask:
    literals = [comparable(type_, literal) for literal in leaf.literals]
    may_match = _values_may_match(leaf.op, literals, stats.lower, stats.upper) & ~stats.only_nulls_and_nans
    if leaf.op in _TRUE_FOR_NAN:
        may_match |= ~stats.no_nans
    return may_match & ~stats.only_nulls


def _values_may_match(op: Op, literals: list[Any], lower: _Bound, upper: _Bound) -> Mask:
    match op:
        case Op.LT | Op.LT_EQ:
            return _unless(lower, _COMPARISONS[op], literals[0])
        case Op.GT | Op.GT_EQ:
            return _unless(upper, _COMPARISONS[op], literals[0])
        case Op.EQ:
            return _unless(lower, operator.le, literals[0]) & _unless(upper, operator.ge, literals[0])
        case Op.IN:
            return _any_within(literals, lower, upper)
        case Op.NOT_EQ | Op.NOT_IN:
            return ~_all_one_of(literals, lower, upper)
        case Op.STARTS_WITH:
            return _may_start(literals[0], lower, upper)
        case Op.NOT_STARTS_WITH:
            return ~(_starts(literals[0], lower) & _starts(literals[0], upper))
        case Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
            return np.ones(len(lower.valid), bool)  # bounds say nothing of them
        case _:
            raise unknown_case(op)


def _unless(bound: _Bound, compare: Callable[[Any, Any], Any], literal: Any) -> Mask:
    """The comparison where the bound is known, else True."""
    return ~bound.valid | _compared(compare, bound.values, _operand(literal, bound.values.dtype))


def _operand(literal: Any, dtype: np.dtype[Any]) -> Any:
    """The literal as numpy needs it: by default numpy strips zero bytes from the end of ``bytes``."""
    if dtype.kind != "O":
        return literal
    wrapped = np.empty((), object)
    wrapped[()] = literal
    return wrapped


def _any_within(literals: list[Any], lower: _Bound, upper: _Bound) -> Mask:
    ordered = np.empty(len(literals), lower.values.dtype)
    ordered[:] = sorted(literals)
    first = np.where(lower.valid, np.searchsorted(ordered, lower.values, "left"), 0)
    last = np.where(upper.valid, np.searchsorted(ordered, upper.values, "right"), len(ordered))
    overlaps: Mask = last > first
    return overlaps


def _all_one_of(literals: list[Any], lower: _Bound, upper: _Bound) -> Mask:
    """Rows whose bounds meet in one of the literals: every value is that literal."""
    one = lower.valid & upper.valid & _compared(operator.eq, lower.values, upper.values)
    members = frozenset(literals)
    for row in np.flatnonzero(one).tolist():
        one[row] = lower.values[row] in members
    return one


def _may_start(prefix: bytes, lower: _Bound, upper: _Bound) -> Mask:
    size = len(prefix)
    below = np.fromiter((value[:size] <= prefix for value in lower.values), bool, len(lower.values))
    above = np.fromiter((value[:size] >= prefix for value in upper.values), bool, len(upper.values))
    may_start: Mask = (~lower.valid | below) & (~upper.valid | above)
    return may_start


def _starts(prefix: bytes, bound: _Bound) -> Mask:
    starts: Mask = bound.valid & np.fromiter((value.startswith(prefix) for value in bound.values), bool, len(bound.values))
    return starts
