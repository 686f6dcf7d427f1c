"""Metadata tables as DataFrames: rows computed in the driver, handed to Spark as a local relation, so small ones start no job."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from icesql.expr.tree import TRUE, Expression
from icesql.spark.jvm.arrow_schema import to_arrow_schema
from icesql.spark.jvm.driver_callbacks import DriverCallback, callback_rows
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.local_rows import arrow_frame
from icesql.spark.jvm.plans import local_rows
from icesql.spark.jvm.types import to_spark_type
from icesql.spark.read.changed_tables import incompatible
from icesql.spark.read.fallback_tasks import spark_array
from icesql.spec.schema import Schema
from icesql.table.metadata_tables.registry import metadata_table_schema, scan_metadata_table
from icesql.table.scan.projection_schema import select_columns
from icesql.table.table import Table


def metadata_frame(
    spark: SparkSession,
    table: Table,
    name: str,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    where: Expression = TRUE,
    columns: Sequence[str] | None = None,
) -> DataFrame:
    """The metadata table ``name`` (``files``, ``snapshots``, ...; for ``changes`` there is ``changelog_frame``). ``columns`` (dotted too)
    spares computing the others.

    Raises NotFoundError, UnsupportedError ``Cannot select snapshot in table``.
    """
    rows = scan_metadata_table(
        name,
        io=table.io,
        metadata=table.metadata,
        metadata_location=table.metadata_location,
        filter=where,
        select=columns,
        snapshot_id=snapshot_id,
        ref=ref,
    )
    schema = select_columns(metadata_table_schema(name, table.metadata), columns, table.metadata)
    return table_frame(spark, rows, schema)


def newest_rows(
    spark: SparkSession,
    shown: StructType,
    key: str,
    name: str,
    newest: Callable[[], tuple[Table, int | None]],
    columns: Sequence[str] | None = None,
) -> DataFrame:
    """The metadata table's rows as they are when Spark optimises a plan over them.

    ``newest`` gives the table then, and the snapshot that is to be shown of it if not the current one. ``shown`` is the schema; running
    the frame raises SqlError where the metadata table has other columns by then, as it has where the table's partitioning has changed.
    """

    def rows() -> JavaObject:
        table, snapshot_id = newest()
        frame = metadata_frame(spark, table, name, snapshot_id=snapshot_id, columns=columns)
        if frame.schema != shown:
            raise incompatible(table.name, "COLUMNS_MISMATCH", f"The columns of its metadata table {name} have changed.")
        return local_rows(frame)

    return callback_rows(spark, DriverCallback(f"{key} {name}", rows), shown)


def table_frame(spark: SparkSession, rows: pa.Table, schema: Schema) -> DataFrame:
    """An Arrow table of an Iceberg schema's types as a DataFrame of the Spark types."""
    shown = StructType([StructField(f.name, _plain(to_spark_type(f.type)), f.optional, _comment(f.doc)) for f in schema.fields])
    targets = to_arrow_schema(shown)
    columns = [
        spark_array(_whole(column), field.type, target.type)
        for column, field, target in zip(rows.columns, schema.fields, targets, strict=True)
    ]
    return arrow_frame(spark, pa.Table.from_arrays(columns, schema=targets), shown)


def _plain(type_: DataType) -> DataType:
    """The type with comments, and without field ids, in its metadata."""
    if isinstance(type_, StructType):
        return StructType([StructField(f.name, _plain(f.dataType), f.nullable, _comment(f.metadata.get("comment"))) for f in type_.fields])
    return type_


def _comment(text: str | None) -> dict[str, str]:
    return {"comment": text} if text else {}


def _whole(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], column.type)
