"""The manifests of a snapshot, whichever format version wrote it, and the schema its partition values are decoded with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from icesql.errors import CorruptMetadataError, ValidationError
from icesql.io.avro.container import AvroHeader, corrupt, read_header
from icesql.io.manifests.entries import read_manifest
from icesql.io.manifests.lists import RepeatedManifests, read_manifest_list
from icesql.io.storage.files import FileIO
from icesql.spec.files import EntryStatus, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.properties import whole_number
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot


def manifests_of(io: FileIO, snapshot: Snapshot | None, repeated: RepeatedManifests | None = None) -> tuple[ManifestFile, ...]:
    """The manifests of a snapshot in list order; ``()`` for none. Early v1 snapshots name manifests instead of a list.

    ``repeated`` as in ``read_manifest_list``.
    """
    if snapshot is None:
        return ()
    if snapshot.manifest_list is not None:
        return read_manifest_list(io, snapshot.manifest_list, repeated=repeated)
    return tuple(_embedded_manifest(io, path, snapshot) for path in snapshot.manifests)


def _embedded_manifest(io: FileIO, path: str, snapshot: Snapshot) -> ManifestFile:
    data = io.read(path)
    header = read_header(data, path)
    manifest = ManifestFile(
        manifest_path=path,
        manifest_length=len(data),
        partition_spec_id=_spec_id(header, path),
        added_snapshot_id=snapshot.snapshot_id,
    )
    return with_counts(io, manifest)


def _spec_id(header: AvroHeader, path: str) -> int:
    text = header.text("partition-spec-id") or "0"
    try:
        return whole_number(text)
    except ValueError as error:
        raise corrupt(path, f"partition spec id is no number: {text[:60]}") from error


def with_counts(io: FileIO, manifest: ManifestFile, specs_by_id: Mapping[int, PartitionSpec] | None = None) -> ManifestFile:
    """The manifest with its counts, read from its entries where a v1 writer left them out."""
    counts = (
        manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count,
        manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count, manifest.added_snapshot_id,
    )  # fmt: skip
    if None not in counts:
        return manifest
    entries = read_manifest(io, manifest, specs_by_id)
    files, rows = [0, 0, 0], [0, 0, 0]
    for entry in entries:
        files[entry.status] += 1
        rows[entry.status] += entry.data_file.record_count
    added_by = manifest.added_snapshot_id
    if added_by is None:
        added_by = next((e.snapshot_id for e in entries if e.status is EntryStatus.ADDED and e.snapshot_id is not None), 0)
    return replace(
        manifest,
        added_snapshot_id=added_by,
        added_files_count=files[EntryStatus.ADDED],
        existing_files_count=files[EntryStatus.EXISTING],
        deleted_files_count=files[EntryStatus.DELETED],
        added_rows_count=rows[EntryStatus.ADDED],
        existing_rows_count=rows[EntryStatus.EXISTING],
        deleted_rows_count=rows[EntryStatus.DELETED],
    )


def of_content(manifests: Iterable[ManifestFile], content: ManifestContent) -> list[ManifestFile]:
    return [manifest for manifest in manifests if manifest.content is content]


def live_entries(io: FileIO, manifest: ManifestFile, specs_by_id: Mapping[int, PartitionSpec]) -> list[ManifestEntry]:
    """Entries of a manifest that are not deleted, with inherited numbers."""
    return [entry for entry in read_manifest(io, manifest, specs_by_id) if entry.is_live]


def spec_of(metadata: TableMetadata, spec_id: int, noun: str = "manifest", what: object = None) -> PartitionSpec:
    """Raises ``Cannot find partition spec ...``: CorruptMetadataError for a manifest's spec, ValidationError for another's."""
    spec = metadata.specs_by_id.get(spec_id)
    if spec is None:
        kind = CorruptMetadataError if noun == "manifest" else ValidationError
        raise kind(f"Cannot find partition spec {spec_id} for {noun}: {what}", spec_id=spec_id)
    return spec


def schema_for_spec(metadata: TableMetadata, spec: PartitionSpec) -> Schema:
    """The current schema, or the newest that has every source column of the spec, so that partition values keep their types."""
    wanted = {source_id for field in spec.fields if not field.transform.is_void for source_id in field.source_ids}
    candidates = (metadata.schema, *sorted(metadata.schemas, key=lambda s: s.schema_id, reverse=True))
    return next((schema for schema in candidates if wanted <= schema.fields_by_id.keys()), metadata.schema)


def latest_snapshot(metadata: TableMetadata, branch: str = MAIN) -> Snapshot | None:
    """What a commit to the branch builds on: its head; the current snapshot for a branch that does not exist yet, which forks there."""
    if branch in metadata.refs:
        return metadata.head(branch)
    return metadata.current_snapshot
