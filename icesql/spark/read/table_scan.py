"""A table as a DataFrame. Files are chosen when Spark plans the query, from the filters Catalyst pushed.

Position deletes are tested in the relation of all files, so that Spark compiles the test with the scan; files with equality deletes are a
side of their own in a union, and so are files that Spark cannot read itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from icesql.expr.tree import TRUE, Expression
from icesql.io.storage.files import FileIO
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.expressions import known_nullable
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.local_rows import local_frame
from icesql.spark.jvm.plan_forms import plan_forms
from icesql.spark.jvm.plans import analysed_plan
from icesql.spark.jvm.types import FIELD_ID, to_spark_field
from icesql.spark.read import deletes, equality, fallback_reader
from icesql.spark.read.columns import (
    DELETES,
    ROW_INDEX,
    VERSION,
    FileConstant,
    ReadColumns,
    deletes_constant,
    has_had_other_names,
    quoted,
    read_columns,
    shown_schema,
)
from icesql.spark.read.file_index import FileSet
from icesql.spark.read.foreign_files import may_have_foreign_files
from icesql.spark.read.nullability import nullable_again, without_nulls
from icesql.spark.read.read_planning import (
    KeptAnswers,
    ReadSettings,
    ScanListener,
    SharedPlanner,
    constants_table,
    paths_and_sizes,
    table_key,
)
from icesql.spark.read.readers import why_arrow
from icesql.spark.read.relation import is_vectorised, parquet_relation
from icesql.spark.read.unpinned import Newest, UnpinnedRead, can_be_unpinned
from icesql.spec.files import FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED
from icesql.spec.properties import PARQUET_VECTORIZATION_ENABLED, property_as_bool
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import children
from icesql.table.scan.never_null import never_null
from icesql.table.scan.read_numbers import check_batch_size
from icesql.table.scan.tasks import FileScanTask, ScannedFile
from icesql.table.table import Table

_WIDE = 90  # columns; Spark's own limit, spark.sql.codegen.maxFields, is 100 unless set and counts constants too


def scan_dataframe(
    spark: SparkSession,
    table: Table,
    *,
    snapshot_id: int | None = None,
    ref: str | None = None,
    schema: Schema | None = None,
    metadata_columns: Sequence[str] = (),
    where: Expression = TRUE,
    is_for_rows: bool = False,
    columns: frozenset[str] | None = None,
    files: frozenset[str] | None = None,
    tasks: Sequence[FileScanTask] | None = None,
    options: Mapping[str, str] | None = None,
    listener: ScanListener | None = None,
) -> DataFrame:
    """The rows of a snapshot (default: main's head), lazily planned. ``metadata_columns`` come last, in that order.

    Schema, unless given: a snapshot id's or a tag's own, else the table's current one. ``listener`` gets a report each time Spark asks for
    files, in the thread that asks: the same report object again where a kept plan served.
    ``is_for_rows``: rows for which ``where`` is not true may be left out. ``columns`` (dotted names): those that are used, others may be
    null.
    Raises NotFoundError for an unknown snapshot or ref.
    """
    metadata = table.metadata
    snapshot, own_schema = _resolve(metadata, snapshot_id, ref)
    settings = ReadSettings(
        schema=schema or own_schema,
        metadata_columns=tuple(metadata_columns),
        where=where,
        is_for_rows=is_for_rows,
        needed=columns,
        files=files,
        tasks=None if tasks is None else tuple(tasks),
        options=dict(options or {}),
        listener=listener,
    )
    if snapshot is None and tasks is None:
        return local_frame(spark, [], shown_schema(metadata, settings.schema or metadata.schema, settings.metadata_columns))
    read = Read(spark, table.io, metadata, table.name, snapshot, settings)
    if tasks is None and (read.is_foreign or not read.is_mixed):
        ids = never_null(table.io, metadata, snapshot, read.schema)
        if ids:
            read = Read(spark, table.io, metadata, table.name, snapshot, replace(settings, never_null=ids))
    return read.frame()


def unpinned_read(
    spark: SparkSession,
    table: Table,
    branch: str,
    newest: Newest,
    *,
    schema: Schema | None = None,
    metadata_columns: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    listener: ScanListener | None = None,
) -> UnpinnedRead | None:
    """What makes frames that show what a branch holds when they run; the rest is as for ``scan_dataframe``.

    ``None`` where the table has what only a read of one version can show (``icesql.spark.read.unpinned``).
    """
    metadata = table.metadata
    settings = ReadSettings(
        schema=schema or metadata.schema, metadata_columns=tuple(metadata_columns), options=dict(options or {}), listener=listener
    )
    read = Read(spark, table.io, metadata, table.name, metadata.head(branch), settings)
    return UnpinnedRead(read, table.version, branch, newest) if can_be_unpinned(read) else None


def _resolve(metadata: TableMetadata, snapshot_id: int | None, ref: str | None) -> tuple[Snapshot | None, Schema]:
    if snapshot_id is not None:
        snapshot = metadata.snapshot(snapshot_id)
        return snapshot, metadata.schema_of(snapshot)
    if ref is None or ref == "main":
        return metadata.current_snapshot, metadata.schema
    target = metadata.ref(ref)
    snapshot = metadata.snapshot(target.snapshot_id)
    return snapshot, metadata.schema if target.is_branch else metadata.schema_of(snapshot)


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
        self.planner.reader = lambda: self.foreign_because and f"with Arrow: {self.foreign_because}"
        self.key = f"icesql[{name} snapshot={snapshot.snapshot_id if snapshot else None} schema={self.schema.schema_id}"
        self.table_key = table_key(metadata, settings)
        self.key += f" metadata={self.table_key}]"

    def at(self, metadata: TableMetadata, snapshot: Snapshot | None) -> Read:
        """The same read of another version of the table, in the same columns."""
        return Read(self.spark, self.io, metadata, self.name, snapshot, replace(self.settings, schema=self.schema))

    def frame(self) -> DataFrame:
        """The union of the sides that the snapshot needs."""
        frames = [fallback_reader.fallback_frame(self, lambda task: True)] if self.is_foreign else self._native_frames()
        if self.is_mixed and not self.is_foreign:
            frames.append(fallback_reader.fallback_frame(self, lambda task: not self.is_native(task)))
        union = frames[0]
        for other in frames[1:]:
            union = union.union(other)
        if self.settings.never_null:
            return nullable_again(union, shown_schema(self.metadata, self.schema, self.settings.metadata_columns))
        return union

    def plan(self) -> JavaObject:
        """The analysed plan of ``frame``, quicker made but not to be handed out (``plan_forms``)."""
        kinds = self.delete_kinds
        if self.is_foreign or self.is_mixed or self.settings.never_null or FileContent.EQUALITY_DELETES in kinds:
            return analysed_plan(self.frame())
        if not kinds:
            return self._formed("all files", self.columns, self.projected)
        return self._formed("with position deletes", self.with_deletes(self.columns), self.without_deleted)

    def shape_plan(self) -> JavaObject:
        """As ``plan`` for ``shape``."""
        return self._formed("shape", self.columns, self.projected)

    def _formed(self, kind: str, columns: ReadColumns, make: Callable[[DataFrame], DataFrame]) -> JavaObject:
        shown = (columns.projection, tuple(sorted(columns.whole.items())), self.settings.metadata_columns)
        key = (make.__name__, columns.physical.json(), columns.constants_schema.json(), *shown)
        return plan_forms(bridge_of(self.spark)).plan(key, self._files(kind, None, columns), make)

    @property
    def is_foreign(self) -> bool:
        """True where Spark cannot read the files or their columns, or must not."""
        return bool(self.foreign_because)

    @cached_property
    def foreign_because(self) -> str:
        """Why tasks read the table with Arrow; empty where Spark's own reader does."""
        why = why_arrow(self.spark, self.metadata, self.io)
        if why:
            return why
        if fallback_reader.foreign_schema(self.schema):
            return "Spark lacks a type or a default of these columns"
        renamed = bool(self.columns.names) or has_had_other_names(self.metadata, self.schema)
        return "Spark's row-by-row reader finds columns by name only" if renamed and not is_vectorised(self.spark, self.schema) else ""

    @cached_property
    def is_mixed(self) -> bool:
        """True if some files may need the fallback reader."""
        if fallback_reader.may_lack_ids(self.metadata):
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
        return fallback_reader.is_native(self.io, self.metadata, file)

    # -- sides of the union --------------------------------------------------------------------------------------
    def _by_position(self, belongs: Callable[[ScannedFile], bool] | None) -> DataFrame:
        """Files that have at most position deletes. They are one relation, so that Spark compiles its scan with the operators above it."""
        columns = self.with_deletes(self.columns)
        return self.without_deleted(self.relation("with position deletes", belongs, columns))

    def _has_deletes(self, file: ScannedFile) -> bool:
        return bool(file.delete_files) or (
            self.settings.deleted_positions is not None and file.file_path in self.settings.deleted_positions
        )

    def _equality(self) -> DataFrame:
        """Files with equality deletes, and perhaps position deletes: anti joins over the columns that the deletes compare."""
        known = fallback_reader.known_columns(self.metadata, self.schema)
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
        deleted = deletes_constant(deletes.DeletedPositions(self.io, self.settings.deleted_positions, bits_bytes=bits_bytes))
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
        return known_nullable(bridge, functions.col(quoted(physical))).alias(shown)

    def relation(self, kind: str, belongs: Callable[[ScannedFile], bool] | None, columns: ReadColumns) -> DataFrame:
        bridge = bridge_of(self.spark)
        return bridge.frame(bridge.logical_relation(self._files(kind, belongs, columns), False))

    def _files(self, kind: str, belongs: Callable[[ScannedFile], bool] | None, columns: ReadColumns) -> JavaObject:
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
            constants = (*constants, FileConstant(VERSION, lambda file: version))
        kept = KeptAnswers()

        def answer(expression: Expression) -> FileSet:
            if asks_batch_size:
                check_batch_size(self.metadata.properties, self.settings.options)
            return kept.get(expression, planner.made_from(expression), files_of)

        def files_of(expression: Expression) -> FileSet:
            all_native = not mixed or not (planner.formats(expression) - {"parquet"} or fallback_reader.may_lack_ids(self.metadata))
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
            return kinds | {FileContent.POSITION_DELETES} if self.settings.deleted_positions else kinds
        return deletes.delete_kinds(self.io, self.metadata, self.snapshot)


def _leaves(type_: DataType) -> int:
    match type_:
        case StructType():
            return sum(_leaves(field.dataType) for field in type_.fields)
        case ArrayType():
            return _leaves(type_.elementType)
        case MapType():
            return _leaves(type_.keyType) + _leaves(type_.valueType)
        case _:
            return 1


def _with_extra(columns: ReadColumns, extra: tuple[FileConstant, ...]) -> ReadColumns:
    if not extra:
        return columns
    shown = columns.projection or tuple(map(quoted, columns.physical.names))
    return replace(columns, constants=(*columns.constants, *extra), projection=(*shown, *(quoted(c.field.name) for c in extra)))
