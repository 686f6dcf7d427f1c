"""Writing manifests: entries in, one file and its ManifestFile out, with counts and partition summaries gathered on the way. Spec:
"Manifests"."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.io.avro.container import AvroFileBuilder
from icesql.io.manifests.encode import data_file_encoder, encode_entry
from icesql.io.manifests.schemas import entry_schema_text
from icesql.io.storage.files import FileIO
from icesql.spec.files import EntryStatus, FieldSummary, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.json.specs import spec_to_json
from icesql.spec.json.types import schema_to_json
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, FloatType, StructType, Type
from icesql.spec.values.binary import to_bytes

UNASSIGNED_SEQUENCE_NUMBER = -1  # until the manifest list is written
DEFAULT_COMPRESSION = "deflate"
DEFAULT_TARGET_SIZE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEntry:
    """A manifest entry whose ``data_file`` record is bytes already, of the schema of the manifest it goes into."""

    status: EntryStatus
    snapshot_id: int | None
    sequence_number: int | None
    file_sequence_number: int | None
    record: bytes
    partition: tuple[object, ...]
    record_count: int


class PartitionSummary:
    """Gathers the FieldSummary of each partition field."""

    def __init__(self, partition: StructType) -> None:
        self._types: list[Type] = [field.type for field in partition.fields]
        self._is_float = [isinstance(type_, (FloatType, DoubleType)) for type_ in self._types]
        self._seen: set[tuple[object, ...]] = set()

    def add(self, partition: tuple[object, ...]) -> None:
        if any(self._is_float):  # equal keys must be equal bounds: -0.0 is below 0.0
            partition = tuple(
                (v, math.copysign(1.0, v)) if f and isinstance(v, float) else v for v, f in zip(partition, self._is_float, strict=True)
            )
        self._seen.add(partition)

    def summaries(self) -> tuple[FieldSummary, ...]:
        columns: list[set[Any]] = [set() for _ in self._types]
        for partition in self._seen:
            for column, value in zip(columns, partition, strict=True):
                column.add(value)
        return tuple(map(self._summary, columns, self._types, self._is_float))

    @staticmethod
    def _summary(values: set[Any], type_: Type, is_float: bool) -> FieldSummary:
        contains_null = None in values
        values.discard(None)
        known = [value for value in values if not (is_float and math.isnan(value[0]))]
        contains_nan = len(known) < len(values)
        if not known:
            return FieldSummary(contains_null=contains_null, contains_nan=contains_nan)
        low, high = min(known), max(known)
        if is_float:
            low, high = low[0], high[0]
        return FieldSummary(
            contains_null=contains_null, contains_nan=contains_nan, lower_bound=to_bytes(type_, low), upper_bound=to_bytes(type_, high)
        )


class ManifestWriter:
    """One manifest. ``add`` entries, then ``close`` once; nothing is written before."""

    def __init__(
        self,
        io: FileIO,
        location: str,
        *,
        format_version: int,
        spec: PartitionSpec,
        schema: Schema,
        content: ManifestContent,
        snapshot_id: int | None,
        compression: str = DEFAULT_COMPRESSION,
        sequence_number: int | None = None,
        first_row_id: int | None = None,
    ) -> None:
        if format_version == 1 and content is ManifestContent.DELETES:
            raise InvalidArgumentError("Cannot write delete manifest: version 1 tables have no delete files")
        partition = spec.partition_type(schema)
        self._io, self.location, self._version, self._content = io, location, format_version, content
        self._spec_id, self._snapshot_id = spec.spec_id, snapshot_id
        self._sequence_number, self._first_row_id = sequence_number, first_row_id
        self._encode = data_file_encoder(format_version, partition)
        self._summary = PartitionSummary(partition)
        self._starts: dict[tuple[int | None, ...], bytes] = {}
        self._files, self._rows = [0, 0, 0], [0, 0, 0]  # by status
        self._min_sequence_number: int | None = None
        self._builder = AvroFileBuilder(
            entry_schema_text(format_version, partition), _header(format_version, spec, schema, content), compression or DEFAULT_COMPRESSION
        )

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._builder.size

    def add(self, entry: ManifestEntry) -> None:
        """Raises InvalidArgumentError for an entry the format version cannot hold."""
        file = entry.data_file
        self._add(
            entry.status, entry.snapshot_id, entry.sequence_number, entry.file_sequence_number,
            self._encode(file), file.partition, file.record_count,
        )  # fmt: skip

    def add_raw(self, entry: RawEntry) -> None:
        """Raises InvalidArgumentError for an entry the format version cannot hold."""
        self._add(
            entry.status, entry.snapshot_id, entry.sequence_number, entry.file_sequence_number,
            entry.record, entry.partition, entry.record_count,
        )  # fmt: skip

    def _add(
        self,
        status: EntryStatus,
        snapshot_id: int | None,
        sequence_number: int | None,
        file_sequence_number: int | None,
        record: bytes,
        partition: tuple[object, ...],
        record_count: int,
    ) -> None:
        if self._version == 1 and snapshot_id is None:
            snapshot_id = self._snapshot_id
        self._builder.add(self._entry_start(status, snapshot_id, sequence_number, file_sequence_number) + record)
        self._summary.add(partition)
        self._files[status] += 1
        self._rows[status] += record_count
        if status is not EntryStatus.DELETED and sequence_number is not None:
            known = self._min_sequence_number
            self._min_sequence_number = sequence_number if known is None else min(known, sequence_number)

    def _entry_start(self, status: EntryStatus, snapshot_id: int | None, number: int | None, file_number: int | None) -> bytes:
        """The bytes before the data file; they are the same for many entries."""
        key = (status, snapshot_id, number, file_number)
        start = self._starts.get(key)
        if start is None:
            start = self._starts[key] = encode_entry(self._version, status, snapshot_id, number, file_number, b"")
        return start

    def close(self) -> ManifestFile:
        """Write the file. Sequence numbers that are not known yet are ``UNASSIGNED_SEQUENCE_NUMBER`` until the list is written."""
        data = self._builder.finish()
        self._io.write(self.location, data)
        sequence_number = UNASSIGNED_SEQUENCE_NUMBER if self._sequence_number is None else self._sequence_number
        if self._version == 1:
            sequence_number = 0
        existing, added, deleted = EntryStatus.EXISTING, EntryStatus.ADDED, EntryStatus.DELETED
        return ManifestFile(
            manifest_path=self.location,
            manifest_length=len(data),
            partition_spec_id=self._spec_id,
            content=self._content,
            sequence_number=sequence_number,
            min_sequence_number=sequence_number if self._version == 1 or self._min_sequence_number is None else self._min_sequence_number,
            added_snapshot_id=self._snapshot_id,
            added_files_count=self._files[added],
            existing_files_count=self._files[existing],
            deleted_files_count=self._files[deleted],
            added_rows_count=self._rows[added],
            existing_rows_count=self._rows[existing],
            deleted_rows_count=self._rows[deleted],
            partitions=self._summary.summaries(),
            first_row_id=self._first_row_id,
        )


def _header(format_version: int, spec: PartitionSpec, schema: Schema, content: ManifestContent) -> dict[str, str]:
    """Kept: a table's commits write the same again and again."""
    try:
        hash(schema)
    except TypeError:  # a default that is a list or an object
        return _new_header(format_version, spec, schema, content)
    return _known_header(format_version, spec, schema, content)


