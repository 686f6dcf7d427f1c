"""Changes between snapshots as DataFrames: the ``changes`` table, and the rows that appends added.

Rows of files that came or went are read by Spark like any others. Rows that deletes took out of files that stay are read in the driver:
they are as few as the deletes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit
from pyspark.sql.types import DataType, IntegerType, LongType, StringType, StructField

from icesql.errors import InvalidArgumentError
from icesql.expr.tree import TRUE, Expression
from icesql.io.arrow.types import to_arrow_schema
from icesql.spark.read.columns import FileConstant, quoted
from icesql.spark.read.fallback_reader import foreign_schema
from icesql.spark.read.metadata_frames import table_frame
from icesql.spark.read.read_planning import ReadSettings, ScanListener
from icesql.spark.read.table_scan import Read
from icesql.spec.metadata_columns import DELETED
from icesql.spec.types import NestedField
from icesql.table.scan.changelog import CHANGE_COLUMNS, ChangelogReader, ChangelogScan, ChangelogTask, changelog_schema
from icesql.table.scan.incremental import IncrementalAppendScan
from icesql.table.scan.snapshot_ranges import append_range, changelog_range
from icesql.table.table import Table


def changelog_frame(
    spark: SparkSession,
    table: Table,
    *,
    options: Mapping[str, str] | None = None,
    where: Expression = TRUE,
    metadata_columns: Sequence[str] = (),
) -> DataFrame:
    """The table's columns, ``_change_type``, ``_change_ordinal`` and ``_commit_snapshot_id``, then the metadata columns. ``where`` may
    name all but the last; ``_deleted`` is false everywhere: what is shown is a change.

    ``options``: ``start-snapshot-id`` (excluded) or ``start-timestamp``, and ``end-...``. Raises InvalidArgumentError, NotFoundError.
    """
    hidden = tuple(name for name in metadata_columns if name != DELETED.name)
    names = tuple(field.name for field in changelog_schema(table.metadata).fields)
    chosen = (*names, *hidden) if hidden else None
    scan = ChangelogScan(table.io, table.metadata, changelog_range(table.metadata, options or {}), where, name=table.name, select=chosen)
    tasks = list(scan.plan())
    in_spark = [] if foreign_schema(table.metadata.schema) else [task for task in tasks if task.only_hit_by is None]
    in_driver = [task for task in tasks if task not in in_spark] if len(in_spark) < len(tasks) else []
    frames = [_changed_files(spark, table, in_spark, hidden)] if in_spark else []
    if in_driver or not frames:
        frames.append(_changed_rows(spark, scan, in_driver))
    frame = frames[0] if len(frames) == 1 else frames[0].union(frames[1])
    if not metadata_columns:
        return frame
    return frame.withColumn(DELETED.name, lit(False)).select(*map(quoted, (*names, *metadata_columns)))


def _changed_files(spark: SparkSession, table: Table, tasks: list[ChangelogTask], metadata_columns: tuple[str, ...]) -> DataFrame:
    """Rows of files that were added or removed, with the change as constants of the files. The metadata columns are last."""
    by_task = {id(task.task): task for task in tasks}  # one file may be added in one snapshot and removed in another
    types = (StringType(), IntegerType(), LongType())

    def constant(column: NestedField, type_: DataType) -> FileConstant:
        comment = {"comment": column.doc} if column.doc else {}
        return FileConstant(StructField(column.name, type_, column.optional, comment), lambda task: by_task[id(task)].constant(column.id))

    constants = tuple(constant(column, type_) for column, type_ in zip(CHANGE_COLUMNS, types, strict=True))
    settings = ReadSettings(
        schema=table.metadata.schema, metadata_columns=metadata_columns, tasks=tuple(task.task for task in tasks), extra=constants
    )
    frame = Read(spark, table.io, table.metadata, table.name, table.current_snapshot, settings).frame()
    if not metadata_columns:
        return frame
    own = [field.name for field in changelog_schema(table.metadata).fields]
    return frame.select(*map(quoted, (*own, *metadata_columns)))


def _changed_rows(spark: SparkSession, scan: ChangelogScan, tasks: list[ChangelogTask]) -> DataFrame:
    reader = ChangelogReader(scan)
    batches = [batch for task in tasks for batch in reader.batches(task)]
    return table_frame(spark, pa.Table.from_batches(batches, to_arrow_schema(scan.schema)), scan.schema)


def incremental_frame(spark: SparkSession, table: Table, *, options: Mapping[str, str], listener: ScanListener | None = None) -> DataFrame:
    """Rows that appends after ``start-snapshot-id`` up to ``end-snapshot-id`` added, under the current schema.

    Raises InvalidArgumentError where the options ask for no such scan, NotFoundError.
    """
    wanted = append_range(table.metadata, options)
    if wanted is None:
        raise InvalidArgumentError("Cannot read incrementally: start-snapshot-id is not set")
    plan = IncrementalAppendScan(table.io, table.metadata, wanted, name=table.name).plan_files()
    if listener is not None:
        listener(plan.report, table.current_snapshot)
    settings = ReadSettings(schema=table.metadata.schema, tasks=tuple(plan.tasks))
    return Read(spark, table.io, table.metadata, table.name, table.current_snapshot, settings).frame()
