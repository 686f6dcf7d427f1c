"""A table as a DataFrame. Files are chosen when Spark plans the query, from the filters Catalyst pushed (design decision 2).

Only files with deletes pay for them: a snapshot that has delete files is read as the union of files without any and files with some,
and Catalyst pushes filters and projections into both sides.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from icesql.errors import IcesqlError, UnsupportedError
from icesql.expr.binding import bind
from icesql.expr.rewrite import map_leaves, push_not
from icesql.expr.tree import TRUE, Expression, Op, Predicate, and_
from icesql.io.files import FileIO
from icesql.spark import deletes
from icesql.spark.bridge import bridge_of
from icesql.spark.columns import Constant, ReadColumns, deletes_constant, read_columns, shown_schema
from icesql.spark.file_index import FileSet
from icesql.spark.local_rows import local_frame
from icesql.spark.relation import parquet_relation
from icesql.spec.files import FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import UUIDType
from icesql.table.manifest_access import manifests_of, of_content
from icesql.table.scan_report import ScanReport
from icesql.table.scan_tasks import FileScanTask
from icesql.table.table import Table

ScanListener = Callable[[ScanReport], None]
_scan_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class ReadSettings:
    """What a read shows and of which files.

    ``where`` only prunes (its rows are not filtered). ``files`` restricts the read to those data files; ``tasks`` replaces planning altogether.
    """

    snapshot_id: int | None = None
    schema: Schema | None = None
    metadata_columns: tuple[str, ...] = ()
    where: Expression = TRUE
    files: frozenset[str] | None = None
    tasks: tuple[FileScanTask, ...] | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    listener: ScanListener | None = None


def scan_dataframe(
    spark: SparkSession,
    table: Table,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    schema: Schema | None = None,
    metadata_columns: Sequence[str] = (),
    where: Expression = TRUE,
    files: frozenset[str] | None = None,
    tasks: Sequence[FileScanTask] | None = None,
    options: Mapping[str, str] | None = None,
    listener: ScanListener | None = None,
) -> DataFrame:
    """The rows of a snapshot (default: main's head), lazily planned. ``metadata_columns`` come last, in that order.

    Schema, unless given: a snapshot id's or a tag's own, else the table's current one. ``listener`` gets a report each time files are
    planned, in the thread that plans. Raises NotFoundError for an unknown snapshot or ref.
    """
    metadata = table.metadata
    snapshot, own_schema = _resolve(metadata, snapshot_id, ref)
    settings = ReadSettings(
        snapshot_id=None if snapshot is None else snapshot.snapshot_id,
        schema=schema or own_schema,
        metadata_columns=tuple(metadata_columns),
        where=where,
        files=files,
        tasks=None if tasks is None else tuple(tasks),
        options=dict(options or {}),
        listener=listener,
    )
    if snapshot is None and tasks is None:
        return local_frame(spark, [], shown_schema(metadata, settings.schema or metadata.schema, settings.metadata_columns))
    return _Read(spark, table.io, metadata, table.name, snapshot, settings).frame()


def _resolve(metadata: TableMetadata, snapshot_id: int | None, ref: str | None) -> tuple[Snapshot | None, Schema]:
    if snapshot_id is not None:
        snapshot = metadata.snapshot(snapshot_id)
        return snapshot, metadata.schema_of(snapshot)
    if ref is None or ref == "main":
        return metadata.current_snapshot, metadata.schema
    found = metadata.ref(ref)
    snapshot = metadata.snapshot(found.snapshot_id)
    return snapshot, metadata.schema if found.is_branch else metadata.schema_of(snapshot)


class _Read:
    """One read: the frames it is the union of, and the planning they share."""

    def __init__(
        self, spark: SparkSession, io: FileIO, metadata: TableMetadata, name: str, snapshot: Snapshot | None, settings: ReadSettings
    ) -> None:
        self.spark, self.io, self.metadata, self.name, self.snapshot, self.settings = spark, io, metadata, name, snapshot, settings
        self.schema = settings.schema or metadata.schema
        self.columns = read_columns(metadata, self.schema, settings.metadata_columns)
        self.planner = SharedPlanner(io, metadata, name, self.schema, settings)
        self.key = f"icesql[{name} snapshot={settings.snapshot_id} schema={self.schema.schema_id}"
        self.key += f" metadata={table_key(metadata, settings)}]"

    def frame(self) -> DataFrame:
        second = _needs_second_path(self.metadata, self.schema)
        kinds = self._delete_kinds()
        if second:
            from icesql.spark.second_path import second_path_frame

            return second_path_frame(self.spark, self.io, self.metadata, self.schema, self.settings, self.planner)
        if kinds == frozenset():
            return self._projected(self._relation("plain", None, self.columns))
        from icesql.spark.equality import equality_frame

        frames = [self._plain(), self._positional()]
        if FileContent.EQUALITY_DELETES in kinds:
            frames.append(equality_frame(self))
        union = frames[0]
        for other in frames[1:]:
            union = union.unionByName(other)
        return union

    # -- sides of the union --------------------------------------------------------------------------------------
    def _plain(self) -> DataFrame:
        frame = self._relation("without deletes", lambda task: not task.delete_files, self.columns)
        return self._projected(frame, deleted="false")

    def _positional(self) -> DataFrame:
        columns = self.with_deletes(self.columns)
        frame = self._relation("with position deletes", deletes.has_only_position_deletes, columns)
        return self.without_deleted(frame)

    def with_deletes(self, columns: ReadColumns) -> ReadColumns:
        bitmap = deletes_constant(deletes.DeletedPositions(self.io))
        return ReadColumns(columns.physical, (*columns.constants, bitmap), columns.projection, columns.names)

    def without_deleted(self, frame: DataFrame) -> DataFrame:
        """Drop deleted rows, or mark them where ``_deleted`` is shown."""
        if "_deleted" in self.settings.metadata_columns:
            return self._projected(frame.withColumn("_deleted", deletes.is_deleted(self.spark, frame)))
        return self._projected(frame.where(~deletes.is_deleted(self.spark, frame)))

    def _projected(self, frame: DataFrame, deleted: str = "false") -> DataFrame:
        texts = self.columns.projection or tuple(f"`{f.name.replace('`', '``')}`" for f in self.columns.physical.fields)
        if len(frame.columns) == len(texts) and not self.columns.projection:
            return frame
        if "_deleted" in self.settings.metadata_columns and "_deleted" not in frame.columns:
            texts = tuple(f"{deleted} AS _deleted" if t.startswith("_deleted AS") else t for t in texts)
        return frame.selectExpr(*texts)

    def _relation(self, kind: str, belongs: Callable[[FileScanTask], bool] | None, columns: ReadColumns) -> DataFrame:
        planner = self.planner

        def plan(expression: Expression) -> FileSet:
            if belongs is None and not columns.constants:
                paths, sizes = planner.files(expression)
                return FileSet(paths, sizes)
            tasks = [task for task in planner.tasks(expression) if belongs is None or belongs(task)]
            return FileSet(*paths_and_sizes(tasks), constants_table(columns.constants, tasks))

        return parquet_relation(
            bridge_of(self.spark),
            key=f"{self.key} {kind}",
            plan=plan,
            schema=columns.physical,
            constants=columns.constants_schema,
            size_in_bytes=self._size_in_bytes(),
            names=columns.names,
        )

    def _size_in_bytes(self) -> int:
        if self.settings.tasks is not None:
            return sum(task.data_file.file_size_in_bytes for task in self.settings.tasks)
        total = self.snapshot.summary.get("total-files-size") if self.snapshot else None
        return int(total) if total is not None and total.isdigit() else 1 << 40

    def _delete_kinds(self) -> frozenset[FileContent]:
        """Which kinds of delete files the snapshot has."""
        if self.settings.tasks is not None:
            return frozenset(file.content for task in self.settings.tasks for file in task.delete_files)
        return deletes.delete_kinds(self.io, self.metadata, self.snapshot)


class SharedPlanner:
    """Plans files for a filter; the sides of a union ask for the same filter one after another, so the last plans are kept."""

    def __init__(self, io: FileIO, metadata: TableMetadata, name: str, schema: Schema, settings: ReadSettings) -> None:
        self._io, self._metadata, self._name, self._schema, self._settings = io, metadata, name, schema, settings
        self._plans: dict[Expression, Any] = {}
        self._lock = threading.Lock()

    def files(self, expression: Expression) -> tuple[Sequence[str], Sequence[int]]:
        """Paths and sizes; no object is made for a file unless only some of the files are wanted."""
        if self._settings.tasks is not None or self._settings.files is not None:
            return paths_and_sizes(self.tasks(expression))
        plan = self._plan(expression)
        return plan.paths, plan.sizes

    def tasks(self, expression: Expression) -> Sequence[FileScanTask]:
        if self._settings.tasks is not None:
            return self._settings.tasks
        tasks: Sequence[FileScanTask] = self._plan(expression).tasks
        wanted = self._settings.files
        return tasks if wanted is None else [task for task in tasks if task.data_file.file_path in wanted]

    def _plan(self, expression: Expression) -> Any:
        with self._lock:
            found = self._plans.get(expression)
            if found is None:
                found = self._planned(expression)
                self._plans = dict(list(self._plans.items())[-7:])
                self._plans[expression] = found
            return found

    def _planned(self, expression: Expression) -> Any:
        from icesql.table.scan import TableScan

        scan = TableScan(
            self._io,
            self._metadata,
            and_(self._settings.where, bindable(self._schema, expression)),
            name=self._name,
            snapshot_id=self._settings.snapshot_id,
            options=dict(self._settings.options),
        )
        plan = scan.plan_files()
        if self._settings.listener is not None:
            self._settings.listener(plan.report)
        return plan


def bindable(schema: Schema, expression: Expression) -> Expression:
    """The filter without the parts that mean something else, or nothing, on the table's types: uuids are text in Spark."""

    def kept(leaf: Predicate) -> Expression:
        try:
            bind(schema, leaf)
        except IcesqlError:
            return TRUE
        column = schema.find(leaf.term.name) if leaf.term.name else None  # a bound term names its column too
        compares_text = column is not None and isinstance(column.type, UUIDType)
        return TRUE if compares_text and leaf.op not in (Op.EQ, Op.IN, Op.IS_NULL, Op.NOT_NULL) else leaf

    return map_leaves(push_not(expression), kept)


def paths_and_sizes(tasks: Sequence[FileScanTask]) -> tuple[list[str], list[int]]:
    return [task.data_file.file_path for task in tasks], [task.data_file.file_size_in_bytes for task in tasks]


def constants_table(constants: Sequence[Constant], tasks: Sequence[FileScanTask]) -> pa.Table | None:
    if not constants:
        return None
    return pa.table([constant.array(tasks) for constant in constants], names=[constant.field.name for constant in constants])


def table_key(metadata: TableMetadata, settings: ReadSettings) -> str:
    """Equal for reads that plan the same files for the same filter."""
    if settings.tasks is not None or settings.files is not None:
        return f"{metadata.table_uuid}/{next(_scan_numbers)}"
    return f"{metadata.table_uuid}/{settings.where!r}/{sorted(settings.options.items())}"


def _needs_second_path(metadata: TableMetadata, schema: Schema) -> bool:
    from icesql.spark.second_path import needs_second_path

    return needs_second_path(metadata, schema)


__all__ = ["ManifestContent", "ReadSettings", "ScanListener", "SharedPlanner", "UnsupportedError", "cached_property", "manifests_of", "of_content", "scan_dataframe"]
