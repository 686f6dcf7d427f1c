"""The tasks of the fallback reader: each reads one data file of any format through ``icesql.io``, applies its deletes, and yields Arrow
batches for Spark.

Runs in Python workers of executors, so it imports only the standard library, pyarrow and the lower rooms.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from icesql.expr.tree import TRUE
from icesql.io.arrow.types import internal_values
from icesql.io.data.files import read_data_file
from icesql.io.deletes.deletion_vectors import read_dv_bitmap
from icesql.io.deletes.files import equality_schema, read_equality_deletes, read_positions
from icesql.io.deletes.roaring import Positions, RoaringBitmap
from icesql.io.storage.files import FileIO
from icesql.spark.workers.task_imports import archives_forgotten
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import DELETED, FILE, LINEAGE, PARTITION, POS, SPEC_ID
from icesql.spec.name_mapping import NameMapping
from icesql.spec.schema import Schema
from icesql.spec.types import (
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
from icesql.table.scan.tasks import FileScanTask

TASK_COLUMN = "__task"
_FIELDS = {field.name: field for field in (FILE, POS, SPEC_ID, *LINEAGE)}


@dataclass(frozen=True, kw_only=True)
class ReadJob:
    """One read, as its tasks need it. ``known`` has every column an equality delete may name; ``arrow_schema`` is what Spark expects:
    the columns of ``schema``, the metadata columns, and then those that each task has one value for."""

    io: FileIO
    schema: Schema
    known: Schema
    metadata: TableMetadata
    metadata_columns: tuple[str, ...]
    name_mapping: NameMapping | None
    arrow_schema: pa.Schema


def read_tasks(job: ReadJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The body of a ``mapInArrow`` task over rows that hold a pickle each: the arguments of ``read_task``."""
    with archives_forgotten():
        for batch in batches:
            for data in batch.column(0).to_pylist():
                yield from read_task(job, *pickle.loads(data))


def read_task(job: ReadJob, task: FileScanTask, left_out: bytes | None = None, values: Sequence[object] = ()) -> Iterator[pa.RecordBatch]:
    """Rows of one file in the columns Spark expects. ``left_out``: a bitmap of rows to leave out. ``values``: of the last columns."""
    equality = [file for file in task.delete_files if file.content is FileContent.EQUALITY_DELETES]
    wanted = _read_schema(job, equality)
    bitmaps, tests = _deletes(job, task, left_out), [_EqualityTest(job, file) for file in equality]
    shows_deleted = DELETED.name in job.metadata_columns
    for batch in read_data_file(
        job.io,
        task.data_file,
        wanted,
        name_mapping=job.name_mapping,
        filter=None if task.residual == TRUE else task.residual,
        constants=identity_constants(job.metadata, task),
        data_sequence_number=task.file_sequence_number or task.data_sequence_number,
    ):
        deleted = _deleted(batch, wanted, bitmaps, tests)
        if not shows_deleted and deleted.any():
            batch, deleted = batch.filter(pa.array(~deleted)), deleted[~deleted]
        if batch.num_rows:
            shown = _shown(job, task, batch, wanted, deleted)
            yield pa.RecordBatch.from_arrays([*shown.columns, *_repeated(job, values, batch.num_rows)], schema=job.arrow_schema)


def _repeated(job: ReadJob, values: Sequence[object], rows: int) -> list[pa.Array]:
    fields = list(job.arrow_schema)[len(job.arrow_schema) - len(values) :]
    return [pa.repeat(pa.scalar(value, field.type), rows) for field, value in zip(fields, values, strict=True)]


def identity_constants(metadata: TableMetadata, task: FileScanTask) -> Mapping[int, object]:
    """Values of identity-partitioned columns, for files that lack them. Spec: "Column Projection"."""
    spec = metadata.specs_by_id[task.spec_id]
    return {f.source_id: value for f, value in zip(spec.fields, task.data_file.partition, strict=True) if f.transform.is_identity}


def _read_schema(job: ReadJob, equality: Sequence[DataFile]) -> Schema:
    """The shown columns, the position, metadata columns that ``icesql.io`` knows, and columns only equality deletes need."""
    fields = list(job.schema.fields)
    present = {field.id for field in fields}
    extra: list[NestedField] = [POS, *(_FIELDS[name] for name in job.metadata_columns if name in _FIELDS)]
    extra += [field for file in equality for field in equality_schema(job.known, file.equality_ids).fields]
    for field in extra:
        if field.id not in present:
            fields.append(NestedField(field.id, field.name if field.id > 2147483000 else f"__{field.id}", field.type))
            present.add(field.id)
    return Schema(tuple(fields))


