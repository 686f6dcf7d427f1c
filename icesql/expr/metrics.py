"""Predicates over a data file's column metrics. Spec: "Scan Planning", "Column metrics".

inclusive: False only if no row of the file can match      (the file is skipped)
strict:    True only if every row of the file must match   (the file is deleted whole, or needs no residual filter)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.expr.binding import bind, is_floating
from icesql.expr.field_stats import UNKNOWN, FieldStats, may_match, must_match, sound_bounds
from icesql.expr.rewrite import satisfied
from icesql.expr.tree import BoundReference, Expression, Predicate
from icesql.spec.files import DataFile
from icesql.spec.schema import Schema
from icesql.spec.types import GeographyType, GeometryType, PrimitiveType, Type, UnknownType, VariantType
from icesql.spec.values.binary import from_bytes

FileTest = Callable[[DataFile], bool]
_WITHOUT_BOUNDS = (VariantType, GeometryType, GeographyType, UnknownType)


def inclusive_metrics(schema: Schema, expression: Expression, *, case_sensitive: bool = True) -> FileTest:
    """A test that is False only for files in which no row can match."""
    bound = bind(schema, expression, case_sensitive=case_sensitive)
    return lambda file: file.record_count != 0 and satisfied(bound, lambda leaf: may_match(leaf, _stats_of(schema, leaf, file)))


def strict_metrics(schema: Schema, expression: Expression, *, case_sensitive: bool = True) -> FileTest:
    """A test that is True only for files all of whose rows match; an empty file passes.

    Metrics of columns within structs prove nothing here, as in the runtime: writers do not agree on how they count null structs.
    """
    bound = bind(schema, expression, case_sensitive=case_sensitive)
    return lambda file: file.record_count == 0 or satisfied(bound, lambda leaf: must_match(leaf, _strict_stats(schema, leaf, file)))


def _strict_stats(schema: Schema, leaf: Predicate, file: DataFile) -> FieldStats:
    nested = isinstance(leaf.term, BoundReference) and leaf.term.field.id in schema.parents
    return UNKNOWN if nested else _stats_of(schema, leaf, file)


def _stats_of(schema: Schema, leaf: Predicate, file: DataFile) -> FieldStats:
    term = leaf.term
    if not isinstance(term, BoundReference) or term.transform is not None:
        return UNKNOWN
    return column_stats(file, term.field.id, term.type, nested=term.field.id in schema.parents)


def column_stats(file: DataFile, field_id: int, type_: Type, *, nested: bool = False) -> FieldStats:
    """The statistics of one column in a file's metrics.

    ``nested``: the column lies in a struct. Some writers count only the values of structs that are not null, so that a file is known to
    have no value of the column only if the counts cover every row of the file.
    """
    values, nulls = file.value_counts.get(field_id), file.null_value_counts.get(field_id)
    floating = is_floating(type_)
    nans = file.nan_value_counts.get(field_id) if floating else 0
    only_nulls = values is not None and values == nulls
    lower, upper = sound_bounds(_bound(file.lower_bounds, field_id, type_), _bound(file.upper_bounds, field_id, type_))
    return FieldStats(
        no_nulls=nulls == 0 and (not nested or values == file.record_count),
        only_nulls=only_nulls,
        no_nans=nans == 0,
        only_nans=floating and bool(values) and values == nans,
        only_nulls_and_nans=only_nulls or (values is not None and nulls is not None and nans is not None and values == nulls + nans),
        lower=lower,
        upper=upper,
    )


def _bound(bounds: Any, field_id: int, type_: Type) -> Any:
    data = bounds.get(field_id)
    if data is None or not has_ordered_bounds(type_):
        return None
    return from_bytes(type_, data)


def has_ordered_bounds(type_: Type) -> bool:
    """True for types whose bounds compare like their values."""
    return isinstance(type_, PrimitiveType) and not isinstance(type_, _WITHOUT_BOUNDS)
