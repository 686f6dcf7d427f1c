"""Manifest lists: the manifests of a snapshot, with summaries to prune by. Spec: "Manifest Lists", "First Row ID Inheritance"."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError
from icesql.io.avro.container import AvroFileBuilder, AvroHeader, corrupt, read_bytes, read_entries
from icesql.io.avro.decode import DAMAGE, Decoder
from icesql.io.avro.objects import record_decoder
from icesql.io.lru import LruCache
from icesql.io.manifests.encode import encode_long, encode_string, optional_bytes, optional_long
from icesql.io.manifests.schemas import MANIFEST_FILE_IDS, manifest_file_schema_text
from icesql.io.manifests.writer import DEFAULT_COMPRESSION
from icesql.io.storage.files import FileIO
from icesql.io.storage.locations import is_location
from icesql.spec.files import FieldSummary, ManifestContent, ManifestFile

_CACHE_BYTES = 64 * 1024 * 1024
_MANIFEST_BYTES = 800  # about what a ManifestFile holds in memory
_cache: LruCache[Hashable, tuple[ManifestFile, ...]] = LruCache(_CACHE_BYTES, lambda held: 500 + _MANIFEST_BYTES * len(held))


class RepeatedManifests:
    """Manifests by their encoded bytes: the lists of one history repeat most of each other, so each entry is decoded once.

    Threads may share it.
    """

    def __init__(self) -> None:
        self._by_schema: dict[bytes, dict[bytes, tuple[bytes, ManifestFile]]] = {}

    def of(self, header: AvroHeader) -> dict[bytes, tuple[bytes, ManifestFile]] | None:
        """(record, manifest) by path, of records of this schema; ``None`` where records do not begin with the path."""
        fields = header.schema.get("fields") if isinstance(header.schema, dict) else None
        if not fields or fields[0].get("type") != "string":
            return None
        return self._by_schema.setdefault(header.metadata["avro.schema"], {})


def read_manifest_list(
    io: FileIO, location: str, *, use_cache: bool = True, repeated: RepeatedManifests | None = None
) -> tuple[ManifestFile, ...]:
    """The manifests in file order. Readers of many lists pass ``repeated``; those lists are not cached, since they would evict all others.

    Raises NotFoundError, CorruptMetadataError, UnsupportedError (unknown codec).
    """
    if use_cache and (held := _cache.find(location)) is not None:
        return held
    try:
        data = io.read(location)
    except NotFoundError as error:
        raise NotFoundError(f"Cannot read manifest list: File does not exist: {location}", location=location) from error
    except InvalidArgumentError as error:  # the place comes from table metadata
        raise CorruptMetadataError(f"Cannot read manifest list {location}: {error}", location=location) from error
    manifests = parse_manifest_list(data, location, repeated)
    if repeated is None:
        _cache.put(location, manifests)
    return manifests


def parse_manifest_list(data: bytes, location: str, repeated: RepeatedManifests | None = None) -> tuple[ManifestFile, ...]:
    """Raises CorruptMetadataError, UnsupportedError (unknown codec)."""
    records = read_entries(data, location)
    try:
        decode = record_decoder(records.header.schema, MANIFEST_FILE_IDS)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(location, f"not a manifest list: {error!r}") from error
    known = None if repeated is None else repeated.of(records.header)
    read = _entry_reader(decode, records.buffer) if known is None else _repeated_reader(decode, records.buffer, known)
    manifests: list[ManifestFile] = []
    for count, start, end in records.blocks:
        position = start
        for _ in range(count):
            place = position
            try:
                manifest, position = read(position)
                if position > end:
                    raise IndexError("record past the end of its block")
                manifests.append(manifest)
            except (*DAMAGE, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise corrupt(location, f"damaged manifest entry: {error!r}", place) from error
    return tuple(manifests)


_EntryReader = Callable[[int], tuple[ManifestFile, int]]  # from a record's place to its manifest and the place after it


def _entry_reader(decode: Decoder, buffer: bytes) -> _EntryReader:
    def read(position: int) -> tuple[ManifestFile, int]:
        record, position = decode(buffer, position)
        return _manifest(record), position

    return read


def _repeated_reader(decode: Decoder, buffer: bytes, known: dict[bytes, tuple[bytes, ManifestFile]]) -> _EntryReader:
    def read(position: int) -> tuple[ManifestFile, int]:
        path, _ = read_bytes(buffer, position)
        held = known.get(path)
        if held is not None and buffer.startswith(held[0], position):
            return held[1], position + len(held[0])
        record, end = decode(buffer, position)
        manifest = _manifest(record)
        known[path] = (buffer[position:end], manifest)
        return manifest, end

    return read


def _manifest(record: Any) -> ManifestFile:
    find = record.get
    partitions = find(507)
    if not is_location(record[500]):
        raise ValueError(f"manifest path is not a location: {record[500]!r}")
    return ManifestFile(
        manifest_path=record[500],
        manifest_length=record[501],
        partition_spec_id=record[502],
        content=ManifestContent(find(517) or 0),
        sequence_number=find(515) or 0,
        min_sequence_number=find(516) or 0,
        added_snapshot_id=find(503),
        added_files_count=find(504),
        existing_files_count=find(505),
        deleted_files_count=find(506),
        added_rows_count=find(512),
        existing_rows_count=find(513),
        deleted_rows_count=find(514),
        partitions=None if partitions is None else tuple(map(_summary, partitions)),
        key_metadata=find(519),
        first_row_id=find(520),
    )


def _summary(record: Any) -> FieldSummary:
    return FieldSummary(contains_null=record[509], contains_nan=record.get(518), lower_bound=record.get(510), upper_bound=record.get(511))


def write_manifest_list(
    io: FileIO,
    location: str,
    *,
    format_version: int,
    snapshot_id: int,
    parent_snapshot_id: int | None,
    sequence_number: int,
    manifests: Iterable[ManifestFile],
    next_row_id: int | None = None,
    compression: str = DEFAULT_COMPRESSION,
) -> int | None:
    """Write a list; returns the table's next row id after it (version 3), else ``None``.

    Manifests without a sequence number get the snapshot's. In version 3 a data manifest without a first row id gets the next one, and
    uses up
    as many as it has added and existing rows. Raises InvalidArgumentError for a manifest the format version cannot hold.
    """
    if format_version >= 3 and next_row_id is None:
        raise InvalidArgumentError("Cannot write manifest list: version 3 needs the next row id")
    first_row_id, written = next_row_id, []
    for manifest in manifests:
        assigned, next_row_id = _assign(manifest, format_version, snapshot_id, sequence_number, next_row_id)
        written.append(assigned)
    builder = AvroFileBuilder(
        manifest_file_schema_text(format_version),
        _header(format_version, snapshot_id, parent_snapshot_id, sequence_number, first_row_id),
        compression,
    )
    for manifest in written:
        builder.add(_encode(manifest, format_version))
    io.write(location, builder.finish())
    _cache.put(location, tuple(written))
    return next_row_id if format_version >= 3 else None


def _assign(
    manifest: ManifestFile, format_version: int, snapshot_id: int, sequence_number: int, next_row_id: int | None
) -> tuple[ManifestFile, int | None]:
    if format_version == 1:
        if manifest.content is not ManifestContent.DATA:
            raise InvalidArgumentError("Cannot store delete manifests in a v1 table")
        return replace(manifest, sequence_number=0, min_sequence_number=0, first_row_id=None), next_row_id
    if manifest.sequence_number < 0:
        if manifest.added_snapshot_id != snapshot_id:
            raise InvalidArgumentError(f"Found unassigned sequence number for a manifest from snapshot: {manifest.added_snapshot_id}")
        manifest = replace(manifest, sequence_number=sequence_number)
    if manifest.min_sequence_number < 0:
        manifest = replace(manifest, min_sequence_number=manifest.sequence_number)
    if format_version < 3 or manifest.content is not ManifestContent.DATA:
        return replace(manifest, first_row_id=None) if manifest.first_row_id is not None else manifest, next_row_id
    if manifest.first_row_id is None and next_row_id is not None:
        rows = (manifest.added_rows_count or 0) + (manifest.existing_rows_count or 0)
        return replace(manifest, first_row_id=next_row_id), next_row_id + rows
    return manifest, next_row_id


def _header(
    format_version: int, snapshot_id: int, parent_snapshot_id: int | None, sequence_number: int, first_row_id: int | None
) -> dict[str, str]:
    header = {
        "snapshot-id": str(snapshot_id),
        "parent-snapshot-id": "null" if parent_snapshot_id is None else str(parent_snapshot_id),
        "format-version": str(format_version),
    }
    if format_version > 1:
        header["sequence-number"] = str(sequence_number)
    if format_version >= 3:
        header["first-row-id"] = str(first_row_id)
    return header


@lru_cache(maxsize=8192)
def _encode(manifest: ManifestFile, format_version: int) -> bytes:
    """A record's bytes. Cached, because the lists of one table's commits repeat most of each other."""
    parts = [encode_string(manifest.manifest_path), encode_long(manifest.manifest_length), encode_long(manifest.partition_spec_id)]
    counts = (
        manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count,
        manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count,
    )  # fmt: skip
    if format_version == 1:
        parts += [optional_long(manifest.added_snapshot_id), *map(optional_long, counts)]
    else:
        parts += map(encode_long, (manifest.content, manifest.sequence_number, manifest.min_sequence_number))
        parts += [encode_long(_required(value, manifest)) for value in (manifest.added_snapshot_id, *counts)]
    parts += [_encode_summaries(manifest.partitions), optional_bytes(manifest.key_metadata)]
    if format_version >= 3:
        parts.append(optional_long(manifest.first_row_id))
    return b"".join(parts)


def _required(value: int | None, manifest: ManifestFile) -> int:
    if value is None:
        raise InvalidArgumentError(
            f"Cannot write manifest list: counts or snapshot id are unknown, count them first: {manifest.manifest_path}"
        )
    return value


def _encode_summaries(summaries: tuple[FieldSummary, ...] | None) -> bytes:
    if summaries is None:
        return b"\x00"
    parts = [b"\x02"]
    if summaries:
        parts.append(encode_long(len(summaries)))
    for summary in summaries:
        parts.append(b"\x01" if summary.contains_null else b"\x00")
        parts.append(b"\x00" if summary.contains_nan is None else (b"\x02\x01" if summary.contains_nan else b"\x02\x00"))
        parts += (optional_bytes(summary.lower_bound), optional_bytes(summary.upper_bound))
    parts.append(b"\x00")
    return b"".join(parts)
