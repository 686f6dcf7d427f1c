"""Reading manifests entry by entry, with what entries inherit from the manifest list filled in. Spec: "Manifests", "Sequence Number
Inheritance".

Writing is in ``icesql.io.manifests.writer``, planning over columns in ``icesql.io.manifests.columns``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError
from icesql.io.avro.container import AvroRecords, corrupt, read_entries
from icesql.io.avro.decode import DAMAGE, Decoder, Names, field_key, resolve
from icesql.io.avro.objects import record_decoder
from icesql.io.manifests.decode import data_file_of_record, partition_reader
from icesql.io.manifests.java_fixed import with_readable_partitions
from icesql.io.manifests.schemas import DATA_FILE_IDS, ENTRY_IDS
from icesql.io.manifests.writer import (
    DEFAULT_COMPRESSION,
    DEFAULT_TARGET_SIZE_BYTES,
    UNASSIGNED_SEQUENCE_NUMBER,
    ManifestWriter,
    RawEntry,
    RollingManifestWriter,
    write_manifest,
    write_manifest_raw,
)
from icesql.io.storage.files import FileIO
from icesql.spec.avro_schema import compatible_name
from icesql.spec.files import DataFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.properties import MANIFEST_COMPRESSION

__all__ = [
    "DEFAULT_COMPRESSION",
    "DEFAULT_TARGET_SIZE_BYTES",
    "UNASSIGNED_SEQUENCE_NUMBER",
    "ManifestWriter",
    "RawEntry",
    "RollingManifestWriter",
    "compression_of",
    "entry_parts",
    "read_manifest",
    "write_manifest",
    "write_manifest_raw",
]


def compression_of(properties: Mapping[str, str]) -> str:
    """The codec of manifests: ``write.manifest.compression-codec``, else deflate. Manifest lists are deflate always, as Java's."""
    return properties.get(MANIFEST_COMPRESSION) or DEFAULT_COMPRESSION


def read_manifest(io: FileIO, manifest: ManifestFile, specs_by_id: Mapping[int, PartitionSpec] | None = None) -> list[ManifestEntry]:
    """All entries, deleted ones too, in file order.

    Partition tuples are in the order of the spec's fields, in the manifest's own order where ``specs_by_id`` does not know the spec.
    Numbers of a manifest that no list names yet (``UNASSIGNED_SEQUENCE_NUMBER``) stay ``None``.
    Raises NotFoundError, CorruptMetadataError, UnsupportedError (unknown codec).
    """
    location = manifest.manifest_path
    records = read_manifest_records(io, location)
    spec = None if specs_by_id is None else specs_by_id.get(manifest.partition_spec_id)
    return list(_inherit(_entries(records, manifest, spec), manifest))


def read_manifest_records(io: FileIO, location: str) -> AvroRecords:
    """All entries of a manifest, not yet decoded. Raises NotFoundError, CorruptMetadataError, UnsupportedError."""
    return with_readable_partitions(read_entries(read_manifest_bytes(io, location), location))


def read_manifest_bytes(io: FileIO, location: str) -> bytes:
    try:
        return io.read(location)
    except NotFoundError as error:
        raise NotFoundError(f"Cannot read manifest: File does not exist: {location}", location=location) from error
    except InvalidArgumentError as error:  # the place comes from a manifest list, or from metadata of version 1
        raise CorruptMetadataError(f"Cannot read manifest {location}: {error}", location=location) from error


def _entries(records: AvroRecords, manifest: ManifestFile, spec: PartitionSpec | None) -> Iterator[ManifestEntry]:
    location = manifest.manifest_path
    decode, keys = compile_entry_decoder(records.header.schema, location)
    partition = partition_reader(keys, wanted_partition(spec))
    for count, start, end in records.blocks:
        position = start
        for _ in range(count):
            place = position
            try:
                record, position = decode(records.buffer, position)
                if position > end:
                    raise IndexError("record past the end of its block")
                status = EntryStatus(record[0])
                file = data_file_of_record(record[2], manifest.partition_spec_id, partition)
            except (*DAMAGE, KeyError, TypeError, AttributeError, RecursionError) as error:
                raise corrupt(location, f"damaged entry: {error!r}", place) from error
            yield ManifestEntry(
                status=status,
                snapshot_id=record.get(1),
                sequence_number=record.get(3),
                file_sequence_number=record.get(4),
                data_file=file,
            )
        if position != end:
            raise corrupt(location, "block does not end with its last record", position)


