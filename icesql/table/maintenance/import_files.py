"""add_files as an operation: existing data files become part of a table without being copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType

from icesql.errors import InvalidArgumentError
from icesql.io.data.files import data_file_of
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.name_mapping import mapping_for, name_mapping_to_json
from icesql.spec.properties import DEFAULT_NAME_MAPPING
from icesql.spec.snapshots import MAIN
from icesql.table.maintenance.import_source import SourcePartition, check_filter, compatible_spec, files_of, matching
from icesql.table.snapshot.known_files import already_in_table, one_spelling
from icesql.table.table import Table
from icesql.table.write.arrow_import import name_mapping

_THREADS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """A file to add, and its partition."""

    location: str
    file_format: str
    spec_id: int
    partition: tuple[object, ...]


Reader = Callable[[Sequence[ImportedFile]], list[DataFile]]


@dataclass(frozen=True, kw_only=True)
class ImportFiles:
    """``partition_columns``: of a source that is a table, ``None`` for a folder's own. ``reader`` reads the files' metrics.

    ``count_partitions``: whether the snapshot's summary tells how many partitions changed. ``branch``: ``None`` for main.
    """

    table: Table
    partitions: Sequence[SourcePartition]
    partition_columns: tuple[str, ...] | None = None
    partition_filter: Mapping[str, str] = field(default_factory=dict)
    check_duplicates: bool = True
    parallelism: int = 1
    count_partitions: bool = False
    branch: str | None = None

    def files(self) -> list[ImportedFile]:
        """Raises InvalidArgumentError where the partitions do not fit the table, ValidationError for files that it has already."""
        names = self.partition_columns
        if names is None:
            names = self.partitions[0].names if self.partitions else ()
        chosen = (self.table.io, self.table.metadata, self.table.name, self.partitions, names, self.partition_filter)
        files = chosen_files(*chosen, may_be_none=self._is_of_a_table)
        if self.check_duplicates:
            self._check_new(files)
        return files

    @property
    def _is_of_a_table(self) -> bool:
        return self.partition_columns is not None

    def _check_new(self, files: Sequence[ImportedFile]) -> None:
        held = {one_spelling(path) for path in self.table.scan(ref=self.branch).plan_files().paths}
        known = [file.location for file in files if one_spelling(file.location) in held]
        if known:
            raise already_in_table(known)

    def commit(self, files: Sequence[ImportedFile], reader: Reader | None = None) -> int:
        """Read the metrics and append. Returns how many files were added; of a folder without any nothing is committed."""
        if not files and not self._is_of_a_table:
            return 0
        read = reader or (lambda chosen: read_in_threads(self.table.io, self.table.metadata, chosen, self.parallelism))
        append = self.table.new_append().append_files(read(files)).to_branch(self.branch or MAIN)
        if self.check_duplicates:
            append.validate_files_are_new()
        if files and not self.count_partitions and self.table.metadata.format_version > 1:
            append.without_partition_counts()
        append.commit()
        return len(files)


def chosen_files(
    io: FileIO,
    metadata: TableMetadata,
    table_name: str,
    partitions: Sequence[SourcePartition],
    partition_columns: Sequence[str],
    partition_filter: Mapping[str, str] = MappingProxyType({}),
    *,
    may_be_none: bool = False,
) -> list[ImportedFile]:
    """The files of the partitions that have the filter's values. Raises InvalidArgumentError where they do not fit the table."""
    spec = compatible_spec(metadata, partition_columns, table_name)
    if spec.fields and metadata.spec.is_unpartitioned:
        raise InvalidArgumentError("Cannot add partitioned files to an unpartitioned table")
    check_filter(spec, partition_filter, table_name)
    chosen = matching(partitions, partition_filter, spec, metadata.schema)
    if spec.fields and not chosen and not may_be_none:
        raise InvalidArgumentError(f"Cannot find any matching partitions in table {table_name}")
    return [
        ImportedFile(location=location, file_format=partition.file_format, spec_id=spec.spec_id, partition=values)
        for partition, values in chosen
        for location in files_of(io, partition)
    ]


def ensure_name_mapping(table: Table) -> None:
    """Commit a name mapping if the table has none: columns of files without field ids are matched by it."""
    if DEFAULT_NAME_MAPPING not in table.properties:
        table.update_properties().set(DEFAULT_NAME_MAPPING, name_mapping_to_json(mapping_for(table.schema))).commit()


def read_in_threads(io: FileIO, metadata: TableMetadata, files: Sequence[ImportedFile], parallelism: int) -> list[DataFile]:
    """The DataFile values of files, in order, read by several threads: reading footers is mostly waiting."""
    with ThreadPoolExecutor(max(parallelism, min(_THREADS, len(files))), "icesql-import") as pool:
        return list(pool.map(lambda file: read_one(io, metadata, file), files))


def read_one(io: FileIO, metadata: TableMetadata, file: ImportedFile) -> DataFile:
    """Metrics from the file's own footer. Raises NotFoundError, CorruptMetadataError."""
    return data_file_of(
        io, file.location, metadata.schema, file_format=file.file_format, spec_id=file.spec_id, partition=file.partition,
        properties=metadata.properties, name_mapping=name_mapping(metadata),
    )  # fmt: skip
