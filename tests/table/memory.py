"""Table operations over one pointer in memory, and small values that tests of change are made of."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from icesql.errors import AlreadyExistsError, CommitFailedError, CommitStateUnknownError, NotFoundError
from icesql.io.metadata_files import read_metadata, write_metadata
from icesql.io.storage.file_systems import LocalFileIO
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MetadataLogEntry
from icesql.spec.transforms import IDENTITY
from icesql.spec.types import LongType, NestedField, StringType
from icesql.spec.values.binary import to_bytes
from icesql.table.metadata.create import new_metadata
from icesql.table.operations import TableVersion

SCHEMA = Schema((NestedField(1, "id", LongType(), True), NestedField(2, "data", StringType()), NestedField(3, "p", LongType())))
BY_P = PartitionSpec(fields=(PartitionField(source_ids=(3,), field_id=1000, transform=IDENTITY, name="p"),))


class MemoryFileIO:
    """The part of a FileIO that commits use, over a dictionary."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def read(self, location: str) -> bytes:
        try:
            return self.files[location]
        except KeyError:
            raise NotFoundError(f"File does not exist: {location}") from None

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        if not overwrite and location in self.files:
            raise AlreadyExistsError(f"Cannot write file: it exists: {location}")
        self.files[location] = data

    def exists(self, location: str) -> bool:
        return location in self.files

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        for location in locations:
            self.files.pop(location, None)
        return []


class MemoryOperations:
    """One table; metadata files are real, the pointer is not. ``fail_next`` lists errors that the next commits raise."""

    def __init__(self, folder: Path, io: FileIO | None = None) -> None:
        self.io: FileIO = io or LocalFileIO()
        self.name = "memory.db.t"
        self.folder = folder
        self.version: TableVersion | None = None
        self.fail_next: list[Exception] = []
        self.commits = 0
        self._count = itertools.count()

    def load(self) -> TableVersion:
        if self.version is None:
            raise NotFoundError(f"Cannot find table: {self.name}")
        return self.version

    def commit(self, base: TableVersion | None, metadata: TableMetadata) -> TableVersion:
        if base is not None and base.metadata_location is not None:
            entry = MetadataLogEntry(metadata_file=base.metadata_location, timestamp_ms=base.metadata.last_updated_ms)
            metadata = replace(metadata, metadata_log=(*metadata.metadata_log, entry))
        location = f"{metadata.location}/metadata/{next(self._count):05d}-test.metadata.json"
        error = self.fail_next.pop(0) if self.fail_next else None
        if error is not None and not isinstance(error, CommitStateUnknownError):
            raise error
        held = None if self.version is None else self.version.metadata_location
        if base is None and held is not None:
            raise AlreadyExistsError(f"Cannot create table: Table already exists: {self.name}")
        if base is not None and base.metadata_location != held:
            raise CommitFailedError("Cannot commit changes based on stale table metadata")
        write_metadata(self.io, location, metadata)
        self.version = TableVersion(read_metadata(self.io, location, use_cache=False), location)
        self.commits += 1
        if error is not None:
            raise error
        return self.version

    @property
    def metadata(self) -> TableMetadata:
        return self.load().metadata


def memory_table(name: str, *, spec: PartitionSpec = UNPARTITIONED, version: int = 2) -> tuple[MemoryOperations, MemoryFileIO]:
    """A table no byte of which is on disk. ``name`` must be unique in the run: immutable files are cached by location."""
    io = MemoryFileIO()
    operations = MemoryOperations(Path(name), cast(FileIO, io))
    properties = {"commit.retry.min-wait-ms": "1"}
    operations.commit(None, new_metadata(SCHEMA, spec=spec, location=f"mem://{name}/t", format_version=version, properties=properties))
    return operations, io


def new_table(
    folder: Path, *, schema: Schema = SCHEMA, spec: PartitionSpec = UNPARTITIONED, version: int = 2, io: FileIO | None = None
) -> MemoryOperations:
    """An empty table whose commits retry at once."""
    operations = MemoryOperations(folder, io)
    properties = {"commit.retry.min-wait-ms": "1"}
    metadata = new_metadata(schema, spec=spec, location=str(folder / "t"), format_version=version, properties=properties)
    operations.commit(None, metadata)
    return operations


def data_file(
    name: str, partition: Sequence[object] = (), *, records: int = 10, ids: tuple[int, int] | None = None, spec_id: int = 0
) -> DataFile:
    """A data file that exists on paper; ``ids`` are the bounds of column ``id``."""
    bounds = {} if ids is None else {1: ids}
    return DataFile(
        file_path=f"/data/{name}.parquet",
        file_format="parquet",
        spec_id=spec_id,
        partition=tuple(partition),
        record_count=records,
        file_size_in_bytes=100,
        value_counts={1: records} if bounds else {},
        null_value_counts={1: 0} if bounds else {},
        lower_bounds={key: to_bytes(LongType(), low) for key, (low, _) in bounds.items()},
        upper_bounds={key: to_bytes(LongType(), high) for key, (_, high) in bounds.items()},
    )


def position_deletes(name: str, partition: Sequence[object] = (), *, of: DataFile | None = None, records: int = 1) -> DataFile:
    return DataFile(
        content=FileContent.POSITION_DELETES,
        file_path=f"/data/{name}.parquet",
        file_format="parquet",
        partition=tuple(partition) if of is None else of.partition,
        record_count=records,
        file_size_in_bytes=50,
        referenced_data_file=None if of is None else of.file_path,
    )


def equality_deletes(name: str, partition: Sequence[object] = (), *, records: int = 1) -> DataFile:
    return replace(position_deletes(name, partition, records=records), content=FileContent.EQUALITY_DELETES, equality_ids=(1,))


def deletion_vector(name: str, of: DataFile, *, records: int = 1) -> DataFile:
    return replace(
        position_deletes(name, of=of, records=records),
        file_path=f"/data/{name}.puffin",
        file_format="puffin",
        content_offset=4,
        content_size_in_bytes=40,
    )
