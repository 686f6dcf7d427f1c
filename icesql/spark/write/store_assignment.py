"""A query's columns made to fit a table, by Spark's own rules: ANSI store assignment with Spark's own errors.

``INSERT_COLUMN_ARITY_MISMATCH`` and ``INCOMPATIBLE_DATA_FOR_TABLE`` are raised here;
overflow and ``NOT_NULL_ASSERT_VIOLATION`` when rows are computed.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from icesql.spark.functions.literals import sql_literal
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.store_assignment import require_strict_policy, with_output, wrong_arity
from icesql.spark.jvm.types import to_spark_field
from icesql.spec.metadata_columns import LINEAGE
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField


def assigned_frame(
    spark: SparkSession,
    frame: DataFrame,
    schema: Schema,
    *,
    table_name: str,
    by_name: bool = False,
    columns: Sequence[str] | None = None,
    fill: bool = True,
) -> DataFrame:
    """``frame`` with exactly the columns of ``schema``, in order. ``columns`` names the frame's columns (``INSERT INTO t (b, a) ...``).

    By name or with ``columns``, a column that is not given gets its write default, or null where it is optional, if ``fill``.
    Fields of structs are found by name too then, else by position.
    Raises Spark's AnalysisException.
    """
    require_strict_policy(bridge_of(spark))
    quoted_name = _quoted(table_name)
    if columns is not None:
        if len(columns) != len(frame.columns):
            raise wrong_arity(frame, columns, quoted_name)
        frame, by_name = frame.toDF(*columns), True
    expected = StructType([_expected_field(field) for field in schema.fields])
    return with_output(frame, expected, quoted_name, by_name=by_name, fill=by_name and fill)


def lineage_schema(schema: Schema) -> Schema:
    """The schema with the two row-lineage columns behind its own, so that rows that keep their lineage can be assigned."""
    lineage = tuple(NestedField(f.id, f.name, LongType()) for f in LINEAGE)
    return Schema((*schema.fields, *lineage), schema.schema_id, schema.identifier_field_ids)


def _expected_field(field: NestedField) -> StructField:
    spark_field = to_spark_field(field)
    metadata = {}
    if field.write_default is not None:
        metadata["CURRENT_DEFAULT"] = sql_literal(field.type, field.write_default)
    return StructField(spark_field.name, spark_field.dataType, spark_field.nullable, metadata)


def _quoted(table_name: str) -> str:
    return ".".join(part if part.startswith("`") else f"`{part}`" for part in table_name.split("."))