def wanted_partition(spec: PartitionSpec | None) -> tuple[tuple[int, str], ...] | None:
    """(field id, name in Avro) of the values of a partition tuple, in order."""
    return None if spec is None else tuple((field.field_id, compatible_name(field.name)) for field in spec.fields)


def entry_parts(schema: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(schema of the data_file record, schema of the partition record) of an entry schema. Raises ValueError, KeyError, TypeError."""
    names = Names()
    entry = resolve(schema, names)
    data_file = resolve(next(f for f in entry["fields"] if field_key(f, ENTRY_IDS) == 2)["type"], names)
    partition = resolve(next(f for f in data_file["fields"] if field_key(f, DATA_FILE_IDS) == 102)["type"], names)
    if data_file.get("type") != "record" or partition.get("type") != "record":
        raise ValueError("data_file or partition is not a record")
    return data_file, partition


def partition_keys(partition: Mapping[str, Any]) -> tuple[int | str, ...]:
    """Field ids of a partition record; Avro names where ids are missing."""
    return tuple(field_key(field, {}) for field in partition["fields"])


def compile_entry_decoder(schema: Any, location: str) -> tuple[Decoder, tuple[int | str, ...]]:
    """A decoder of whole entries, and the keys of the partition record. Raises CorruptMetadataError for a schema that is not a
    manifest's."""
    try:
        _data_file, partition = entry_parts(schema)
        keys = partition_keys(partition)
        ids = {**ENTRY_IDS, **DATA_FILE_IDS}
        for reserved in [f["name"] for f in partition["fields"] if "field-id" not in f]:
            ids.pop(reserved, None)
        return record_decoder(schema, ids), keys
    except (StopIteration, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise corrupt(location, f"not a manifest: {error!r}") from error


def _inherit(entries: Iterator[ManifestEntry], manifest: ManifestFile) -> Iterator[ManifestEntry]:
    next_row_id = manifest.first_row_id if manifest.content is ManifestContent.DATA else None
    for entry in entries:
        sequence_number, file_sequence_number = inherited_numbers(entry, manifest)
        file = entry.data_file
        if next_row_id is None:
            if manifest.sequence_number >= 0:  # a manifest of a commit under way keeps the ids that its existing entries carry
                file = _with_first_row_id(file, None)
        elif file.first_row_id is None and entry.is_live:
            file = _with_first_row_id(file, next_row_id)
            next_row_id += file.record_count
        yield ManifestEntry(
            status=entry.status,
            snapshot_id=manifest.added_snapshot_id if entry.snapshot_id is None else entry.snapshot_id,
            sequence_number=sequence_number,
            file_sequence_number=file_sequence_number,
            data_file=file,
        )


def inherited_numbers(entry: ManifestEntry, manifest: ManifestFile) -> tuple[int | None, int | None]:
    """(data, file) sequence numbers of an entry without its own: the manifest's for added entries, and for all entries of version 1."""
    inherits = manifest.sequence_number == 0 or entry.status is EntryStatus.ADDED
    if not inherits or manifest.sequence_number < 0:
        return entry.sequence_number, entry.file_sequence_number
    own, own_file = entry.sequence_number, entry.file_sequence_number
    return manifest.sequence_number if own is None else own, manifest.sequence_number if own_file is None else own_file


def _with_first_row_id(file: DataFile, first_row_id: int | None) -> DataFile:
    return file if file.first_row_id == first_row_id else replace(file, first_row_id=first_row_id)
