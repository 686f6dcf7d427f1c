"""A table as a DataFrame. Files are chosen when Spark plans the query, from the filters Catalyst pushed (design decision 2).

Only files with deletes pay for them: a snapshot that has delete files is read as the union of files without any and files with some,
and Catalyst pushes filters and projections into both sides.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from icesql.errors import IcesqlError
from icesql.expr.binding import bind
from icesql.expr.rewrite import map_leaves, push_not
from icesql.expr.tree import TRUE, Expression, Op, Predicate, and_
from icesql.io.files import FileIO
from icesql.spark import deletes, equality, second_path
from icesql.spark.bridge import bridge_of
from icesql.spark.columns import (
    DELETES,
    ROW_INDEX,
    VERSION,
    Constant,
    ReadColumns,
    deletes_constant,
    has_had_other_names,
    quoted,
    read_columns,
    shown_schema,
)
from icesql.spark.file_index import FileSet
from icesql.spark.following import Following, Newest, can_follow
from icesql.spark.foreign_files import learn, may_have_foreign_files
from icesql.spark.local_rows import local_frame
from icesql.spark.nullability import nullable_again, without_nulls
from icesql.spark.plan_forms import plan_forms
from icesql.spark.relation import is_vectorised, parquet_relation
from icesql.spark.types import FIELD_ID, to_spark_field
from icesql.spec.files import FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED
from icesql.spec.properties import PARQUET_VECTORIZATION_ENABLED, property_as_bool
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import UUIDType, children
from icesql.table.never_null import never_null
from icesql.table.planning import PlanContext, plan_snapshot
from icesql.table.read_numbers import check_batch_size, check_splits
from icesql.table.scan import ScanPlan
from icesql.table.scan_report import ScanReport
from icesql.table.scan_tasks import FileScanTask, ScannedFile
from icesql.table.table import Table

ScanListener = Callable[[ScanReport, Snapshot | None], None]
"""Told of each planning of a snapshot's files."""
_WIDE = 90  # columns; Spark's own limit, spark.sql.codegen.maxFields, is 100 unless set and counts constants too
_scan_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class ReadSettings:
    """What a read shows and of which files.

    ``where`` only prunes (its rows are not filtered). ``files`` restricts the read to those data files; ``tasks`` replaces
    planning altogether.
    ``gone``: positions to leave out beside those the delete files name, as bitmaps by data file.
    ``extra``: further constants to show, behind the metadata columns.
    ``never_null``: ids of columns that hold no null in these files: Spark does not test for it, though the frame's schema allows for it.
    """

    schema: Schema | None = None
    metadata_columns: tuple[str, ...] = ()
    where: Expression = TRUE
    files: frozenset[str] | None = None
    tasks: tuple[FileScanTask, ...] | None = None
    gone: Mapping[str, Any] | None = None
    extra: tuple[Constant, ...] = ()
    never_null: frozenset[int] = frozenset()
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

    Schema, unless given: a snapshot id's or a tag's own, else the table's current one. ``listener`` gets a report each time Spark asks for
    files, in the thread that asks: the same report object again where a kept plan served.
    Raises NotFoundError for an unknown snapshot or ref.
    """
    metadata = table.metadata
    snapshot, own_schema = _resolve(metadata, snapshot_id, ref)
    settings = ReadSettings(
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
    read = Read(spark, table.io, metadata, table.name, snapshot, settings)
    if tasks is None and not read.is_foreign and not read.is_mixed:
        found = never_null(table.io, metadata, snapshot, read.schema)
        if found:
            read = Read(spark, table.io, metadata, table.name, snapshot, replace(settings, never_null=found))
    return read.frame()


def follow_table(
    spark: SparkSession,
    table: Table,
    branch: str,
    newest: Newest,
    *,
    schema: Schema | None = None,
    metadata_columns: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    listener: ScanListener | None = None,
) -> Following | None:
    """What makes frames of a branch that show what it is when they run; the rest is as for ``scan_dataframe``.

    ``None`` where the table has what only a read of one version can show (``icesql.spark.following``).
    """
    metadata = table.metadata
    settings = ReadSettings(
        schema=schema or metadata.schema, metadata_columns=tuple(metadata_columns), options=dict(options or {}), listener=listener
    )
    read = Read(spark, table.io, metadata, table.name, metadata.head(branch), settings)
    return Following(read, table.version, branch, newest) if can_follow(read) else None


def _resolve(metadata: TableMetadata, snapshot_id: int | None, ref: str | None) -> tuple[Snapshot | None, Schema]:
    if snapshot_id is not None:
        snapshot = metadata.snapshot(snapshot_id)
        return snapshot, metadata.schema_of(snapshot)
    if ref is None or ref == "main":
        return metadata.current_snapshot, metadata.schema
    found = metadata.ref(ref)
    snapshot = metadata.snapshot(found.snapshot_id)
    return snapshot, metadata.schema if found.is_branch else metadata.schema_of(snapshot)


class Read:
    """One read: the frames it is the union of, and the planning they share."""

    def __init__(
        self, spark: SparkSession, io: FileIO, metadata: TableMetadata, name: str, snapshot: Snapshot | None, settings: ReadSettings
    ) -> None:
        self.spark, self.io, self.metadata, self.name, self.snapshot, self.settings = spark, io, metadata, name, snapshot, settings
        self.schema = settings.schema or metadata.schema
        self.columns = _with_extra(read_columns(metadata, self.schema, settings.metadata_columns), settings.extra)
        if settings.never_null:
            self.columns = replace(self.columns, physical=without_nulls(self.columns.physical, settings.never_null))
        self.planner = SharedPlanner(io, metadata, name, snapshot, self.schema, settings)
        self.key = f"icesql[{name} snapshot={snapshot.snapshot_id if snapshot else None} schema={self.schema.schema_id}"
        self.table_key = table_key(metadata, settings)
        self.key += f" metadata={self.table_key}]"

    def at(self, metadata: TableMetadata, snapshot: Snapshot | None) -> Read:
        """The same read of another version of the table, in the same columns."""
        return Read(self.spark, self.io, metadata, self.name, snapshot, replace(self.settings, schema=self.schema))

    def frame(self) -> DataFrame:
        """The union of the sides that the snapshot needs."""
        if self.is_foreign:
            return second_path.second_path_frame(self, lambda task: True)
        frames = self._native_frames()
        if self.is_mixed:
            frames.append(second_path.second_path_frame(self, lambda task: not self.is_native(task)))
        union = frames[0]
        for other in frames[1:]:
            union = union.union(other)
        if self.settings.never_null:
            return nullable_again(union, shown_schema(self.metadata, self.schema, self.settings.metadata_columns))
        return union

    def plan(self) -> Any:
        """The analysed plan of ``frame``, quicker made but not to be handed out (``plan_forms``)."""
        kinds = self.delete_kinds
        if self.is_foreign or self.is_mixed or self.settings.never_null or FileContent.EQUALITY_DELETES in kinds:
            return self.frame()._jdf.queryExecution().analyzed()
        if not kinds:
            return self._formed("all files", self.columns, self.projected)
        return self._formed("with position deletes", self.with_deletes(self.columns), self.without_deleted)

    def shape_plan(self) -> Any:
        """As ``plan`` for ``shape``."""
        return self._formed("shape", self.columns, self.projected)

    def _formed(self, kind: str, columns: ReadColumns, make: Callable[[DataFrame], DataFrame]) -> Any:
        shown = (columns.projection, tuple(sorted(columns.whole.items())), self.settings.metadata_columns)
        key = (make.__name__, columns.physical.json(), columns.constants_schema.json(), *shown)
        return plan_forms(bridge_of(self.spark)).plan(key, self._files(kind, None, columns), make)

    @cached_property
    def is_foreign(self) -> bool:
        """True where Spark cannot read the columns: it lacks a type, or its row-by-row reader would look for them by names."""
        if second_path.foreign_schema(self.schema):
            return True
        return (bool(self.columns.names) or has_had_other_names(self.metadata, self.schema)) and not is_vectorised(self.spark, self.schema)

    @cached_property
    def is_mixed(self) -> bool:
        """True if some files may need the second path."""
        if second_path.may_lack_ids(self.metadata):
            return True
        if self.settings.tasks is not None:
            return any(task.file_format != "parquet" for task in self.settings.tasks)
        return may_have_foreign_files(self.io, self.metadata, self.snapshot)

    @property
    def is_one_relation(self) -> bool:
        """True if ``frame`` is a projection of a single relation."""
        whole = not self.is_foreign and not self.is_mixed
        return whole and not self.delete_kinds

    def shape(self) -> DataFrame:
        """A frame of the same columns over one relation, to analyse conditions on; it ignores deletes and must not be read."""
        return self.projected(self.relation("shape", None, self.columns))

    def _native_frames(self) -> list[DataFrame]:
        kinds = self.delete_kinds
        if FileContent.EQUALITY_DELETES not in kinds:
            return [self._by_position(None) if kinds else self.projected(self.relation("all files", None, self.columns))]
        return [self._by_position(lambda file: not deletes.has_equality_deletes(file)), self._equality()]

    def is_native(self, file: ScannedFile) -> bool:
        return second_path.is_native(self.io, self.metadata, file)

    # -- sides of the union --------------------------------------------------------------------------------------
    def _by_position(self, belongs: Callable[[ScannedFile], bool] | None) -> DataFrame:
        """Files that have at most position deletes. They are one relation, so that what reads them is compiled with what follows."""
        columns = self.with_deletes(self.columns)
        return self.without_deleted(self.relation("with position deletes", belongs, columns))

    def _has_deletes(self, file: ScannedFile) -> bool:
        return bool(file.delete_files) or (self.settings.gone is not None and file.file_path in self.settings.gone)

    def _equality(self) -> DataFrame:
        """Files with equality deletes, and perhaps position deletes: anti joins over the columns that the deletes compare."""
        known = second_path.known_columns(self.metadata, self.schema)
        groups = equality.deleted_rows(self, known)
        columns, names = self._with_columns(self.with_deletes(self.columns), known, {i for ids, _, _ in groups for i in ids})
        columns = replace(columns, constants=(*columns.constants, equality.DATA_SEQUENCE, equality.DATA_PARTITION))
        frame = self.relation("with equality deletes", deletes.has_equality_deletes, columns)
        if DELETED.name not in self.settings.metadata_columns:
            return self.projected(equality.without(frame.where(deletes.is_kept(self.spark)), names, groups))
        marked = frame.withColumn(DELETED.name, deletes.is_deleted(self.spark))
        return self.projected(equality.marked(marked, names, groups))

    def _with_columns(self, columns: ReadColumns, known: Schema, ids: set[int]) -> tuple[ReadColumns, dict[int, str]]:
        """Physical columns for the field ids as well, and the name of each id's column."""
        physical = list(columns.physical.fields)
        names = {int(f.metadata[FIELD_ID]): f.name for f in physical if f is not ROW_INDEX}
        for field_id in sorted(ids - names.keys()):
            column = to_spark_field(known.field(field_id))
            names[field_id] = f"__column_{field_id}"
            physical.append(StructField(names[field_id], column.dataType, True, column.metadata))
        return replace(columns, physical=StructType(physical)), names

    def with_deletes(self, columns: ReadColumns) -> ReadColumns:
        # Spark reads wide rows one by one and copies the constants into each, so they get the smaller form.
        bits_bytes = 0 if _leaves(columns.physical) > _WIDE else deletes.ALL_BITS_BYTES
        deleted = deletes_constant(deletes.DeletedPositions(self.io, self.settings.gone, bits_bytes=bits_bytes))
        physical = columns.physical if ROW_INDEX in columns.physical.fields else StructType([*columns.physical.fields, ROW_INDEX])
        return replace(columns, physical=physical, constants=(*columns.constants, deleted))

    def without_deleted(self, frame: DataFrame) -> DataFrame:
        """Drop deleted rows, or mark them where ``_deleted`` is shown."""
        if DELETED.name in self.settings.metadata_columns:
            return self.projected(frame.select("*", deletes.is_deleted(self.spark).alias(DELETED.name)))
        return self.projected(frame.where(deletes.is_kept(self.spark)))

    def projected(self, frame: DataFrame) -> DataFrame:
        """The shown columns, of a relation that may have more."""
        texts = self.columns.projection
        if not texts:
            wanted, given = self.columns.physical.names, frame.columns
            more = [name for name in given if name not in wanted]
            if given == [*wanted, *more]:
                return frame.drop(*more) if more else frame  # which is a few calls to the JVM, and a selection some for each column
            return frame.select(*map(quoted, wanted))
        if DELETED.name not in frame.columns:
            texts = tuple("false AS `_deleted`" if text == "_deleted AS `_deleted`" else text for text in texts)
        whole = self.columns.whole
        if not whole:
            return frame.selectExpr(*texts)
        return frame.select(*(self._read_whole(*whole[text]) if text in whole else functions.expr(text) for text in texts))

    def _read_whole(self, physical: str, shown: str) -> Column:
        """A column behind an expression that keeps Catalyst from pruning its fields (``ReadColumns.whole`` says why)."""
        bridge = bridge_of(self.spark)
        column = bridge.expression(functions.col(quoted(physical)))
        return bridge.column(bridge.expressions.KnownNullable(column)).alias(shown)

    def relation(self, kind: str, belongs: Callable[[ScannedFile], bool] | None, columns: ReadColumns) -> DataFrame:
        bridge = bridge_of(self.spark)
        return bridge.frame(bridge.logical_relation(self._files(kind, belongs, columns), False))

    def _files(self, kind: str, belongs: Callable[[ScannedFile], bool] | None, columns: ReadColumns) -> Any:
        """A relation of files that Spark reads itself and for which ``belongs`` is true (``None``: all)."""
        answer = self.answers(belongs, columns)
        return parquet_relation(
            bridge_of(self.spark),
            key=f"{self.key} {kind}",
            plan=lambda expression, version: answer(expression),
            schema=columns.physical,
            constants=columns.constants_schema,
            size_in_bytes=self.size_in_bytes,
            names=columns.names,
        )

    def answers(
        self, belongs: Callable[[ScannedFile], bool] | None, columns: ReadColumns, version: int | None = None
    ) -> Callable[[Expression], FileSet]:
        """What gives the files of a relation for a filter. ``version``: the number that its constants say, where they say one."""
        planner, mixed = self.planner, self.is_mixed
        # Iceberg reads such columns in batches, but for those of changes.
        is_plain = not self.settings.extra and not any(children(field.type) for field in self.schema.fields)
        asks_batch_size = is_plain and not mixed and property_as_bool(self.metadata.properties, PARQUET_VECTORIZATION_ENABLED)
        only_deletes = [constant.field.name for constant in columns.constants] == [DELETES]
        constants = columns.constants
        if constants and version is not None:
            constants = (*constants, Constant(VERSION, lambda file: version))
        kept = KeptAnswers()

        def answer(expression: Expression) -> FileSet:
            if asks_batch_size:
                check_batch_size(self.metadata.properties, self.settings.options)
            return kept.get(expression, planner.made_from(expression), files_of)

        def files_of(expression: Expression) -> FileSet:
            all_native = not mixed or not (planner.formats(expression) - {"parquet"} or second_path.may_lack_ids(self.metadata))
            if belongs is None and not constants and all_native:
                return FileSet(*planner.files(expression))
            files = [f for f in planner.scanned(expression) if (belongs is None or belongs(f)) and (all_native or self.is_native(f))]
            # Files without deletes are many where few rows are deleted, and need no constants of their own.
            alike = [f for f in files if not self._has_deletes(f)] if only_deletes else []
            if alike:
                files = [alike[0], *(f for f in files if self._has_deletes(f))]
            return FileSet(*paths_and_sizes(files), constants_table(constants, files), FileSet(*paths_and_sizes(alike[1:])))

        return answer

    def size_in_bytes(self) -> int:
        """Bytes of the snapshot's files, by its summary."""
        if self.settings.tasks is not None:
            return sum(task.data_file.file_size_in_bytes for task in self.settings.tasks)
        total = self.snapshot.summary.get("total-files-size") if self.snapshot else None
        return int(total) if total is not None and total.isdigit() else 1 << 40

    @cached_property
    def delete_kinds(self) -> frozenset[FileContent]:
        """Which kinds of delete files the snapshot has."""
        if self.settings.tasks is not None:
            kinds = frozenset(file.content for task in self.settings.tasks for file in task.delete_files)
            return kinds | {FileContent.POSITION_DELETES} if self.settings.gone else kinds
        return deletes.delete_kinds(self.io, self.metadata, self.snapshot)