def _new_header(format_version: int, spec: PartitionSpec, schema: Schema, content: ManifestContent) -> dict[str, str]:
    fields = spec_to_json(spec)["fields"]
    header = {
        "schema": json.dumps(schema_to_json(schema)),
        "schema-id": str(schema.schema_id),
        "partition-spec": json.dumps(fields),
        "partition-spec-id": str(spec.spec_id),
        "format-version": str(format_version),
    }
    if format_version > 1:
        header["content"] = content.name.lower()
    return header


_known_header = lru_cache(maxsize=256)(_new_header)


def write_manifest(
    io: FileIO,
    location: str,
    *,
    format_version: int,
    spec: PartitionSpec,
    schema: Schema,
    content: ManifestContent,
    snapshot_id: int | None,
    entries: Iterable[ManifestEntry],
    compression: str = DEFAULT_COMPRESSION,
    sequence_number: int | None = None,
    first_row_id: int | None = None,
) -> ManifestFile:
    """Write one manifest. ``sequence_number=None`` leaves it to the manifest list. Raises InvalidArgumentError, UnsupportedError."""
    writer = ManifestWriter(
        io, location, format_version=format_version, spec=spec, schema=schema, content=content, snapshot_id=snapshot_id,
        compression=compression, sequence_number=sequence_number, first_row_id=first_row_id,
    )  # fmt: skip
    for entry in entries:
        writer.add(entry)
    return writer.close()


def write_manifest_raw(
    io: FileIO,
    location: str,
    *,
    format_version: int,
    spec: PartitionSpec,
    schema: Schema,
    content: ManifestContent,
    snapshot_id: int | None,
    entries: Iterable[RawEntry],
    compression: str = DEFAULT_COMPRESSION,
) -> ManifestFile:
    """As ``write_manifest``, of entries whose data files are copied as bytes (``ManifestColumns.raw_entry``)."""
    writer = ManifestWriter(
        io,
        location,
        format_version=format_version,
        spec=spec,
        schema=schema,
        content=content,
        snapshot_id=snapshot_id,
        compression=compression,
    )
    for entry in entries:
        writer.add_raw(entry)
    return writer.close()


class RollingManifestWriter:
    """Manifests of about a target size. ``open_next`` makes each writer; entries are ManifestEntry or RawEntry values."""

    def __init__(self, open_next: Callable[[], ManifestWriter], target_size_bytes: int = DEFAULT_TARGET_SIZE_BYTES) -> None:
        self._open_next, self._target = open_next, target_size_bytes
        self._current: ManifestWriter | None = None
        self._written: list[ManifestFile] = []

    def add(self, entry: ManifestEntry | RawEntry) -> None:
        writer = self._current
        if writer is None:
            writer = self._current = self._open_next()
        if isinstance(entry, RawEntry):
            writer.add_raw(entry)
        else:
            writer.add(entry)
        if writer.size >= self._target:
            self._roll()

    def _roll(self) -> None:
        if self._current is not None:
            self._written.append(self._current.close())
            self._current = None

    def close(self) -> list[ManifestFile]:
        self._roll()
        return self._written
