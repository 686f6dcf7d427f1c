"""What write tasks run: Arrow batches in, data files written straight to their final names, DataFile values out.

Runs in Python workers of executors, so it imports only the standard library, pyarrow and the lower rooms.
"""

from __future__ import annotations

import itertools
import pickle
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icesql.io.arrow.types import internal_values, to_arrow_type
from icesql.io.data.writer import DataFileWriter
from icesql.io.storage.files import FileIO
from icesql.spark.workers.task_imports import archives_forgotten
from icesql.spark.write.to_table_arrow import table_array, table_batch
from icesql.spec.files import DataFile
from icesql.spec.partitioning import PartitionSpec, partition_key
from icesql.spec.paths import partition_path
from icesql.spec.schema import Schema
from icesql.spec.types import DecimalType, Type, UnknownType
from icesql.table.manifests.location_provider import LocationProvider

RESULT_COLUMN = "files"
RESULT_SCHEMA = pa.schema([(RESULT_COLUMN, pa.binary())])


@dataclass(frozen=True, kw_only=True)
class WriteJob:
    """One write, as its tasks need it. The first columns of a batch are ``schema``'s; then come the partition values, one a spec field.

    ``clustered``: rows of one partition are together within a task, so one file is open at a time.
    ``operation_id`` is part of every file's name, so that files of a failed write can be found.
    """

    io: FileIO
    locations: LocationProvider
    schema: Schema
    table_schema: Schema
    spec: PartitionSpec
    partition_types: tuple[Type, ...]
    file_format: str
    properties: Mapping[str, str] = field(default_factory=dict)
    sort_order_id: int | None = None
    sorted_ids: tuple[int, ...] = ()
    target_file_size_bytes: int
    clustered: bool = True
    operation_id: str


def write_task(
    job: WriteJob, batches: Iterable[pa.RecordBatch], told: Callable[[list[DataFile]], None] = lambda files: None
) -> Iterator[pa.RecordBatch]:
    """The body of a ``mapInArrow`` task. A task that fails removes the files it wrote. ``told`` hears of the files."""
    with archives_forgotten():
        files = write_batches(job, batches)
    told(files)
    if files:
        yield pa.record_batch([pa.array([pickle.dumps(files)], pa.binary())], schema=RESULT_SCHEMA)


def write_batches(job: WriteJob, batches: Iterable[pa.RecordBatch]) -> list[DataFile]:
    """Write all batches; the files, in the order they were begun."""
    writer = PartitionedWriter(job)
    try:
        for batch in batches:
            writer.write(batch)
        return writer.close()
    except BaseException:
        writer.abort()
        raise


class PartitionedWriter:
    """Routes rows to one open file a partition, and begins a new file when one reaches the target size."""

    def __init__(self, job: WriteJob) -> None:
        self._job = job
        self._width = len(job.schema.fields)
        self._task_id = uuid.uuid4().hex[:12]
        self._numbers = itertools.count(1)
        self._open: dict[tuple[object, ...], DataFileWriter] = {}
        self._done: list[DataFile] = []
        self._together: tuple[tuple[object, ...], ...] = ()  # what the partitions of the open files have in common

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows == 0:
            return
        data = pa.RecordBatch.from_arrays(batch.columns[: self._width], schema=pa.schema(list(batch.schema)[: self._width]))
        rows = table_batch(data, self._job.schema)
        if not self._job.spec.fields:
            self._write_rows((), rows)
            return
        keys = batch.columns[self._width :]
        for start, length, partition in self._runs(keys, batch.num_rows):
            self._write_rows(partition, rows.slice(start, length))

    def _runs(self, keys: list[pa.Array], count: int) -> Iterator[tuple[int, int, tuple[object, ...]]]:
        """(start, length, partition tuple) of each run of rows with equal partition values."""
        changes = np.zeros(count, dtype=bool)
        changes[0] = True
        for key in keys:
            changes[1:] |= _changes(key)
        starts = np.flatnonzero(changes)
        ends = np.append(starts[1:], count)
        first = pa.array(starts)
        columns = [partition_values(type_, key.take(first)) for type_, key in zip(self._job.partition_types, keys, strict=True)]
        for start, end, partition in zip(starts.tolist(), ends.tolist(), zip(*columns, strict=True), strict=True):
            yield start, end - start, partition

    def _write_rows(self, partition: tuple[object, ...], rows: pa.RecordBatch) -> None:
        key = partition_key(partition)
        together = tuple(part[:2] for part in key)  # Spark sorts the two zeros as one value, so rows of both come mixed
        if self._job.clustered and together != self._together:
            self._close_all()
            self._together = together
        writer = self._open.get(key)
        if writer is None:
            writer = self._open[key] = self._begin(partition)
        writer.write(rows)

    def _begin(self, partition: tuple[object, ...]) -> DataFileWriter:
        job = self._job
        folder = partition_path(job.spec, job.table_schema, partition) if job.spec.fields else ""

        def next_location() -> str:
            name = f"{next(self._numbers):05d}-{self._task_id}-{job.operation_id}.{job.file_format}"
            return job.locations.data_file(name, folder)

        return DataFileWriter(
            next_location, job.schema, job.properties, job.spec.spec_id, partition, job.sort_order_id, job.file_format,
            io=job.io, sorted_ids=job.sorted_ids, target_size_bytes=job.target_file_size_bytes,
        )  # fmt: skip

    def _close_all(self) -> None:
        while self._open:
            _, writer = self._open.popitem()
            self._done.extend(writer.close())

    def close(self) -> list[DataFile]:
        self._close_all()
        return self._done

    def abort(self) -> None:
        """Close what is open and delete everything this writer began."""
        for writer in self._open.values():
            writer.abort()
        self._open.clear()
        self._job.io.delete_many([file.file_path for file in self._done])


def _changes(key: pa.Array) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Where a value differs from the one before; nulls equal nulls, -0.0 is not 0.0."""
    if pa.types.is_floating(key.type):
        key = key.view(pa.int64() if pa.types.is_float64(key.type) else pa.int32())
    before, after = key.slice(0, len(key) - 1), key.slice(1)
    differ = pc.fill_null(pc.not_equal(after, before), False)
    if key.null_count:
        differ = pc.or_(differ, pc.not_equal(after.is_null(), before.is_null()))
    return np.asarray(differ.to_numpy(zero_copy_only=False), dtype=bool)


def partition_values(type_: Type, values: pa.Array) -> list[object]:
    """Arrow values of a partition column, as Spark sends them, in internal form."""
    if isinstance(type_, UnknownType) or values.null_count == len(values):
        return [None] * len(values)  # a void field has no values, and its source column may be gone
    if isinstance(type_, DecimalType):
        return list(values.to_pylist())  # a truncated value may have one digit more than its column
    return internal_values(type_, table_array(values, type_, to_arrow_type(type_, with_ids=False)))