def _leaves(type_: DataType) -> int:
    match type_:
        case StructType():
            return sum(_leaves(field.dataType) for field in type_.fields)
        case ArrayType():
            return _leaves(type_.elementType)
        case MapType():
            return _leaves(type_.keyType) + _leaves(type_.valueType)
    return 1


def _with_extra(columns: ReadColumns, extra: tuple[Constant, ...]) -> ReadColumns:
    if not extra:
        return columns
    shown = columns.projection or tuple(map(quoted, columns.physical.names))
    return replace(columns, constants=(*columns.constants, *extra), projection=(*shown, *(quoted(c.field.name) for c in extra)))


class SharedPlanner:
    """Plans files for a filter; the sides of a union ask for the same filter one after another, so the last plans are kept."""

    def __init__(
        self, io: FileIO, metadata: TableMetadata, name: str, snapshot: Snapshot | None, schema: Schema, settings: ReadSettings
    ) -> None:
        self._io, self._metadata, self._name, self._snapshot, self._schema, self._settings = io, metadata, name, snapshot, schema, settings
        self._plans: dict[Expression, _Plan] = {}
        self._wanted = settings.files
        self._unchecked = True
        self._lock = threading.Lock()

    def narrow(self, files: Set[str]) -> None:
        """From now on only these files are given, where a filter lets them pass."""
        self._wanted = frozenset(files) if self._wanted is None else self._wanted & files

    def files(self, expression: Expression) -> tuple[Sequence[str], Sequence[int]]:
        """Paths and sizes; no object is made for a file unless only some of the files are wanted."""
        self._check()
        if self._settings.tasks is not None or self._wanted is not None:
            return paths_and_sizes(self.scanned(expression))
        plan = self._plan(expression)
        return plan.paths, plan.sizes

    def scanned(self, expression: Expression) -> Sequence[ScannedFile]:
        """The files with their deletes; without metrics where planning finds them."""
        self._check()
        if self._settings.tasks is not None:
            return self._settings.tasks
        files, wanted = self._plan(expression).files, self._wanted
        return files if wanted is None else [file for file in files if file.file_path in wanted]

    def tasks(self, expression: Expression) -> Sequence[FileScanTask]:
        """What the second path reads."""
        self._check()
        if self._settings.tasks is not None:
            return self._settings.tasks
        tasks: Sequence[FileScanTask] = self._plan(expression).task_list
        wanted = self._wanted
        return tasks if wanted is None else [task for task in tasks if task.data_file.file_path in wanted]

    def made_from(self, expression: Expression) -> tuple[object, object]:
        """What decides which files a filter lets pass: while both are the same objects, so are the files."""
        self._check()
        return self._plan(expression) if self._settings.tasks is None else self._settings.tasks, self._wanted

    def _check(self) -> None:
        """The table's ``read.split.*`` must be numbers when files are asked for, though Spark makes the splits."""
        if self._unchecked:
            check_splits(self._metadata.properties, self._settings.options)
            self._unchecked = False

    def planned_tasks(self) -> list[FileScanTask]:
        """The files of every plan so far; a file twice if two filters wanted it."""
        if self._settings.tasks is not None:
            return list(self._settings.tasks)
        with self._lock:
            plans = list(self._plans.values())
        return [task for plan in plans for task in plan.task_list]

    def planned_filters(self) -> list[Expression]:
        """The filters of every plan so far, in terms of the table's columns."""
        with self._lock:
            return [plan.context.filter for plan in self._plans.values()]

    def formats(self, expression: Expression) -> frozenset[str]:
        """File formats among the planned files."""
        if self._settings.tasks is not None:
            return frozenset(task.file_format for task in self._settings.tasks)
        return self._plan(expression).formats

    def _plan(self, expression: Expression) -> _Plan:
        with self._lock:
            found = self._plans.get(expression)
            if found is None:
                found = self._planned(expression)
                self._plans = {**dict(list(self._plans.items())[-7:]), expression: found}
        if self._settings.listener is not None:
            self._settings.listener(found.report, self._snapshot)
        return found

    def _planned(self, expression: Expression) -> _Plan:
        context = PlanContext(
            metadata=self._metadata,
            io=self._io,
            schema=self._schema,
            filter=bind(self._schema, and_(self._settings.where, bindable(self._schema, expression))),
            table_name=self._name,
        )
        planned = plan_snapshot(context, self._snapshot)
        for part in planned.manifests:
            learn(part.columns)
        return _Plan(context, planned)


