"""rewrite_table_path as an operation: a table's metadata staged under another path prefix, and a list of files to copy.

The table is not touched. Once every pair of the list has been copied, the newest staged metadata file is the table at its new place.
Position delete files and deletion vectors contain paths of data files, so they are staged too; all other files are copied as they are.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.io.deletes.files import read_position_deletes, write_position_deletes
from icesql.io.manifests.entries import compression_of, read_manifest, write_manifest
from icesql.io.manifests.lists import write_manifest_list
from icesql.io.metadata_files import read_metadata, write_metadata
from icesql.io.puffin import NewBlob, read_blob, read_puffin, write_puffin
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.maintenance.path_prefix import PathPrefix
from icesql.table.manifests.access import manifests_of, schema_for_spec
from icesql.table.manifests.location_provider import location_provider
from icesql.table.manifests.reachable import in_parallel, statistics_paths
from icesql.table.table import Table

FILE_LIST = "file-list"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRewrite:
    """``copies``: (where a file is now, where it must go). ``file_list``: where the list of them is, ``None`` if none was asked for."""

    latest_version: str
    staging: str
    manifests: int
    delete_files: int
    copies: tuple[tuple[str, str], ...]
    file_list: str | None = None


@dataclass(kw_only=True)
class RewriteTablePath:
    """``start_version`` and ``end_version``: names of metadata files; only what came after the start is staged and listed."""

    table: Table
    prefix: PathPrefix
    start_version: str | None = None
    end_version: str | None = None
    staging_location: str | None = None
    create_file_list: bool = True
    _copies: list[tuple[str, str]] = field(default_factory=list)
    _new_deletes: dict[str, DataFile] = field(default_factory=dict)

    @property
    def io(self) -> FileIO:
        return self.table.io

    @cached_property
    def staging(self) -> str:
        if self.staging_location:
            return self.staging_location.rstrip("/")
        return location_provider(self.table.metadata).metadata_file(f"copy-table-staging-{uuid.uuid4()}")

    def run(self) -> PathRewrite:
        """Stage everything. Raises InvalidArgumentError for unknown versions and for files outside the source prefix."""
        for noun, text in (
            ("Start version", self.start_version), ("End version", self.end_version), ("Staging location", self.staging_location)
        ):  # fmt: skip
            if text == "":
                raise InvalidArgumentError(f"{noun}('') cannot be empty.")
        end_location = self._version(self.end_version) if self.end_version else self._current_location()
        end = self._read(end_location)
        start = self._read(self._version(self.start_version)) if self.start_version else None
        old = set() if start is None else set(start.snapshots_by_id)
        added = [snapshot for snapshot in end.snapshots if snapshot.snapshot_id not in old]
        manifests = self._manifests(added, None if start is None else {snapshot.snapshot_id for snapshot in added})
        wanted = None if start is None else {snapshot.snapshot_id for snapshot in added}
        self._stage_deletes(end, manifests, wanted)
        staged = dict(in_parallel(lambda manifest: (manifest.manifest_path, self._stage_manifest(end, manifest, wanted)), manifests))
        for snapshot in added:
            self._stage_manifest_list(end, snapshot, staged)
        self._stage_versions(end_location, end, start)
        self._copies += [(path, self.prefix.moved(path)) for path in _statistics(end, start)]
        copies = tuple(dict.fromkeys(self._copies))
        return PathRewrite(
            latest_version=_name(end_location),
            staging=self.staging,
            manifests=len(staged),
            delete_files=len({file.file_path for file in self._new_deletes.values()}),
            copies=copies,
            file_list=self._write_list(copies) if self.create_file_list else None,
        )

    # -- versions --------------------------------------------------------------------------------------------------
    def _current_location(self) -> str:
        location = self.table.metadata_location
        if location is None:
            raise InvalidArgumentError("Cannot rewrite table path: the table has no metadata file")
        return location

    def _version(self, name: str | None) -> str:
        """The metadata file of that name: the current one, or one of the metadata log."""
        known = [self._current_location(), *(entry.metadata_file for entry in self.table.metadata.metadata_log)]
        location = next((path for path in known if name == _name(path)), None)
        if location is None:
            raise InvalidArgumentError(f"Cannot find provided version file {name} in metadata log.", version=name)
        return location

    def _read(self, location: str) -> TableMetadata:
        return self.table.metadata if location == self.table.metadata_location else read_metadata(self.io, location)

    def _stage_versions(self, end_location: str, end: TableMetadata, start: TableMetadata | None) -> None:
        """Stage the end version and the versions before it that still exist, back to the start version."""
        self._stage_version(end_location, end)
        seen = set() if start is None else {entry.metadata_file for entry in start.metadata_log}
        stop = self._version(self.start_version) if self.start_version else None
        for entry in end.metadata_log:
            if entry.metadata_file == stop or entry.metadata_file in seen:
                continue
            try:
                self._stage_version(entry.metadata_file, read_metadata(self.io, entry.metadata_file))
            except NotFoundError:
                continue

    def _stage_version(self, location: str, metadata: TableMetadata) -> None:
        staged = self._staged(location)
        write_metadata(self.io, staged, self.prefix.metadata(metadata), overwrite=True)
        self._copies.append((staged, self.prefix.moved(location)))

    # -- manifests -------------------------------------------------------------------------------------------------
    def _manifests(self, snapshots: Sequence[Snapshot], added_by: set[int] | None) -> list[ManifestFile]:
        """The distinct manifests of the snapshots; with ``added_by`` only those that one of these snapshots wrote."""
        manifests: dict[str, ManifestFile] = {}
        for snapshot in snapshots:
            for manifest in manifests_of(self.io, snapshot):
                if added_by is None or manifest.added_snapshot_id in added_by:
                    manifests.setdefault(manifest.manifest_path, manifest)
        return list(manifests.values())

    def _stage_manifest(self, metadata: TableMetadata, manifest: ManifestFile, wanted: set[int] | None) -> ManifestFile:
        """Write the manifest with moved paths; returns its manifest list entry at the new place."""
        spec = metadata.specs_by_id[manifest.partition_spec_id]
        entries = read_manifest(self.io, manifest, metadata.specs_by_id)
        staged = self._staged(manifest.manifest_path)
        written = write_manifest(
            self.io, staged, format_version=metadata.format_version, spec=spec, schema=schema_for_spec(metadata, spec),
            content=manifest.content, snapshot_id=manifest.added_snapshot_id, entries=[self._entry(entry) for entry in entries],
            compression=compression_of(metadata.properties), first_row_id=manifest.first_row_id,
        )  # fmt: skip
        copies = [(staged, self.prefix.moved(manifest.manifest_path))]
        for entry in entries:
            if entry.is_live and (wanted is None or entry.snapshot_id in wanted):
                path = entry.data_file.file_path
                copies.append((self._staged(path) if path in self._new_deletes else path, self.prefix.moved(path)))
        self._copies += copies
        return replace(manifest, manifest_path=self.prefix.moved(manifest.manifest_path), manifest_length=written.manifest_length)

    def _entry(self, entry: ManifestEntry) -> ManifestEntry:
        file = entry.data_file
        try:
            moved = self.prefix.file(file)
        except InvalidArgumentError:
            raise InvalidArgumentError(
                f"Encountered data file {file.file_path} not under the source prefix {self.prefix.source}", path=file.file_path
            ) from None
        new = self._new_deletes.get(file.file_path)
        if new is not None:
            moved = replace(moved, file_size_in_bytes=new.file_size_in_bytes)
        return replace(entry, data_file=moved)

    def _stage_manifest_list(self, metadata: TableMetadata, snapshot: Snapshot, staged: dict[str, ManifestFile]) -> None:
        if snapshot.manifest_list is None:
            return
        location = self._staged(snapshot.manifest_list)
        manifests = [
            staged.get(manifest.manifest_path) or replace(manifest, manifest_path=self.prefix.moved(manifest.manifest_path))
            for manifest in manifests_of(self.io, snapshot)
        ]
        write_manifest_list(
            self.io, location, format_version=metadata.format_version, snapshot_id=snapshot.snapshot_id,
            parent_snapshot_id=snapshot.parent_snapshot_id, sequence_number=snapshot.sequence_number, manifests=manifests,
            next_row_id=snapshot.first_row_id or 0,
        )  # fmt: skip
        self._copies.append((location, self.prefix.moved(snapshot.manifest_list)))

    # -- delete files ----------------------------------------------------------------------------------------------
    def _stage_deletes(self, metadata: TableMetadata, manifests: Iterable[ManifestFile], wanted: set[int] | None) -> None:
        """Position delete files and vectors, which contain paths of data files."""
        files: dict[str, DataFile] = {}
        for manifest in manifests:
            if manifest.content is ManifestContent.DELETES:
                for entry in read_manifest(self.io, manifest, metadata.specs_by_id):
                    is_wanted = entry.is_live and (wanted is None or entry.snapshot_id in wanted)
                    if is_wanted and entry.data_file.content is FileContent.POSITION_DELETES:
                        files[entry.data_file.file_path] = entry.data_file
        for path, written in in_parallel(lambda file: (file.file_path, self._stage_delete(metadata, file)), files.values()):
            self._new_deletes[path] = written

    def _stage_delete(self, metadata: TableMetadata, file: DataFile) -> DataFile:
        staged = self._staged(file.file_path)
        if file.is_deletion_vector:
            return replace(file, file_size_in_bytes=self._stage_vectors(file.file_path, staged))
        positions = {self.prefix.moved(path): deleted for path, deleted in read_position_deletes(self.io, file).items()}
        return write_position_deletes(
            self.io, staged, positions, file_format=file.file_format, properties=metadata.properties, spec_id=file.spec_id,
            partition=file.partition,
        )  # fmt: skip

    def _stage_vectors(self, location: str, staged: str) -> int:
        """The same blobs at the same places, about data files at their new places. Returns the bytes of the file."""
        footer = read_puffin(self.io, location)
        blobs = [
            NewBlob(
                type=blob.type,
                fields=blob.fields,
                data=read_blob(self.io, location, blob),
                snapshot_id=blob.snapshot_id,
                sequence_number=blob.sequence_number,
                codec=blob.codec,
                properties={k: self.prefix.moved(v) if k == "referenced-data-file" else v for k, v in blob.properties.items()},
            )
            for blob in sorted(footer.blobs, key=lambda blob: blob.offset)
        ]
        written, size = write_puffin(self.io, staged, blobs, footer.properties)
        if [blob.offset for blob in written.blobs] != sorted(blob.offset for blob in footer.blobs):
            raise InvalidArgumentError(f"Cannot rewrite deletion vectors: there are gaps between blobs: {location}", location=location)
        return size

    # -- the list --------------------------------------------------------------------------------------------------
    def _staged(self, path: str) -> str:
        return f"{self.staging}/{self.prefix.relative(path)}"

    def _write_list(self, copies: Sequence[tuple[str, str]]) -> str:
        location = f"{self.staging}/{FILE_LIST}"
        self.io.write(location, "".join(f"{_csv(source)},{_csv(target)}\n" for source, target in copies).encode())
        return location


def _csv(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n') else text


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _statistics(end: TableMetadata, start: TableMetadata | None) -> Iterator[str]:
    old = frozenset() if start is None else statistics_paths(start)
    yield from sorted(statistics_paths(end) - old)