def _deletes(job: ReadJob, task: FileScanTask, left_out: bytes | None) -> list[RoaringBitmap | Positions]:
    """Deleted positions of each bitmap and position delete file that has any."""
    found: list[RoaringBitmap | Positions] = [] if left_out is None else [RoaringBitmap(left_out)]
    for file in task.delete_files:
        if file.is_deletion_vector:
            found.append(read_dv_bitmap(job.io, file))
        elif file.content is FileContent.POSITION_DELETES:
            found.append(np.unique(read_positions(job.io, file, task.data_file.file_path)))
    return [part for part in found if len(part)]


class _EqualityTest:
    """Which rows an equality delete file deletes; nulls equal nulls. Spec: "Equality Delete Files"."""

    def __init__(self, job: ReadJob, file: DataFile) -> None:
        self._ids = tuple(file.equality_ids)
        columns = equality_schema(job.known, self._ids)
        table = read_equality_deletes(job.io, file, job.known, name_mapping=job.name_mapping)
        self._rows = set(_keys(columns.fields, [table.column(i) for i in range(table.num_columns)]))

    def __call__(self, batch: pa.RecordBatch, schema: Schema) -> np.ndarray[Any, Any]:
        places = {field.id: i for i, field in enumerate(schema.fields)}
        fields = [schema.fields[places[i]] for i in self._ids]
        keys = _keys(fields, [batch.column(places[i]) for i in self._ids])
        return np.fromiter((key in self._rows for key in keys), bool, batch.num_rows)


def _keys(fields: Sequence[NestedField], columns: Sequence[Any]) -> Iterator[tuple[object, ...]]:
    values = [[_comparable(v) for v in internal_values(field.type, column)] for field, column in zip(fields, columns, strict=True)]
    return zip(*values, strict=True)


def _comparable(value: object) -> object:
    return "NaN" if isinstance(value, float) and value != value else value


def _deleted(
    batch: pa.RecordBatch, schema: Schema, deletes: Sequence[RoaringBitmap | Positions], tests: Sequence[_EqualityTest]
) -> np.ndarray[Any, Any]:
    deleted = np.zeros(batch.num_rows, dtype=bool)
    if deletes:
        at = batch.column(next(i for i, f in enumerate(schema.fields) if f.id == POS.id)).to_numpy(zero_copy_only=False)
        for part in deletes:
            deleted |= part.contains(at) if isinstance(part, RoaringBitmap) else np.isin(at, part)
    for test in tests:
        deleted |= test(batch, schema)
    return deleted


def _shown(job: ReadJob, task: FileScanTask, batch: pa.RecordBatch, schema: Schema, deleted: np.ndarray[Any, Any]) -> pa.RecordBatch:
    places = {field.id: i for i, field in enumerate(schema.fields)}
    arrays = [spark_array(batch.column(i), f.type, job.arrow_schema.field(i).type) for i, f in enumerate(job.schema.fields)]
    for name, target in zip(job.metadata_columns, list(job.arrow_schema)[len(arrays) :], strict=False):
        if name == DELETED.name:
            arrays.append(pa.array(deleted))
        elif name == PARTITION:
            arrays.append(_partition(job.metadata, task, batch.num_rows, target.type))
        else:
            arrays.append(batch.column(places[_FIELDS[name].id]).cast(target.type))
    return pa.RecordBatch.from_arrays(arrays, names=job.arrow_schema.names[: len(arrays)])


def _partition(metadata: TableMetadata, task: FileScanTask, rows: int, target: pa.DataType) -> pa.Array:
    from icesql.io.arrow.types import constant_array

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
    """A table array as Spark takes it: uuids as text, fixed as binary, nanosecond timestamps cut to microseconds, times as nanoseconds."""
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
        case TimestampNanoType() | TimestamptzNanoType():
            return _micros(array).cast(target)
    return array.cast(target)


def _micros(array: pa.Array) -> pa.Array:
    """Floor of nanoseconds to microseconds, before 1970 too."""
    numbers = array.cast(pa.int64())
    filled = numbers.fill_null(0).to_numpy(zero_copy_only=False) // 1000
    return pa.array(filled, pa.int64(), mask=None if not array.null_count else array.is_null().to_numpy(zero_copy_only=False))


def _rebuilt(array: pa.Array, target: pa.DataType, child: pa.Array) -> pa.Array:
    return pa.Array.from_buffers(
        target, len(array), array.buffers()[:2], null_count=array.null_count, offset=array.offset, children=[child]
    )
