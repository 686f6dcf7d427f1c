"""What a table's history says, with everything taken out that differs between two runs of the same program: ids, times, sizes, names."""

from __future__ import annotations

from collections import Counter
from typing import Any

from icesql.io.manifests.entries import read_manifest
from icesql.io.manifests.lists import read_manifest_list
from icesql.io.metadata_files import read_metadata
from icesql.io.storage.file_systems import load_file_io
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot

ENGINE_KEYS = frozenset({"engine-name", "engine-version", "iceberg-version", "app-id", "app-name", "spark.app.id", "icesql-version"})
ID_KEYS = frozenset({"source-snapshot-id"})


def history_of(metadata_file: str) -> dict[str, Any]:
    """The history that a metadata file tells, read by icesql whoever wrote it."""
    io = load_file_io({})
    return history(io, read_metadata(io, metadata_file))


def history(io: FileIO, metadata: TableMetadata) -> dict[str, Any]:
    """Snapshots in order with their summaries, manifests and entries; refs; schemas, specs and properties by what they say."""
    numbers = {snapshot.snapshot_id: number for number, snapshot in enumerate(metadata.snapshots)}
    return {
        "last sequence number": metadata.last_sequence_number,
        "current": numbers.get(metadata.current_snapshot_id or 0),
        "refs": {
            name: (numbers[ref.snapshot_id], ref.type, ref.min_snapshots_to_keep, ref.max_snapshot_age_ms, ref.max_ref_age_ms)
            for name, ref in metadata.refs.items()
        },
        "log": [numbers.get(entry.snapshot_id) for entry in metadata.snapshot_log],
        "schemas": (metadata.current_schema_id, [[field.name for field in schema.fields] for schema in metadata.schemas]),
        "specs": (metadata.default_spec_id, [[field.name for field in spec.fields] for spec in metadata.partition_specs]),
        "next row id": metadata.next_row_id,
        "statistics": [numbers.get(file.snapshot_id) for file in metadata.statistics],
        "partition statistics": [numbers.get(file.snapshot_id) for file in metadata.partition_statistics],
        "snapshots": [_snapshot(io, metadata, snapshot, numbers) for snapshot in metadata.snapshots],
    }


def _snapshot(io: FileIO, metadata: TableMetadata, snapshot: Snapshot, numbers: dict[int, int]) -> dict[str, Any]:
    assert snapshot.manifest_list is not None
    manifests = read_manifest_list(io, snapshot.manifest_list)
    return {
        "parent": numbers.get(snapshot.parent_snapshot_id or 0),
        "sequence number": snapshot.sequence_number,
        "schema": snapshot.schema_id,
        "rows": (snapshot.first_row_id, snapshot.added_rows),
        "summary": {key: _summary_value(key, value, numbers) for key, value in snapshot.summary.items() if key not in ENGINE_KEYS},
        "manifests": [_manifest(manifest, numbers) for manifest in manifests],
        "entries": _entries(io, metadata, manifests, numbers),
    }


def _summary_value(key: str, value: str, numbers: dict[int, int]) -> str:
    return f"snapshot {numbers.get(int(value))}" if key in ID_KEYS else value


def _manifest(manifest: ManifestFile, numbers: dict[int, int]) -> dict[str, Any]:
    return {
        "content": manifest.content.name,
        "spec": manifest.partition_spec_id,
        "added by": numbers.get(manifest.added_snapshot_id or -1),
        "sequence numbers": (manifest.sequence_number, manifest.min_sequence_number),
        "files": (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count),
        "records": (manifest.added_rows_count, manifest.existing_rows_count, manifest.deleted_rows_count),
        "partitions": manifest.partitions,
        "first row id": manifest.first_row_id,
    }


def _entries(io: FileIO, metadata: TableMetadata, manifests: tuple[ManifestFile, ...], numbers: dict[int, int]) -> list[Any]:
    found: Counter[Any] = Counter()
    for manifest in manifests:
        for entry in read_manifest(io, manifest, metadata.specs_by_id):
            file = entry.data_file
            name = file.file_path.rpartition("/")[2]
            made = numbers.get(entry.snapshot_id or 0)
            found[name, entry.status.name, made, entry.sequence_number, entry.file_sequence_number, file.partition, file.first_row_id] += 1
    return sorted(found.items(), key=repr)
