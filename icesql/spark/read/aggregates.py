"""Whole-table aggregates from metadata: a query that is only count(*), count(c), min(c) or max(c) over one read becomes a local relation.

The frame that ``aggregate_frame`` returns has the names and types of the query's own, and running it starts no job.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from icesql.errors import IcesqlError
from icesql.expr.tree import Expression
from icesql.spark.jvm.catalyst_tree import Node, column_name
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.local_rows import local_frame
from icesql.spark.jvm.plans import aggregate_columns, below_global_aggregate, optimised_apart, renames_nothing
from icesql.spark.read.columns import arrow_value, read_columns
from icesql.spark.read.deletes import delete_kinds
from icesql.spark.read.filters import exact_condition_of
from icesql.spec.schema import Schema
from icesql.table.scan.aggregates import Aggregate, AggregateFunction, aggregate_from_metadata
from icesql.table.scan.table_scan import TableScan
from icesql.table.table import Table

_FUNCTIONS = {"Min": AggregateFunction.MIN, "Max": AggregateFunction.MAX}


def aggregate_frame(
    spark: SparkSession, frame: DataFrame, table: Table, *, snapshot_id: int | None, schema: Schema, names: Mapping[str, str] | None = None
) -> DataFrame | None:
    """The one row of ``frame`` (a query over a read of the table at that snapshot) from metadata, ``None`` where metadata cannot tell.

    ``schema``: the columns the read shows; the snapshot's own are what metadata is about, so they must be the same.
    """
    if delete_kinds(table.io, table.metadata, None if snapshot_id is None else table.metadata.snapshot(snapshot_id)):
        return None  # known at once; the plan with its test for deleted rows takes long to look through
    planned = _aggregates(optimised_apart(frame), read_columns(table.metadata, schema, ()).names if names is None else names, schema)
    if planned is None:
        return None
    aggregates, filter_ = planned
    scan = _scan(table, filter_, snapshot_id, schema)
    if not scan.table_schema.same_columns(schema):
        return None
    values = aggregate_from_metadata(scan, aggregates)
    if values is None:
        return None
    types = [None if a.column is None or a.function is AggregateFunction.COUNT else schema.field(a.column).type for a in aggregates]
    row = [value if type_ is None else arrow_value(type_, value) for value, type_ in zip(values, types, strict=True)]
    return local_frame(spark, [row], frame.schema)


def _scan(table: Table, filter_: Expression, snapshot_id: int | None, schema: Schema) -> TableScan:
    """By branch where a branch shows that snapshot with the table's present schema, else by the snapshot and its own."""
    metadata = table.metadata
    if schema.same_columns(metadata.schema):
        for name, ref in metadata.refs.items():
            if ref.is_branch and ref.snapshot_id == snapshot_id:
                return TableScan(table.io, metadata, filter_, name=table.name, ref=name)
    return TableScan(table.io, metadata, filter_, name=table.name, snapshot_id=snapshot_id)


def _aggregates(plan: JavaObject, names: Mapping[str, str], schema: Schema) -> tuple[list[Aggregate], Expression] | None:
    """The aggregates and the exact filter of an aggregate without GROUP BY over one relation; ``None`` for any other plan."""
    below = below_global_aggregate(plan)
    if below is None or not renames_nothing(below):
        return None
    filter_ = exact_condition_of(below, schema, names)
    if filter_ is None:
        return None
    aggregates = [_aggregate(column, names) for column in aggregate_columns(plan)]
    try:
        known = all(a is not None and (a.column is None or schema.find(a.column) is not None) for a in aggregates)
    except IcesqlError:
        return None
    return ([a for a in aggregates if a is not None], filter_) if known else None


def _aggregate(node: Node, names: Mapping[str, str]) -> Aggregate | None:
    """One output column: ``Alias(AggregateExpression(function))``, plain and not distinct."""
    if node.kind == "Alias":
        node = node.children[0]
    if node.kind != "AggregateExpression" or json.dumps(node.fields.get("isDistinct")) == "true" or len(node.children) != 1:
        return None
    function = node.children[0]
    if function.kind == "Count" and len(function.children) == 1:
        counted = function.children[0]
        if counted.kind == "Literal":
            return None if counted.fields.get("value") is None else Aggregate(AggregateFunction.COUNT_STAR)
        return _of_column(AggregateFunction.COUNT, counted, names)
    if function.kind in _FUNCTIONS:
        return _of_column(_FUNCTIONS[function.kind], function.children[0], names)
    return None


def _of_column(function: AggregateFunction, node: Node, names: Mapping[str, str]) -> Aggregate | None:
    name = column_name(node) if node.kind == "AttributeReference" else None
    return None if name is None else Aggregate(function, names.get(name, name))
