"""The tasks of the fallback reader: each reads one data file of any format through ``icesql.io``, applies its deletes, and yields Arrow
batches for Spark.

Runs in Python workers of executors, so it imports only the standard library, pyarrow and the lower rooms.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from icesql.expr.rewrite import referenced_ids
from icesql.expr.tree import TRUE, Expression
from icesql.io.arrow.filter import column_of, row_mask
from icesql.io.arrow.types import constant_array, internal_values
from icesql.io.data.files import read_data_file
from icesql.io.deletes.deletion_vectors import read_dv_bitmap
from icesql.io.deletes.equality_sets import EqualitySet
from icesql.io.deletes.files import equality_schema, read_equality_deletes, read_positions
from icesql.io.deletes.roaring import Positions, RoaringBitmap
from icesql.io.storage.files import FileIO
from icesql.io.storage.locations import scheme_of
from icesql.spark.read.pruned_columns import widened
from icesql.spark.workers.read_ahead import in_order_ahead
from icesql.spark.workers.task_imports import archives_forgotten
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED, FILE, LINEAGE, PARTITION, POS, SPEC_ID
from icesql.spec.name_mapping import NameMapping
from icesql.spec.schema import Schema
from icesql.spec.types import (
    DecimalType,
    ListType,
    MapType,
    NestedField,
    StructType,
    TimestampNanoType,
    TimestamptzNanoType,
    Type,
    UUIDType,
)
from icesql.table.metadata.partition_types import coercion, union_partition_type
from icesql.table.scan.projection_schema import with_columns
from icesql.table.scan.tasks import FileScanTask

TASK_COLUMN = "__task"
ROW_COLUMN = "__row"
_FILES_AHEAD = 3
_FEW_ROWS = 0.1  # of a batch
_FIELDS = {field.name: field for field in (FILE, POS, SPEC_ID, *LINEAGE)}


@dataclass(frozen=True, kw_only=True)
class ReadJob:
    """One read, as its tasks need it. ``read``: the columns, and fields of structs, of ``schema`` that are wanted. ``known`` has every
    column an equality delete may name. ``arrow_schema`` is what Spark expects: the columns of ``read`` with all their fields, the metadata
    columns, and then those that each task has one value for. ``filters_rows``: rows that fail the task's residual may be left out."""

    io: FileIO
    schema: Schema
    read: Schema
    known: Schema
    metadata: TableMetadata
    metadata_columns: tuple[str, ...]
    name_mapping: NameMapping | None
    arrow_schema: pa.Schema
    filters_rows: bool = False


