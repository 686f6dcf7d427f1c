"""Predicates over a manifest's partition summaries. Spec: "Scan Planning", ``partitions`` of a manifest list's entry."""

from __future__ import annotations

from collections.abc import Callable

from icesql.expr.binding import is_floating
from icesql.expr.field_stats import UNKNOWN, FieldStats, may_match, sound_bounds
from icesql.expr.projection import inclusive_projection
from icesql.expr.rewrite import satisfied
from icesql.expr.tree import BoundReference, Expression, Predicate
from icesql.spec.files import FieldSummary, ManifestFile
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.types import Type
from icesql.spec.values.binary import from_bytes

ManifestTest = Callable[[ManifestFile], bool]


def manifest_evaluator(spec: PartitionSpec, schema: Schema, expression: Expression, *, case_sensitive: bool = True) -> ManifestTest:
    """A test that is False only for manifests of ``spec`` in which no file can hold a matching row."""
    return partition_evaluator(spec, inclusive_projection(schema, spec, expression, case_sensitive))


def partition_evaluator(spec: PartitionSpec, projected: Expression) -> ManifestTest:
    """As ``manifest_evaluator``, for a tree that is bound to the partition struct already."""
    positions = {field.field_id: place for place, field in enumerate(spec.fields)}
    return lambda manifest: satisfied(projected, lambda leaf: may_match(leaf, _stats(leaf, manifest, positions)))


def _stats(leaf: Predicate, manifest: ManifestFile, positions: dict[int, int]) -> FieldStats:
    term = leaf.term
    assert isinstance(term, BoundReference)
    place = positions[term.field.id]
    if term.transform is not None or manifest.partitions is None or place >= len(manifest.partitions):
        return UNKNOWN
    return summary_stats(manifest.partitions[place], term.type)


def summary_stats(summary: FieldSummary, type_: Type) -> FieldStats:
    """The statistics of one partition field in a partition summary. Without a lower bound there are no values but null and NaN."""
    floating = is_floating(type_)
    without_values = summary.lower_bound is None
    without_nans = not floating or summary.contains_nan is False
    lower = None if summary.lower_bound is None else from_bytes(type_, summary.lower_bound)
    upper = None if summary.upper_bound is None else from_bytes(type_, summary.upper_bound)
    lower, upper = sound_bounds(lower, upper)
    return FieldStats(
        no_nulls=not summary.contains_null,
        only_nulls=without_values and without_nans and summary.contains_null,
        no_nans=without_nans,
        only_nans=without_values and floating and summary.contains_nan is True and not summary.contains_null,
        only_nulls_and_nans=without_values and (summary.contains_null or summary.contains_nan is True),
        lower=lower,
        upper=upper,
    )
