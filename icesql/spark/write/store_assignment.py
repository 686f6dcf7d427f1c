"""A query's columns made to fit a table, by Spark's own rules: ANSI store assignment with Spark's own errors.

``INSERT_COLUMN_ARITY_MISMATCH`` and ``INCOMPATIBLE_DATA_FOR_TABLE`` are raised here;
overflow and ``NOT_NULL_ASSERT_VIOLATION`` when rows are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructField, StructType

from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.types import to_spark_field
from icesql.spark.write.defaults import sql_literal
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
    bridge = bridge_of(spark)
    _require_strict_policy(bridge)
    if columns is not None:
        _check_arity(bridge, frame, columns, table_name)
        frame, by_name = frame.toDF(*columns), True
    expected = _attributes(bridge, StructType([_expected_field(field) for field in schema.fields]))
    plan = frame._jdf.queryExecution().analyzed()
    resolver = bridge.module("org.apache.spark.sql.catalyst.analysis.TableOutputResolver")
    filling = _default_filling(bridge, resolver, by_name and fill)
    resolved = resolver.resolveOutputColumns(_quoted(table_name), expected, plan, by_name, _conf(bridge), filling)
    return bridge.frame(resolved)


def _require_strict_policy(bridge: Bridge) -> None:
    """Raises Spark's error for the LEGACY policy, which tables of its second interface do not have."""
    if _conf(bridge).storeAssignmentPolicy().toString() == "LEGACY":
        raise_java(bridge, bridge.jvm.org.apache.spark.sql.errors.QueryCompilationErrors.legacyStoreAssignmentPolicyError())


def _default_filling(bridge: Bridge, resolver: Any, fill: bool) -> Any:
    """Whether missing columns get their defaults, as the resolver wants to be told: a boolean up to Spark 4.1, a mode after it."""
    if isinstance(getattr(resolver, "resolveOutputColumns$default$6")(), bool):
        return fill
    modes = bridge.module("org.apache.spark.sql.catalyst.analysis.TableOutputResolver$DefaultValueFillMode")
    return modes.FILL() if fill else modes.NONE()


def lineage_schema(schema: Schema) -> Schema:
    """The schema with the two row-lineage columns behind its own, so that rows that keep their lineage can be assigned."""
    lineage = tuple(NestedField(f.id, f.name, LongType()) for f in LINEAGE)
    return Schema((*schema.fields, *lineage), schema.schema_id, schema.identifier_field_ids)


def _expected_field(field: Any) -> StructField:
    spark_field = to_spark_field(field)
    metadata = {}
    if field.write_default is not None:
        metadata["CURRENT_DEFAULT"] = sql_literal(field.type, field.write_default)
    return StructField(spark_field.name, spark_field.dataType, spark_field.nullable, metadata)


def _attributes(bridge: Bridge, schema: StructType) -> Any:
    return bridge.jvm.org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes(bridge.jvm_schema(schema))


def _conf(bridge: Bridge) -> Any:
    return bridge.session.sessionState().conf()


def _check_arity(bridge: Bridge, frame: DataFrame, columns: Sequence[str], table_name: str) -> None:
    """Raises Spark's error for a column list of another length than the query's output."""
    given = len(frame.columns)
    if given == len(columns):
        return
    output = frame._jdf.queryExecution().analyzed().output()
    errors = bridge.jvm.org.apache.spark.sql.errors.QueryCompilationErrors
    make = errors.cannotWriteTooManyColumnsToTableError if given > len(columns) else errors.cannotWriteNotEnoughColumnsToTableError
    raise_java(bridge, make(_quoted(table_name), bridge.seq(*columns), output))


def raise_java(bridge: Bridge, throwable: Any) -> None:
    """Raise a JVM exception as PySpark does for one thrown by the JVM."""
    from pyspark.errors.exceptions import captured

    raise captured.convert_exception(throwable)


def _quoted(table_name: str) -> str:
    return ".".join(part if part.startswith("`") else f"`{part}`" for part in table_name.split("."))
