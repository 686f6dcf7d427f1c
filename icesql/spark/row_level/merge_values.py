"""The rows of a MERGE's join, and the new rows that are made of them.

Columns of the join: the places of rows, ``MATCHED``, ``ACTION`` (the number of the clause that takes the row), and a value for each
column of the table (``value_name``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from icesql.spark.jvm.local_rows import arrow_frame
from icesql.spark.jvm.types import to_spark_type
from icesql.spark.read.columns import quoted
from icesql.spark.row_level.affected_rows import AffectedRows
from icesql.spark.row_level.few_rows import NewRows
from icesql.spark.row_level.target import LAST_UPDATED, ROW_ID, Target
from icesql.spark.write.distribution import partition_columns
from icesql.spark.write.store_assignment import assigned_frame, lineage_schema
from icesql.spec.schema import Schema
from icesql.spec.types import PrimitiveType

MATCHED, ACTION = "__matched", "__action"


def value_name(place: int) -> str:
    """The column of the join that holds a table column's new value."""
    return f"__value_{place}"


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The rows that clauses take: as a frame, their places, and, if they are few, ``values``: all columns of the frame, and behind them
    ``partition_values``."""

    frame: DataFrame
    places: AffectedRows
    values: pa.Table | None = None


def partition_values(target: Target) -> list[Column]:
    """The partition values of new rows that the driver writes; empty where the values must be fitted to the table first."""
    schema = target.metadata.schema
    if not _values_are_ready(schema):
        return []
    places = {field.id: place for place, field in enumerate(schema.fields)}
    return partition_columns(target.spark, schema, target.metadata.spec, lambda i: F.col(value_name(places[i])))


def new_rows(target: Target, joined: JoinedRows, numbers: Sequence[int]) -> DataFrame | NewRows:
    """What the clauses of those numbers bring. A null in a required column fails when rows are computed."""
    if joined.values is None:
        return _fitted(target, joined.frame, numbers)
    rows = joined.values.filter(pc.is_in(joined.values[ACTION], pa.array(numbers, joined.values[ACTION].type)))
    if _values_are_ready(target.metadata.schema) and not _lacks_values(target.metadata.schema, rows):
        return _ready(target, rows, len(joined.frame.columns))
    return _fitted(target, arrow_frame(target.spark, rows.select(joined.frame.columns), joined.frame.schema), numbers)


def _values_are_ready(schema: Schema) -> bool:
    """Whether the values of the join are of the table's types, so that all that is left to check of them is nulls."""
    return all(isinstance(field.type, PrimitiveType) for field in schema.fields)


def _lacks_values(schema: Schema, rows: pa.Table) -> bool:
    """Whether a required column has a null."""
    return any(field.required and rows[value_name(i)].null_count for i, field in enumerate(schema.fields))


def _ready(target: Target, rows: pa.Table, width: int) -> NewRows:
    """``width``: of the join, behind which are the partition values."""
    table = target.metadata.schema
    values = [rows[value_name(i)] for i in range(len(table.fields))]
    fields = [StructField(field.name, to_spark_type(field.type)) for field in table.fields]
    if target.keeps_lineage:
        values += [rows[ROW_ID], pa.nulls(len(rows), pa.int64())]
        fields += [StructField(name, LongType()) for name in (ROW_ID, LAST_UPDATED)]
    partition = rows.select(range(width, rows.num_columns))
    names = [*(field.name for field in fields), *partition.column_names]
    return NewRows(target.spark, pa.Table.from_arrays([*values, *partition.columns], names), StructType(fields))


def _fitted(target: Target, frame: DataFrame, numbers: Sequence[int]) -> DataFrame:
    """Assigned to the table's columns by Spark."""
    table = target.metadata.schema
    values = [f"{value_name(i)} AS {quoted(field.name)}" for i, field in enumerate(table.fields)]
    lineage = [ROW_ID, f"CAST(NULL AS BIGINT) AS {LAST_UPDATED}"] if target.keeps_lineage else []
    rows = frame.where(f"{ACTION} IN ({', '.join(map(str, numbers))})").selectExpr(*values, *lineage)
    schema = lineage_schema(table) if target.keeps_lineage else table
    return assigned_frame(target.spark, rows, schema, table_name=target.table.name, by_name=True, fill=False)
