"""Tables made of metadata alone: manifests and lists written with our own writers, data files that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from icesql.io.manifests.lists import write_manifest_list
from icesql.io.manifests.writer import write_manifest
from icesql.io.storage.file_systems import load_file_io
from icesql.spec.files import DataFile, EntryStatus, FileContent, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot, SnapshotLogEntry, SnapshotRef


class Forge:
    """Adds snapshots, one after another, to a table under ``folder``."""

    def __init__(self, folder: Path, schema: Schema, *specs: PartitionSpec, format_version: int = 2) -> None:
        self.io = load_file_io({}, str(folder))
        self.folder = folder
        self.metadata = TableMetadata(
            format_version=format_version,
            table_uuid="00000000-0000-0000-0000-000000000001",
            location=str(folder),
            last_updated_ms=0,
            last_column_id=schema.highest_field_id,
            current_schema_id=schema.schema_id,
            schemas=(schema,),
            default_spec_id=specs[-1].spec_id,
            partition_specs=specs,
            next_row_id=0 if format_version >= 3 else None,
        )
        self._manifests: tuple[ManifestFile, ...] = ()
        self._files = 0

    def manifest(self, entries: Sequence[ManifestEntry], spec_id: int = 0) -> ManifestFile:
        self._files += 1
        content = ManifestContent.DATA if entries[0].data_file.content is FileContent.DATA else ManifestContent.DELETES
        snapshot_id = self._next_id()
        return write_manifest(
            self.io,
            str(self.folder / f"m{self._files}.avro"),
            format_version=self.metadata.format_version,
            spec=self.metadata.specs_by_id[spec_id],
            schema=self.metadata.schema,
            content=content,
            snapshot_id=snapshot_id,
            entries=entries,
        )

    def _next_id(self) -> int:
        return 100 + len(self.metadata.snapshots)

    def commit(
        self, *groups: Sequence[ManifestEntry], operation: str = "append", keep: Iterable[ManifestFile] | None = None, branch: str = "main"
    ) -> Snapshot:
        """One manifest a group (all files of one spec), after those of the parent; ``keep`` replaces the parent's manifests."""
        head = self.metadata.head(branch) or self.metadata.current_snapshot
        snapshot_id, number = self._next_id(), self.metadata.last_sequence_number + 1
        added = tuple(self.manifest(group, group[0].data_file.spec_id) for group in groups if group)
        kept = self._manifests if keep is None else tuple(keep)
        location = str(self.folder / f"list-{snapshot_id}.avro")
        next_row_id = write_manifest_list(
            self.io,
            location,
            format_version=self.metadata.format_version,
            snapshot_id=snapshot_id,
            parent_snapshot_id=None if head is None else head.snapshot_id,
            sequence_number=number,
            manifests=(*added, *kept),
            next_row_id=self.metadata.next_row_id,
        )
        from icesql.io.manifests.lists import read_manifest_list

        self._manifests = read_manifest_list(self.io, location)
        snapshot = Snapshot(
            snapshot_id=snapshot_id,
            parent_snapshot_id=None if head is None else head.snapshot_id,
            sequence_number=number,
            timestamp_ms=1000 * number,
            manifest_list=location,
            summary={"operation": operation},
            schema_id=self.metadata.current_schema_id,
        )
        refs = {**self.metadata.refs, branch: SnapshotRef(snapshot_id=snapshot_id)}
        is_main = branch == "main"
        self.metadata = replace(
            self.metadata,
            snapshots=(*self.metadata.snapshots, snapshot),
            refs=refs,
            last_sequence_number=number,
            next_row_id=next_row_id,
            current_snapshot_id=snapshot_id if is_main else self.metadata.current_snapshot_id,
            snapshot_log=(*self.metadata.snapshot_log, SnapshotLogEntry(snapshot_id=snapshot_id, timestamp_ms=1000 * number))
            if is_main
            else self.metadata.snapshot_log,
        )
        return snapshot

    @property
    def manifests(self) -> tuple[ManifestFile, ...]:
        return self._manifests

    def data(self, name: str, partition: tuple[object, ...] = (), *, spec_id: int = 0, rows: int = 10, **metrics: object) -> ManifestEntry:
        """An added data file."""
        return self.added(
            DataFile(
                file_path=str(self.folder / f"{name}.parquet"),
                file_format="parquet",
                spec_id=spec_id,
                partition=partition,
                record_count=rows,
                file_size_in_bytes=100 * rows,
                **metrics,  # type: ignore[arg-type]
            )
        )

    def positions(
        self, name: str, partition: tuple[object, ...] = (), *, spec_id: int = 0, of: str | None = None, **more: object
    ) -> ManifestEntry:
        path = None if of is None else str(self.folder / f"{of}.parquet")
        return self.added(
            DataFile(
                content=FileContent.POSITION_DELETES,
                file_path=str(self.folder / f"{name}.parquet"),
                file_format="parquet",
                spec_id=spec_id,
                partition=partition,
                record_count=1,
                file_size_in_bytes=10,
                referenced_data_file=path,
                **more,  # type: ignore[arg-type]
            )
        )

    def vector(self, name: str, of: str, partition: tuple[object, ...] = (), *, spec_id: int = 0) -> ManifestEntry:
        return self.added(
            DataFile(
                content=FileContent.POSITION_DELETES,
                file_path=str(self.folder / f"{name}.puffin"),
                file_format="puffin",
                spec_id=spec_id,
                partition=partition,
                record_count=1,
                file_size_in_bytes=99,
                referenced_data_file=str(self.folder / f"{of}.parquet"),
                content_offset=4,
                content_size_in_bytes=40,
            )
        )

    def equality(
        self, name: str, ids: tuple[int, ...], partition: tuple[object, ...] = (), *, spec_id: int = 0, **metrics: object
    ) -> ManifestEntry:
        return self.added(
            DataFile(
                content=FileContent.EQUALITY_DELETES,
                file_path=str(self.folder / f"{name}.parquet"),
                file_format="parquet",
                spec_id=spec_id,
                partition=partition,
                record_count=1,
                file_size_in_bytes=10,
                equality_ids=ids,
                **metrics,  # type: ignore[arg-type]
            )
        )

    def added(self, file: DataFile) -> ManifestEntry:
        return ManifestEntry(status=EntryStatus.ADDED, snapshot_id=self._next_id(), data_file=file)

    def deleted(self, entry: ManifestEntry, sequence_number: int) -> ManifestEntry:
        """The same file as a deleted entry of the next snapshot."""
        return ManifestEntry(
            status=EntryStatus.DELETED,
            snapshot_id=self._next_id(),
            sequence_number=sequence_number,
            file_sequence_number=sequence_number,
            data_file=entry.data_file,
        )
