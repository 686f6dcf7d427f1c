"""Reading what Spark's Parquet reader cannot: Avro and ORC files, Parquet files without field ids, and types it lacks.

Still planned lazily: a relation gives one row a file, the pickled task, and ``mapInArrow`` turns tasks into rows. Filters are not pushed
through ``mapInArrow``: ``fallback_filters`` finds those of a statement, and a caller that knows a filter passes it as ``where``.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, functions
from pyspark.sql.types import BinaryType, BooleanType, DataType, DecimalType, LongType, StructField, StructType

from icesql.expr.tree import Expression
from icesql.io.arrow.types import field_ids
from icesql.io.lru import LruCache
from icesql.io.parquet.files import open_parquet
from icesql.io.storage.files import FileIO
from icesql.spark.jvm.arrow_schema import to_arrow_schema
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.expressions import MOST_DIGITS_OF_A_LONG, decimal_of, default_value
from icesql.spark.jvm.paths import split_bytes
from icesql.spark.jvm.plans import relation_frame
from icesql.spark.jvm.relations import named_files
from icesql.spark.read.columns import FileConstant, quoted, shown_schema
from icesql.spark.read.fallback_filters import note_relation
from icesql.spark.read.fallback_tasks import ROW_COLUMN, TASK_COLUMN, ReadJob, read_tasks
from icesql.spark.read.file_index import FileSet, PythonFileIndex
from icesql.spark.read.pruned_columns import pruned_fields
from icesql.spark.read.read_planning import constants_table
from icesql.spark.workers.shipping import ship
from icesql.spec import properties as P
from icesql.spec import types as I
from icesql.spec.metadata import TableMetadata
from icesql.spec.name_mapping import NameMapping, name_mapping_from_json
from icesql.spec.schema import Schema
from icesql.table.scan.splits import piece_bytes, row_group_pieces
from icesql.table.scan.tasks import ScannedFile

if TYPE_CHECKING:
    from icesql.spark.read.table_scan import Read

_FOREIGN = (I.UUIDType, I.TimeType, I.TimestampNanoType, I.TimestamptzNanoType, I.FixedType, I.GeometryType, I.GeographyType)


def foreign_schema(schema: Schema) -> bool:
    """True if some column, at any depth, has a type or a default that Spark's reader cannot give."""
    for _, field, parent in schema.walk():
        if isinstance(field.type, _FOREIGN) or (
            parent is not None and (field.initial_default is not None or isinstance(field.type, I.UnknownType))
        ):
            return True
    return False


def may_lack_ids(metadata: TableMetadata) -> bool:
    """True if the table may hold files without field ids."""
    return P.DEFAULT_NAME_MAPPING in metadata.properties


def name_mapping_of(metadata: TableMetadata) -> NameMapping | None:
    text = metadata.properties.get(P.DEFAULT_NAME_MAPPING)
    return None if text is None else name_mapping_from_json(text)


def fallback_frame(read: Read, belongs: Callable[[ScannedFile], bool]) -> DataFrame:
    """The rows of the tasks for which ``belongs(task)`` is true, deletes applied, in the columns of the read."""
    metadata, schema, wanted = read.metadata, read.schema, read.settings.metadata_columns
    shown = StructType([*shown_schema(metadata, schema, wanted).fields, *(constant.field for constant in read.settings.extra)])
    fields = pruned_fields(schema.fields, None if _has_times(schema) else read.settings.needed)
    names = {field.name for field in fields} | {field.name for field in shown.fields[len(schema.fields) :]}
    given = StructType([field for field in shown.fields if field.name in names] or [_ROW])
    full = {schema.field(i).name for i in read.settings.never_null}
    given = StructType([StructField(f.name, f.dataType, f.nullable and f.name not in full, f.metadata) for f in given.fields])
    # Catalyst finds a statement's filters above the columns themselves, so that numbers stand for decimals once they are known.
    decimals = {field.name: field.dataType for field in given.fields if read.settings.is_for_rows and _fits_a_long(field.dataType)}
    sent = StructType([StructField(f.name, LongType(), f.nullable) if f.name in decimals else f for f in given.fields])
    job = ReadJob(
        io=read.io,
        schema=schema,
        read=Schema(fields, schema.schema_id),
        known=known_columns(metadata, schema),
        metadata=without_history(metadata),
        metadata_columns=wanted,
        name_mapping=name_mapping_of(metadata),
        arrow_schema=to_arrow_schema(sent),
        filters_rows=read.settings.is_for_rows,
    )
    ship(read.spark)

    def task(batches):  # type: ignore[no-untyped-def]
        yield from read_tasks(job, batches)

    frame = _tasks_frame(read, belongs).mapInArrow(task, sent)
    if given.names == shown.names and not decimals:
        return frame
    return frame.select(
        *(
            _unused(read, field, is_null=field.name not in full) if field.name not in names else _column(read, field, decimals)
            for field in shown.fields
        )
    )


