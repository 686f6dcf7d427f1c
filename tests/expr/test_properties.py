"""The laws that make pruning safe, over every type, transform and operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from icesql.expr.evaluate import row_evaluator
from icesql.expr.manifests import manifest_evaluator
from icesql.expr.metrics import inclusive_metrics, strict_metrics
from icesql.expr.projection import inclusive_projection, strict_projection
from icesql.expr.residuals import residual
from icesql.expr.rewrite import push_not
from icesql.expr.tree import Expression
from icesql.spec.files import DataFile, FieldSummary, ManifestFile
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.transforms import (
    DAY,
    HOUR,
    IDENTITY,
    MONTH,
    YEAR,
    Transform,
    bucket,
    can_transform,
    transform_function,
    truncate,
)
from icesql.spec.types import NestedField, Type
from icesql.spec.values.binary import to_bytes, truncate_lower, truncate_upper
from tests.effort import examples
from tests.expr.reference import holds, order
from tests.expr.strategies import VALUES, leaves_over, trees

TRANSFORMS = (IDENTITY, bucket(4), truncate(3), truncate(10), YEAR, MONTH, DAY, HOUR)
few = examples(15, suppress_health_check=[HealthCheck.too_slow])

TYPES = list(VALUES)
PAIRS = [(type_, transform) for type_ in TYPES for transform in TRANSFORMS if can_transform(transform, type_)]


def schema_of(type_: Type) -> Schema:
    return Schema((NestedField(1, "x", type_), NestedField(2, "y", type_)))


def spec_of(*transforms: Transform) -> PartitionSpec:
    fields = tuple(
        PartitionField(source_ids=(1,), field_id=1000 + i, transform=transform, name=f"p{i}") for i, transform in enumerate(transforms)
    )
    return PartitionSpec(spec_id=0, fields=fields)


def rows_of(type_: Type) -> st.SearchStrategy[tuple[Any, Any]]:
    value = st.none() | VALUES[type_]
    return st.tuples(value, value)


def tree_of(type_: Type, *, with_patterns: bool = True) -> st.SearchStrategy[Expression]:
    return trees(leaves_over("x", type_, with_patterns=with_patterns) | leaves_over("y", type_, with_patterns=with_patterns))


def matches(tree: Expression, row: Sequence[Any]) -> bool:
    return holds(tree, {"x": row[0], "y": row[1]}) is True


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_evaluation_is_sql(type_: Type) -> None:
    @few
    @given(tree_of(type_), st.lists(rows_of(type_), min_size=1, max_size=6))
    def check(tree: Expression, rows: list[tuple[Any, Any]]) -> None:
        evaluate, evaluate_pushed = row_evaluator(schema_of(type_), tree), row_evaluator(schema_of(type_), push_not(tree))
        for row in rows:
            assert (evaluate(row) is True) == matches(tree, row) == (evaluate_pushed(row) is True)

    check()


@pytest.mark.parametrize(("type_", "transform"), PAIRS, ids=str)
def test_projections_and_residuals_hold_for_every_row(type_: Type, transform: Transform) -> None:
    schema, spec, function = schema_of(type_), spec_of(transform), transform_function(transform, type_)
    struct = spec.partition_type(schema)

    @few
    @given(tree_of(type_), st.lists(rows_of(type_), min_size=1, max_size=6))
    def check(tree: Expression, rows: list[tuple[Any, Any]]) -> None:
        inclusive = row_evaluator(struct, inclusive_projection(schema, spec, tree))
        strict = row_evaluator(struct, strict_projection(schema, spec, tree))
        for row in rows:
            partition = (function(row[0]),)
            if matches(tree, row):
                assert inclusive(partition), f"a matching row is pruned: {row}"
            if strict(partition):
                assert matches(tree, row), f"not all rows of a strict partition match: {row}"
            left = residual(spec, schema, tree, partition)
            assert (row_evaluator(schema, left)(row) is True) == matches(tree, row)

    check()


def metrics_file(schema: Schema, rows: Sequence[Sequence[Any]], *, truncated: int | None, missing: bool) -> DataFile:
    """The file a writer would describe: exact counts, bounds of all but null and NaN, cut to ``truncated`` characters."""
    values: dict[int, int] = {}
    nulls: dict[int, int] = {}
    nans: dict[int, int] = {}
    lower: dict[int, bytes] = {}
    upper: dict[int, bytes] = {}
    for place, field in enumerate(schema.fields):
        if missing and place == 0:
            continue
        column = [row[place] for row in rows]
        present = [v for v in column if v is not None and not (isinstance(v, float) and math.isnan(v))]
        values[field.id] = len(column)
        nulls[field.id] = sum(v is None for v in column)
        if str(field.type) in ("float", "double"):
            nans[field.id] = sum(isinstance(v, float) and math.isnan(v) for v in column)
        if not present:
            continue
        low, high = min(present, key=order), max(present, key=order)
        if truncated is not None and isinstance(low, (str, bytes)) and not str(field.type).startswith("fixed"):
            low, high = truncate_lower(field.type, low, truncated), truncate_upper(field.type, high, truncated)
        lower[field.id] = to_bytes(field.type, low)
        if high is not None:
            upper[field.id] = to_bytes(field.type, high)
    return DataFile(
        file_path="f", file_format="parquet", record_count=len(rows), file_size_in_bytes=1,
        value_counts=values, null_value_counts=nulls, nan_value_counts=nans, lower_bounds=lower, upper_bounds=upper,
    )  # fmt: skip


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_metrics_never_lose_a_row(type_: Type) -> None:
    schema = schema_of(type_)

    @few
    @given(tree_of(type_), st.lists(rows_of(type_), min_size=1, max_size=5), st.sampled_from([None, 1, 2]), st.booleans())
    def check(tree: Expression, rows: list[tuple[Any, Any]], truncated: int | None, missing: bool) -> None:
        file = metrics_file(schema, rows, truncated=truncated, missing=missing)
        found = [matches(tree, row) for row in rows]
        if any(found):
            assert inclusive_metrics(schema, tree)(file), "a file with a matching row is skipped"
        if strict_metrics(schema, tree)(file):
            assert all(found), "a strict file has a row that does not match"

    check()


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_partition_summaries_never_lose_a_manifest(type_: Type) -> None:
    schema, spec = schema_of(type_), spec_of(IDENTITY)

    @few
    @given(tree_of(type_), st.lists(rows_of(type_), min_size=1, max_size=5), st.booleans())
    def check(tree: Expression, rows: list[tuple[Any, Any]], nan_known: bool) -> None:
        values = [row[0] for row in rows]
        present = [v for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
        summary = FieldSummary(
            contains_null=None in values,
            contains_nan=any(isinstance(v, float) and math.isnan(v) for v in values) if nan_known else None,
            lower_bound=to_bytes(type_, min(present, key=order)) if present else None,
            upper_bound=to_bytes(type_, max(present, key=order)) if present else None,
        )
        manifest = ManifestFile(manifest_path="m", manifest_length=1, partition_spec_id=0, partitions=(summary,))
        if any(matches(tree, row) for row in rows):
            assert manifest_evaluator(spec, schema, tree)(manifest)

    check()
