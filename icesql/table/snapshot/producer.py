"""From ProduceSnapshot to a snapshot: validate, write manifests and their list, and ask for the swap. One instance serves one commit.

What an attempt wrote is reused by the next: manifests of added files always, filtered and merged ones as long as their sources are
unchanged.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.expr.describe import describe
from icesql.expr.evaluate import row_evaluator
from icesql.expr.metrics import strict_metrics
from icesql.expr.projection import inclusive_projection, strict_projection
from icesql.io.manifests.lists import write_manifest_list
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, EntryStatus, FileContent, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, Operation, Snapshot, SnapshotRef
from icesql.table.manifests.access import latest_snapshot, manifests_of, of_content, schema_for_spec, spec_of, with_counts
from icesql.table.manifests.factory import ManifestFactory
from icesql.table.manifests.filter import Filtered, ManifestFilter
from icesql.table.manifests.location_provider import location_provider, new_manifest_list_name
from icesql.table.manifests.merge import ManifestMerger
from icesql.table.manifests.removal_rows import Removals
from icesql.table.metadata import update_values as u
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet
from icesql.table.outcomes import AlreadyCommittedError
from icesql.table.snapshot.added_files import check_added_files
from icesql.table.snapshot.oldest_data import oldest_data_sequence_number
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.summary import SummaryBuilder, manifest_counts, with_totals
from icesql.table.snapshot.validation import Validator
from icesql.table.snapshot.vector_check import VectorCheck


@dataclass(frozen=True, slots=True)
class _Contents:
    manifests: tuple[ManifestFile, ...]
    summary: Mapping[str, str]
    added_records: int
    removed_records: int


class SnapshotProducer:
    """The Change that carries out a ProduceSnapshot. ``snapshot_id`` is the same for all attempts.

    ``owns_files``: the files it adds were written for this commit alone, and are removed if it fails for certain.
    """

    def __init__(
        self, change: ProduceSnapshot, io: FileIO, name: str = "", *, snapshot_id: int | None = None, owns_files: bool = False
    ) -> None:
        self.change, self.name, self._owns_files = change, name, owns_files
        self.snapshot_id = new_snapshot_id() if snapshot_id is None else snapshot_id
        self._io = io
        self._factory = ManifestFactory(io, self.snapshot_id)
        self._attempt, self._is_committed = 0, False
        self._lists: list[str] = []
        self._added: dict[tuple[int, ManifestContent], list[ManifestFile]] = {}
        self._filters = {content: ManifestFilter(self._factory, content) for content in ManifestContent}
        self._mergers = {content: ManifestMerger(self._factory, content) for content in ManifestContent}
        self._saw_branch = False
        self._one_vector_a_file = VectorCheck(io, change)
        self._data_files = tuple(replace(f, first_row_id=None) for f in _distinct(change.add_data_files))
        self._delete_files = _distinct(change.add_delete_files)

    @property
    def produced(self) -> ProduceSnapshot:
        """What it carries out."""
        return self.change

    # -- Change --------------------------------------------------------------------------------------------------
    def apply(self, metadata: TableMetadata) -> ChangeSet:
        """Raises ValidationError where a validation fails, InvalidArgumentError for files that do not fit the table, AlreadyCommittedError
        if its snapshot is in the table."""
        change = self.change
        self.check_not_committed(metadata)
        self._check_target(metadata)
        parent = latest_snapshot(metadata, change.branch)
        self._check_files(metadata)
        Validator(self._io, metadata, parent, change).check()
        contents = self._contents(metadata, parent)
        self._check_replace(contents)
        snapshot = self._snapshot(metadata, parent, contents)
        updates: list[u.Update] = [u.AddSnapshot(snapshot)]
        if not change.stage_only:
            held = metadata.refs.get(change.branch)
            ref = SnapshotRef(snapshot_id=self.snapshot_id) if held is None else replace(held, snapshot_id=self.snapshot_id)
            updates.append(u.SetSnapshotRef(change.branch, ref))
        return ChangeSet(tuple(updates), requirements_for(metadata, updates))

    def check_not_committed(self, metadata: TableMetadata) -> None:
        """Raises AlreadyCommittedError."""
        if self.snapshot_id in metadata.snapshots_by_id:
            raise AlreadyCommittedError(f"Cannot commit: snapshot id is taken: {self.snapshot_id}", snapshot_id=self.snapshot_id)

    def committed(self, metadata: TableMetadata) -> None:
        """Remove manifests and lists that only losing attempts wrote; nothing if the snapshot cannot be seen in the metadata."""
        self._is_committed = True
        snapshot = metadata.snapshots_by_id.get(self.snapshot_id)
        if snapshot is None:
            return
        used = {manifest.manifest_path for manifest in manifests_of(self._io, snapshot)}
        losers = self._factory.written - used
        losers.update(location for location in self._lists if location != snapshot.manifest_list)
        if losers:
            self._io.delete_many(sorted(losers))

    def abandoned(self) -> None:
        if self._is_committed:  # by an earlier commit of the same change
            return
        locations = {*self._factory.written, *self._lists}
        if self._owns_files:
            locations.update(file.file_path for file in (*self._data_files, *self._delete_files))
        if locations:
            self._io.delete_many(sorted(locations))

    # -- checks --------------------------------------------------------------------------------------------------
    def _check_target(self, metadata: TableMetadata) -> None:
        """A branch that does not exist yet is made; one that existed when the write began, and no longer does, was dropped."""
        branch = self.change.branch
        ref = metadata.refs.get(branch)
        if ref is not None and not ref.is_branch:
            raise InvalidArgumentError(f"{branch} is a tag, not a branch. Tags cannot be targets for producing snapshots", ref=branch)
        if ref is None and self._saw_branch and branch != MAIN:
            raise ValidationError(f"Cannot commit to branch {branch}: it was dropped meanwhile", ref=branch)
        self._saw_branch = ref is not None

    def _check_files(self, metadata: TableMetadata) -> None:
        check_added_files(metadata, self._data_files, "data file")
        check_added_files(metadata, self._delete_files, "delete file")
        version = metadata.format_version
        for file in self._delete_files:
            if version < 2:
                raise InvalidArgumentError("Deletes are supported in V2 and above")
            if file.content is FileContent.POSITION_DELETES and file.is_deletion_vector != (version >= 3):
                rule = "Must use DVs for position deletes in V3" if version >= 3 else "Must not use DVs for position deletes in V2"
                raise InvalidArgumentError(f"{rule}: {file.file_path}", file_path=file.file_path)
        self._check_added_files_match(metadata)

    def _check_added_files_match(self, metadata: TableMetadata) -> None:
        expression = self.change.added_files_match_filter
        if expression is None or not self._data_files:
            return
        spec_ids = {file.spec_id for file in self._data_files}
        if len(spec_ids) > 1:
            raise InvalidArgumentError(f"Cannot return a single partition spec: files of different specs were added: {sorted(spec_ids)}")
        spec, case_sensitive = spec_of(metadata, spec_ids.pop()), self.change.case_sensitive
        partition = spec.partition_type(schema_for_spec(metadata, spec))
        inclusive = row_evaluator(partition, inclusive_projection(metadata.schema, spec, expression, case_sensitive))
        strict = row_evaluator(partition, strict_projection(metadata.schema, spec, expression, case_sensitive))
        metrics = strict_metrics(metadata.schema, expression, case_sensitive=case_sensitive)
        for file in self._data_files:
            if not inclusive(file.partition) or not (strict(file.partition) or metrics(file)):
                raise ValidationError(
                    f"Cannot append file with rows that do not match filter: {describe(expression)}: {file.file_path}",
                    file_path=file.file_path,
                )

    def _check_replace(self, contents: _Contents) -> None:
        if self.change.action is Operation.REPLACE and contents.added_records > contents.removed_records:
            raise InvalidArgumentError(
                f"Invalid REPLACE operation: {contents.added_records} added records > {contents.removed_records} replaced records"
            )

    # -- contents ------------------------------------------------------------------------------------------------
    def _contents(self, metadata: TableMetadata, parent: Snapshot | None) -> _Contents:
        parent_manifests = _countable(self._io, metadata, manifests_of(self._io, parent))
        data, deletes = self._filtered(metadata, parent_manifests)
        self._check_missing(data, deletes)
        self._one_vector_a_file.check(metadata, deletes.manifests)
        summary = self._summary(metadata, data, deletes)
        manifests, replaced = self._arranged(metadata, data, deletes)
        summary.update(manifest_counts(manifests, self.snapshot_id, replaced))
        return _Contents(tuple(manifests), summary.build(), summary.count("added-records"), summary.count("deleted-records"))

    def _filtered(self, metadata: TableMetadata, manifests: Sequence[ManifestFile]) -> tuple[Filtered, Filtered]:
        change = self.change
        data_manifests, delete_manifests = of_content(manifests, ManifestContent.DATA), of_content(manifests, ManifestContent.DELETES)
        removals = Removals(
            files={file.key: file for file in change.remove_data_files},
            partitions=change.drop_partitions,
            row_filter=change.delete_row_filter,
            case_sensitive=change.case_sensitive,
            fail_any_delete=change.fail_any_delete,
        )
        data = self._filters[ManifestContent.DATA].apply(metadata, data_manifests, removals)
        if not delete_manifests:
            return data, Filtered()
        delete_removals = self._delete_removals(metadata, data, removals)
        return data, self._filters[ManifestContent.DELETES].apply(metadata, delete_manifests, delete_removals)

    def _delete_removals(self, metadata: TableMetadata, data: Filtered, removals: Removals) -> Removals:
        """The delete files to remove: those listed, and with removed data files also dangling ones (``maintenance.dangling_deletes``)."""
        listed = {file.key: file for file in self.change.remove_delete_files}
        if not self.change.merge_manifests and not listed and removals.is_empty:  # a fast append leaves everything as it is
            return Removals()
        data_manifests = [*data.manifests, *of_content(self.change.add_manifests, ManifestContent.DATA)]
        number_of_added = self.change.data_sequence_number if self._data_files else None
        return replace(
            removals,
            files=listed,
            fail_any_delete=False,
            min_sequence_number=oldest_data_sequence_number(metadata.last_sequence_number, data_manifests, number_of_added),
            dangling=frozenset(file.file_path for file in data.removed),
            dangling_partitions=frozenset((file.spec_id, file.partition) for file in data.removed),
        )

    def _check_missing(self, data: Filtered, deletes: Filtered) -> None:
        if not self.change.fail_missing_deletes:
            return
        removed = data.removed_keys() | deletes.removed_keys()
        wanted = [f for f in (*self.change.remove_data_files, *self.change.remove_delete_files) if f.key not in removed]
        if wanted:
            paths = ", ".join(sorted(file.file_path for file in wanted))
            raise ValidationError(f"Missing required files to delete: {paths}", file_paths=paths)

    def _summary(self, metadata: TableMetadata, data: Filtered, deletes: Filtered) -> SummaryBuilder:
        summary = SummaryBuilder(metadata, trusted=self.change.count_partitions)
        summary.update(self.change.summary)
        summary.add_files(self._data_files)
        summary.add_files(self._delete_files)
        summary.remove_files(data.removed)
        summary.remove_files(deletes.removed)
        summary.duplicate_deletes = data.duplicates + deletes.duplicates
        return summary

    def _arranged(self, metadata: TableMetadata, data: Filtered, deletes: Filtered) -> tuple[list[ManifestFile], int]:
        """All manifests of the snapshot, data before deletes, and the number of old ones that were rewritten."""
        change = self.change
        gone = {manifest.manifest_path for manifest in change.remove_manifests}
        missing = gone - {manifest.manifest_path for filtered in (data, deletes) for manifest in filtered.manifests}
        if missing:
            raise ValidationError(f"Manifest is missing: {', '.join(sorted(missing))}", manifests=sorted(missing))
        replaced = data.replaced + deletes.replaced + len(gone)
        result: list[ManifestFile] = []
        for content, filtered in ((ManifestContent.DATA, data), (ManifestContent.DELETES, deletes)):
            fresh = [*self._new_manifests(metadata, content), *(m for m in change.add_manifests if m.content is content)]
            manifests = [*fresh, *(m for m in filtered.manifests if m.manifest_path not in gone)]
            if change.merge_manifests:
                kept = [m for m in manifests if m.has_live_files or m.added_snapshot_id == self.snapshot_id]
                merged = self._mergers[content].apply(metadata, kept)
                result += merged.manifests
                replaced += merged.replaced
            else:
                result += manifests
        return result, replaced

    def _new_manifests(self, metadata: TableMetadata, content: ManifestContent) -> list[ManifestFile]:
        """Manifests of the added files, for each spec; written once, and again only after a format upgrade."""
        files = self._data_files if content is ManifestContent.DATA else self._delete_files
        key = (metadata.format_version, content)
        if key not in self._added:
            by_spec: dict[int, list[DataFile]] = {}
            for file in files:
                by_spec.setdefault(file.spec_id, []).append(file)
            self._added[key] = [
                manifest
                for spec_id, group in by_spec.items()
                for manifest in self._factory.write(metadata, spec_id, content, map(self._added_entry, group))
            ]
        return self._added[key]

    def _added_entry(self, file: DataFile) -> ManifestEntry:
        is_data = file.content is FileContent.DATA
        return ManifestEntry(
            status=EntryStatus.ADDED,
            snapshot_id=self.snapshot_id,
            sequence_number=self.change.data_sequence_number if is_data else self.change.delete_sequence_numbers.get(file.key),
            data_file=file,
        )

    # -- the snapshot --------------------------------------------------------------------------------------------
    def _snapshot(self, metadata: TableMetadata, parent: Snapshot | None, contents: _Contents) -> Snapshot:
        self._attempt += 1
        version = metadata.format_version
        sequence_number = metadata.last_sequence_number + 1 if version > 1 else 0
        name = new_manifest_list_name(self.snapshot_id, self._attempt, self._factory.commit_uuid)
        location = location_provider(metadata).metadata_file(name)
        self._lists.append(location)
        parent_id = None if parent is None else parent.snapshot_id
        first_row_id = (metadata.next_row_id or 0) if version >= 3 else None
        next_row_id = write_manifest_list(
            self._io,
            location,
            format_version=version,
            snapshot_id=self.snapshot_id,
            parent_snapshot_id=parent_id,
            sequence_number=sequence_number,
            manifests=contents.manifests,
            next_row_id=first_row_id,
        )
        # The runtime begins totals anew on a branch that this commit makes, and so do we: they must be equal.
        counted_on = parent if self.change.branch == MAIN or self.change.branch in metadata.refs else None
        summary = {**with_totals(contents.summary, counted_on), "operation": self.change.action.value}  # whatever else was given
        return Snapshot(
            snapshot_id=self.snapshot_id,
            parent_snapshot_id=parent_id,
            sequence_number=sequence_number,
            timestamp_ms=max(time.time_ns() // 1_000_000, metadata.last_updated_ms),
            manifest_list=location,
            summary=summary,
            schema_id=metadata.current_schema_id,
            first_row_id=first_row_id,
            added_rows=None if next_row_id is None or first_row_id is None else next_row_id - first_row_id,
        )


def new_snapshot_id() -> int:
    """A random positive 63-bit id."""
    number = uuid.uuid4().int
    return ((number >> 64) ^ number) & 0x7FFFFFFFFFFFFFFF


def _distinct(files: Iterable[DataFile]) -> tuple[DataFile, ...]:
    return tuple({file.key: file for file in files}.values())


def _countable(io: FileIO, metadata: TableMetadata, manifests: Sequence[ManifestFile]) -> list[ManifestFile]:
    """The manifest with counts, which lists require since version 2 and early v1 writers left out."""
    return [with_counts(io, manifest, metadata.specs_by_id) for manifest in manifests] if metadata.format_version > 1 else list(manifests)