def read_tasks(job: ReadJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The body of a ``mapInArrow`` task over rows that hold a pickle each: the arguments of ``read_task``."""
    with archives_forgotten():
        tasks = (pickle.loads(data) for batch in batches for data in batch.column(0).to_pylist())
        deletes = _EqualityDeletes(job)
        yield from in_order_ahead(lambda arguments: read_task(job, *arguments, equality_deletes=deletes), tasks, _ahead(job))


def _ahead(job: ReadJob) -> int:
    """How many files are opened before they are needed: none where a file is opened at once."""
    return 0 if scheme_of(job.metadata.location) == "file" else _FILES_AHEAD


def read_task(
    job: ReadJob,
    task: FileScanTask,
    left_out: bytes | None = None,
    values: Sequence[object] = (),
    *,
    equality_deletes: _EqualityDeletes | None = None,
) -> Iterator[pa.RecordBatch]:
    """Rows of one file in the columns Spark expects. ``left_out``: a bitmap of rows to leave out. ``values``: of the last columns."""
    equality = [file for file in task.delete_files if file.content is FileContent.EQUALITY_DELETES]
    tested = task.residual if job.filters_rows else TRUE
    bitmaps = _deletes(job, task, left_out)
    wanted = _read_schema(job, equality, tested, needs_positions=bool(bitmaps))
    tests = (equality_deletes or _EqualityDeletes(job)).of(equality)
    shows_deleted = DELETED.name in job.metadata_columns
    for batch in read_data_file(
        job.io,
        task.data_file,
        wanted,
        name_mapping=job.name_mapping,
        filter=None if task.residual == TRUE else task.residual,
        constants=identity_constants(job.metadata, task),
        data_sequence_number=task.file_sequence_number or task.data_sequence_number,
        byte_range=None if task.is_whole_file else (task.start, task.start + (task.length or 0)),
        rows=TRUE if shows_deleted else tested,
    ):
        deleted = _deleted(batch, wanted, bitmaps, tests)
        left = np.zeros(len(deleted), bool) if shows_deleted else deleted
        if tested != TRUE:
            failed = ~np.asarray(row_mask(batch, wanted, tested).to_numpy(zero_copy_only=False), bool)
            # Spark tests the filter too: where it keeps nearly all rows, to copy them costs more than to send the others.
            if np.count_nonzero(failed) > _FEW_ROWS * len(failed):
                left = left | failed
        if left.any():
            batch, deleted = batch.filter(pa.array(~left)), deleted[~left]
        if batch.num_rows:
            shown = _shown(job, task, batch, wanted, deleted)
            yield pa.RecordBatch.from_arrays([*shown, *_repeated(job, values, batch.num_rows)], schema=job.arrow_schema)


def _repeated(job: ReadJob, values: Sequence[object], rows: int) -> list[pa.Array]:
    fields = list(job.arrow_schema)[len(job.arrow_schema) - len(values) :]
    return [pa.repeat(pa.scalar(value, field.type), rows) for field, value in zip(fields, values, strict=True)]


def identity_constants(metadata: TableMetadata, task: FileScanTask) -> Mapping[int, object]:
    """Values of identity-partitioned columns, for files that lack them. Spec: "Column Projection"."""
    spec = metadata.specs_by_id[task.spec_id]
    return {f.source_id: value for f, value in zip(spec.fields, task.data_file.partition, strict=True) if f.transform.is_identity}


def _read_schema(job: ReadJob, equality: Sequence[DataFile], tested: Expression, *, needs_positions: bool) -> Schema:
    """The wanted columns, metadata columns that ``icesql.io`` knows, and columns that only deletes and the residual need."""
    fields = list(with_columns(job.read, sorted(referenced_ids(tested)), job.schema).fields)
    present = {field.id for field in fields}
    extra: list[NestedField] = [_FIELDS[name] for name in job.metadata_columns if name in _FIELDS]
    extra += [field for file in equality for field in equality_schema(job.known, file.equality_ids).fields]
    extra += [POS] if needs_positions or not (fields or extra) else []
    for field in extra:
        if field.id not in present:
            fields.append(NestedField(field.id, field.name if field.id > 2147483000 else f"__{field.id}", field.type))
            present.add(field.id)
    return Schema(tuple(fields))


def _deletes(job: ReadJob, task: FileScanTask, left_out: bytes | None) -> list[RoaringBitmap | Positions]:
    """Deleted positions of each bitmap and position delete file that has any."""
    parts: list[RoaringBitmap | Positions] = [] if left_out is None else [RoaringBitmap(left_out)]
    for file in task.delete_files:
        if file.is_deletion_vector:
            parts.append(read_dv_bitmap(job.io, file))
        elif file.content is FileContent.POSITION_DELETES:
            parts.append(np.unique(read_positions(job.io, file, task.data_file.file_path)))
    return [part for part in parts if len(part)]


class _EqualityDeletes:
    """The equality deletes of the tasks that one worker runs: each file is read once. Nulls equal nulls. Spec: "Equality Delete Files"."""

    def __init__(self, job: ReadJob) -> None:
        self._job = job
        self._sets: dict[tuple[str, ...], EqualitySet] = {}
        self._lock = threading.Lock()

    def of(self, files: Sequence[DataFile]) -> list[tuple[tuple[int, ...], EqualitySet]]:
        """(field ids, deleted rows) for each list of equality columns."""
        by_ids: dict[tuple[int, ...], list[DataFile]] = {}
        for file in files:
            by_ids.setdefault(tuple(file.equality_ids), []).append(file)
        return [(ids, self._set(ids, members)) for ids, members in by_ids.items()]

    def _set(self, ids: tuple[int, ...], files: Sequence[DataFile]) -> EqualitySet:
        key = tuple(sorted(file.file_path for file in files))
        with self._lock:
            if key not in self._sets:
                job = self._job
                tables = [read_equality_deletes(job.io, file, job.known, name_mapping=job.name_mapping) for file in files]
                types = [field.type for field in equality_schema(job.known, ids).fields]
                self._sets[key] = EqualitySet(types, pa.concat_tables(tables).columns)
            return self._sets[key]


def _deleted(
    batch: pa.RecordBatch,
    schema: Schema,
    deletes: Sequence[RoaringBitmap | Positions],
    tests: Sequence[tuple[tuple[int, ...], EqualitySet]],
) -> np.ndarray[Any, Any]:
    deleted = np.zeros(batch.num_rows, dtype=bool)
    if deletes:
        at = batch.column(next(i for i, f in enumerate(schema.fields) if f.id == POS.id)).to_numpy(zero_copy_only=False)
        for part in deletes:
            deleted |= part.contains(at) if isinstance(part, RoaringBitmap) else np.isin(at, part)
    for ids, rows in tests:
        deleted |= rows.mask([column_of(batch, schema, field_id) for field_id in ids])
    return deleted


def _shown(job: ReadJob, task: FileScanTask, batch: pa.RecordBatch, schema: Schema, deleted: np.ndarray[Any, Any]) -> list[pa.Array]:
    places = {field.id: i for i, field in enumerate(schema.fields)}
    if not job.read.fields and not job.metadata_columns:
        return [pa.nulls(batch.num_rows, pa.bool_())] if job.arrow_schema.names == [ROW_COLUMN] else []
    arrays = []
    for place, field in enumerate(job.read.fields):
        whole = job.schema.field(field.id).type
        array = widened(batch.column(places[field.id]), schema.fields[places[field.id]].type, whole)
        arrays.append(spark_array(array, whole, job.arrow_schema.field(place).type))
    for name, target in zip(job.metadata_columns, list(job.arrow_schema)[len(arrays) :], strict=False):
        if name == DELETED.name:
            arrays.append(pa.array(deleted))
        elif name == PARTITION:
            arrays.append(_partition(job.metadata, task, batch.num_rows, target.type))
        else:
            arrays.append(batch.column(places[_FIELDS[name].id]).cast(target.type))
    return arrays


def _partition(metadata: TableMetadata, task: FileScanTask, rows: int, target: pa.DataType) -> pa.Array:
    union = union_partition_type(metadata)
    values = coercion(metadata.specs_by_id[task.spec_id], union)(task.data_file.partition)
    if not union.fields:
        return pa.nulls(rows, pa.struct([]))
    parts = [
        spark_array(constant_array(field.type, value, rows), field.type, target.field(i).type)
        for i, (field, value) in enumerate(zip(union.fields, values, strict=True))
    ]
    return pa.StructArray.from_arrays(parts, fields=[target.field(i) for i in range(target.num_fields)])


def spark_array(array: pa.Array, type_: Type, target: pa.DataType) -> pa.Array:
    """A table array as Spark takes it: uuids as text, fixed as binary, nanosecond timestamps cut to microseconds, times as nanoseconds,
    decimals as they are or as unscaled numbers."""
    if array.type == target:
        return array
    match type_:
        case UUIDType():
            return pa.array([None if v is None else str(v) for v in internal_values(type_, array)], target)
        case StructType(fields=fields):
            parts = [spark_array(array.field(i), f.type, target.field(i).type) for i, f in enumerate(fields)]
            mask = array.is_null() if array.null_count else None
            return pa.StructArray.from_arrays(parts, fields=[target.field(i) for i in range(target.num_fields)], mask=mask)
        case ListType(element=element):
            values = spark_array(array.values, element, target.value_type)
            return _rebuilt(array, target, values)
        case MapType(key=key, value=value):
            keys = spark_array(array.keys, key, target.key_type)
            items = spark_array(array.items, value, target.item_type)
            return _rebuilt(array, target, pa.StructArray.from_arrays([keys, items], fields=[target.key_field, target.item_field]))
        case DecimalType() if pa.types.is_int64(target):
            return _unscaled(array)
        case TimestampNanoType() | TimestamptzNanoType():
            return _micros(array).cast(target)
        case _:
            return array.cast(target)


def _unscaled(array: pa.Decimal128Array) -> pa.Array:
    """The unscaled values of decimals of at most 18 digits: the lower half of each."""
    validity, values = array.buffers()
    numbers = np.frombuffer(values, "<i8", 2 * (array.offset + len(array)))[::2]
    return pa.Array.from_buffers(pa.int64(), len(array), [validity, pa.py_buffer(np.ascontiguousarray(numbers))], offset=array.offset)


def _micros(array: pa.Array) -> pa.Array:
    """Floor of nanoseconds to microseconds, before 1970 too."""
    numbers = array.cast(pa.int64())
    filled = numbers.fill_null(0).to_numpy(zero_copy_only=False) // 1000
    return pa.array(filled, pa.int64(), mask=None if not array.null_count else array.is_null().to_numpy(zero_copy_only=False))


def _rebuilt(array: pa.Array, target: pa.DataType, child: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(
        target, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[child]
    )