def without_history(metadata: TableMetadata) -> TableMetadata:
    """The schemas and partition specs, which tasks need: snapshots may be megabytes, and each task would unpickle them."""
    return replace(
        metadata,
        properties={},
        current_snapshot_id=None,
        snapshots=(),
        refs={},
        snapshot_log=(),
        metadata_log=(),
        statistics=(),
        partition_statistics=(),
        encryption_keys=(),
    )


def _fits_a_long(type_: DataType) -> bool:
    """Whether a column is sent as unscaled numbers: of an Arrow decimal, Spark makes a ``BigDecimal`` for each value."""
    return isinstance(type_, DecimalType) and type_.precision <= MOST_DIGITS_OF_A_LONG


def _has_times(schema: Schema) -> bool:
    """Whether there are TIME columns at any depth: unless it is told to, Spark refuses to put anything in the place of their values."""
    return any(isinstance(field.type, I.TimeType) for field in schema.fields_by_id.values())


_ROW = StructField(ROW_COLUMN, BooleanType())  # where no column is needed, rows are only counted


def _unused(read: Read, field: StructField, *, is_null: bool) -> Column:
    """A column whose values nothing asks for; whether they are null, something may have asked."""
    if is_null:
        return functions.lit(None).cast(field.dataType).alias(field.name)
    return default_value(bridge_of(read.spark), field.dataType).alias(field.name)


def _column(read: Read, field: StructField, decimals: Mapping[str, DataType]) -> Column:
    type_, column = decimals.get(field.name), functions.col(quoted(field.name))
    if not isinstance(type_, DecimalType):
        return column
    return decimal_of(bridge_of(read.spark), column, type_.precision, type_.scale).alias(field.name, metadata=field.metadata)


def known_columns(metadata: TableMetadata, schema: Schema) -> Schema:
    """The read's columns and every top-level column of older schemas: an equality delete may name a dropped one."""
    fields = {field.id: field for old in metadata.schemas for field in old.fields}
    fields.update({field.id: field for field in schema.fields})
    taken: dict[str, int] = {}
    unique = []
    for field in (*schema.fields, *(f for i, f in fields.items() if all(i != s.id for s in schema.fields))):
        name = field.name if taken.setdefault(field.name, field.id) == field.id else f"{field.name}#{field.id}"
        unique.append(I.NestedField(field.id, name, field.type))
    return Schema(tuple(unique))


def _tasks_frame(read: Read, belongs: Callable[[ScannedFile], bool]) -> DataFrame:
    """One row a file: its pickled task. Spark packs tasks by the sizes it is told; of the path it only asks whether it exists, so that it
    is this machine's root, whatever the table's files lie in."""

    def pickled(task: ScannedFile) -> bytes:
        return pickle.dumps((task, _left_out(read, task), [constant.of(task) for constant in read.settings.extra]))

    constant = FileConstant(StructField(TASK_COLUMN, BinaryType(), False), pickled)
    constants, planner, bridge = StructType([constant.field]), read.planner, bridge_of(read.spark)

    def plan(expression: Expression, version: int | None) -> FileSet:
        tasks = row_group_pieces([task for task in planner.tasks(expression) if belongs(task)], split_bytes(bridge_of(read.spark)))
        return FileSet(["/"] * len(tasks), [piece_bytes(task) for task in tasks], constants_table((constant,), tasks))

    key = f"{read.key} fallback"
    note_relation(key)
    index = PythonFileIndex(bridge, key=key, plan=plan, size_in_bytes=read.size_in_bytes, constants=constants, names={})
    return relation_frame(read.spark, named_files(bridge, index, constants)).select(TASK_COLUMN)


def _left_out(read: Read, file: ScannedFile) -> bytes | None:
    """Positions that the read leaves out beside those that delete files name."""
    bitmap = (read.settings.deleted_positions or {}).get(file.file_path)
    return None if bitmap is None else bytes(bitmap.serialize())


# -- which files Spark can read ------------------------------------------------------------------------------------------


_ids_by_path: LruCache[str, frozenset[int]] = LruCache(100_000)


def ids_in(io: FileIO, file: ScannedFile) -> frozenset[int]:
    """The field ids of a Parquet file, from its footer; remembered for the files asked last."""
    return _ids_by_path.find_or_make(file.file_path, lambda: _ids_of_file(io, file.file_path))


def _ids_of_file(io: FileIO, path: str) -> frozenset[int]:
    with io.open_input(path) as stream:
        return field_ids(open_parquet(stream, path).schema)


def is_native(io: FileIO, metadata: TableMetadata, file: ScannedFile) -> bool:
    """True if Spark's Parquet reader gives the right rows of a file: it finds columns by id, and knows no partition values.

    Spec: "Column Projection". Files from folders named by partition values, which ``add_files`` takes, may have ids but not those columns.
    """
    if file.file_format != "parquet":
        return False
    if not may_lack_ids(metadata):
        return True
    ids = ids_in(io, file)
    spec = metadata.specs_by_id.get(file.spec_id)
    needed = {f.source_id for f in spec.fields if f.transform.is_identity} if spec is not None else set()
    return bool(ids) and needed <= ids
