"""Data files rewritten as fewer or other files, in Arrow: deletes applied, order and row lineage kept. Nothing is committed here.

Runs in the driver and in executors' tasks, so it imports only what tasks have.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from icesql.expr.tree import TRUE
from icesql.io.data.writer import DataFileWriter, default_format
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import LINEAGE
from icesql.spec.partitioning import PartitionSpec, partition_key
from icesql.spec.paths import partition_path
from icesql.spec.schema import Schema
from icesql.table.maintenance.rewrite_plan import FileGroup, pack
from icesql.table.manifests.location_provider import LocationProvider, location_provider
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.scan.tasks import FileScanTask
from icesql.table.write.arrow_rows import by_partition
from icesql.table.write.written_files import removed_if_it_fails


def carried_schema(metadata: TableMetadata) -> Schema:
    """The columns a rewritten row takes along: in version 3 its identity too. Spec: "Row Lineage"."""
    if metadata.format_version < 3:
        return metadata.schema
    return replace(metadata.schema, fields=(*metadata.schema.fields, *LINEAGE))


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """How files are written: into ``spec_id``, up to ``target_file_size_bytes``. ``operation_id`` is part of every file name."""

    io: FileIO
    metadata: TableMetadata
    spec_id: int
    target_file_size_bytes: int
    operation_id: str

    @property
    def spec(self) -> PartitionSpec:
        return self.metadata.specs_by_id[self.spec_id]

    def write(self, tasks: Sequence[FileScanTask]) -> list[DataFile]:
        """The tasks' live rows in new files. If it fails, what was written is removed."""
        writer = _Writers(self)
        reader = TaskReader(self.io, self.metadata, self.metadata.schema, carried_schema(self.metadata))
        try:
            for task in tasks:
                for batch in reader.batches(replace(task, residual=TRUE)):
                    for partition, rows in self._parts(task, batch):
                        writer.write(partition, rows)
            return writer.close()
        except BaseException:
            writer.abort()
            raise

    def _parts(self, task: FileScanTask, batch: pa.RecordBatch) -> Iterator[tuple[tuple[object, ...], pa.Table]]:
        rows = pa.Table.from_batches([batch])
        if task.spec_id == self.spec_id:
            yield task.data_file.partition, rows
        else:
            yield from by_partition(rows, self.metadata.schema, self.spec)


class _Writers:
    """One open writer a partition."""

    def __init__(self, compaction: Compaction) -> None:
        self._job = compaction
        self._schema = carried_schema(compaction.metadata)
        self._provider, self._numbers, self._task_id = location_provider(compaction.metadata), itertools.count(1), uuid.uuid4().hex[:12]
        self._open: dict[tuple[object, ...], DataFileWriter] = {}

    def write(self, partition: tuple[object, ...], rows: pa.Table) -> None:
        key = partition_key(partition)
        if key not in self._open:
            self._open[key] = self._begin(partition)
        self._open[key].write(rows)

    def _begin(self, partition: tuple[object, ...]) -> DataFileWriter:
        job = self._job
        file_format = default_format(job.metadata.properties).lower()
        folder = partition_path(job.spec, job.metadata.schema, partition) if job.spec.fields else ""
        name = partial(next_location, self._provider, folder, f"{self._task_id}-{job.operation_id}", file_format, self._numbers)
        return DataFileWriter(
            name, self._schema, job.metadata.properties, job.spec_id, partition, 0, file_format, io=job.io,
            target_size_bytes=job.target_file_size_bytes,
        )  # fmt: skip

    def close(self) -> list[DataFile]:
        with removed_if_it_fails(self._job.io) as done:
            while self._open:
                key = next(iter(self._open))
                done += self._open[key].close()
                del self._open[key]
        return done

    def abort(self) -> None:
        for writer in self._open.values():
            writer.abort()


def next_location(provider: LocationProvider, folder: str, suffix: str, file_format: str, numbers: Iterator[int]) -> str:
    return provider.data_file(f"{next(numbers):05d}-{suffix}.{file_format}", folder)


def parts_of(group: FileGroup[FileScanTask]) -> list[list[FileScanTask]]:
    """The group cut into parts of about one output file each, which can be written side by side."""
    if group.expected_files == 1:
        return [list(group.tasks)]
    return pack(group.tasks, _size, group.split_bytes, len(group.tasks))


def _size(task: FileScanTask) -> int:
    return task.data_file.file_size_in_bytes


Writer = Callable[[FileGroup[FileScanTask]], list[DataFile]]