class _Plan(ScanPlan):
    """A plan whose tasks are made once."""

    @cached_property
    def task_list(self) -> list[FileScanTask]:
        return list(self.tasks)


class KeptAnswers:
    """The last sets of few files that a relation gave: for a set it has seen, Spark keeps its own objects."""

    _MOST, _MOST_FILES, _MOST_BYTES = 4, 1_000, 1 << 20

    def __init__(self) -> None:
        self._answers: dict[Expression, tuple[tuple[object, object], FileSet]] = {}

    def get(self, expression: Expression, made_from: tuple[object, object], make: Callable[[Expression], FileSet]) -> FileSet:
        """The set that was made from the same objects, or a new one."""
        kept = self._answers.get(expression)
        if kept is not None and all(old is new for old, new in zip(kept[0], made_from, strict=True)):
            return kept[1]
        files = make(expression)
        if files.count <= self._MOST_FILES and (files.constants is None or files.constants.nbytes <= self._MOST_BYTES):
            files = replace(files, is_kept=True)
            self._answers = {**dict(list(self._answers.items())[1 - self._MOST :]), expression: (made_from, files)}
        return files


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


def paths_and_sizes(files: Sequence[ScannedFile]) -> tuple[list[str], list[int]]:
    return [file.file_path for file in files], [file.file_size_in_bytes for file in files]


def constants_table(constants: Sequence[Constant], files: Sequence[ScannedFile]) -> pa.Table | None:
    if not constants:
        return None
    return pa.table([constant.array(files) for constant in constants], names=[constant.field.name for constant in constants])


def table_key(metadata: TableMetadata, settings: ReadSettings) -> str:
    """Equal for reads that plan the same files for the same filter."""
    if settings.tasks is not None or settings.files is not None:
        return f"{metadata.table_uuid}/{next(_scan_numbers)}"
    return f"{metadata.table_uuid}/{settings.where!r}/{sorted(settings.options.items())}"
