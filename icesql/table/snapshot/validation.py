"""Commit validations: did a commit since the writer's base make its change wrong? Messages and order are the reference's.

A validation walks from the branch's head back to the base snapshot and reads only manifests that the snapshots on the way added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from icesql.errors import ValidationError, unknown_case
from icesql.expr.describe import describe
from icesql.expr.manifests import manifest_evaluator
from icesql.expr.metrics import inclusive_metrics
from icesql.expr.residuals import residual_function
from icesql.expr.tree import AlwaysFalse, AlwaysTrue, Expression
from icesql.io.manifests.entries import read_manifest
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, EntryStatus, FileContent, ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.paths import partition_path
from icesql.spec.snapshots import Operation, Snapshot
from icesql.table.manifests.access import manifests_of, schema_for_spec, spec_of
from icesql.table.manifests.filter import may_contain_any
from icesql.table.scan.delete_matching import may_apply, referenced_path
from icesql.table.snapshot.known_files import already_in_table, live_data_paths, one_spelling
from icesql.table.snapshot.produce import (
    NotAllowedAddedDataFiles,
    NotAllowedAddedDeleteFiles,
    NotAllowedKnownDataFiles,
    NotAllowedNewDeletesForDataFiles,
    ProduceSnapshot,
    RequiredDataFiles,
    RequiredDeleteFiles,
)

_Partitions = frozenset[tuple[int, tuple[object, ...]]]
_ADDED_FILES = frozenset({Operation.APPEND, Operation.OVERWRITE})
_ADDED_DELETES = frozenset({Operation.OVERWRITE, Operation.DELETE})
_REMOVED_FILES = frozenset({Operation.OVERWRITE, Operation.REPLACE, Operation.DELETE})


@dataclass(slots=True)
class Validator:
    """Validations of one change against one version of the table. ``head`` is what the commit will build on."""

    io: FileIO
    metadata: TableMetadata
    head: Snapshot | None
    change: ProduceSnapshot
    _entries: dict[str, list[ManifestEntry]] = field(default_factory=dict)

    def check(self) -> None:
        """Raises ValidationError for the first validation that does not hold."""
        if self.head is None:
            return
        self._check_new_deletion_vectors()
        for validation in self.change.validations:
            match validation:
                case NotAllowedAddedDataFiles(filter=filter_, partitions=partitions):
                    self._no_added_data_files(filter_, partitions)
                case NotAllowedAddedDeleteFiles():
                    self._no_added_delete_files(validation.filter, validation.partitions)
                    if validation.and_deleted_data_files:
                        self._no_deleted_data_files(validation.filter, validation.partitions)
                case RequiredDataFiles():
                    self._required_data_files(validation)
                case RequiredDeleteFiles():
                    self._required_delete_files(validation)
                case NotAllowedNewDeletesForDataFiles():
                    self._no_new_deletes_for(validation)
                case NotAllowedKnownDataFiles(file_paths=paths):
                    self._no_known_data_files(paths)
                case _:
                    raise unknown_case(validation)

    # -- the walk ------------------------------------------------------------------------------------------------
    def _since_base(self) -> list[Snapshot]:
        """Snapshots after the base, newest first. Raises ValidationError if the chain does not lead to the base."""
        base_id, snapshots = self.change.base_snapshot_id, []
        for snapshot in self.metadata.ancestors(None if self.head is None else self.head.snapshot_id):
            if snapshot.snapshot_id == base_id:
                break
            snapshots.append(snapshot)
        if snapshots and snapshots[-1].parent_snapshot_id != base_id:
            oldest = snapshots[-1].snapshot_id
            raise ValidationError(
                f"Cannot determine history between starting snapshot {_text(base_id)} and the last known ancestor {oldest}",
                base_snapshot_id=base_id,
            )
        return snapshots

    def _history(self, operations: frozenset[Operation], content: ManifestContent) -> tuple[list[ManifestFile], set[int]]:
        """Manifests that snapshots with one of the operations added since the base, and those snapshots' ids."""
        manifests, ids = [], set()
        for snapshot in self._since_base():
            if snapshot.operation in operations:
                ids.add(snapshot.snapshot_id)
                manifests += [
                    m for m in manifests_of(self.io, snapshot) if m.content is content and m.added_snapshot_id == snapshot.snapshot_id
                ]
        return manifests, ids

    def _entries_of(self, manifest: ManifestFile) -> list[ManifestEntry]:
        known = self._entries.get(manifest.manifest_path)
        if known is None:
            known = self._entries[manifest.manifest_path] = read_manifest(self.io, manifest, self.metadata.specs_by_id)
        return known

    def _matching(self, manifests: Iterable[ManifestFile], filter_: Expression, partitions: _Partitions | None) -> Iterator[ManifestEntry]:
        """Entries that neither the filter nor the partitions exclude."""
        tests = _FileTests(self.metadata, filter_, partitions, self.change.case_sensitive)
        for manifest in manifests:
            if tests.may_hold(manifest):
                test = tests.of_spec(manifest.partition_spec_id)
                yield from (entry for entry in self._entries_of(manifest) if test(entry.data_file))

    # -- one a validation ------------------------------------------------------------------------------------------------
    def _no_added_data_files(self, filter_: Expression, partitions: _Partitions | None) -> None:
        manifests, ids = self._history(_ADDED_FILES, ManifestContent.DATA)
        entries = self._matching((m for m in manifests if m.has_added_files), filter_, partitions)
        paths = [e.data_file.file_path for e in entries if e.status is EntryStatus.ADDED and e.snapshot_id in ids]
        if paths:
            scope = self._scope(filter_, partitions)
            raise _conflict(f"Found conflicting files that can contain records matching {scope}", paths)

    def _no_added_delete_files(self, filter_: Expression, partitions: _Partitions | None) -> None:
        paths = [entry.data_file.file_path for entry in self._added_deletes(filter_, partitions)]
        if paths:
            scope = self._scope(filter_, partitions, "")
            raise _conflict(f"Found new conflicting delete files that can apply to records matching {scope}", paths)

    def _added_deletes(self, filter_: Expression, partitions: _Partitions | None) -> Iterator[ManifestEntry]:
        if self.metadata.format_version < 2:
            return
        manifests, _ = self._history(_ADDED_DELETES, ManifestContent.DELETES)
        after = self._base_sequence_number()
        for entry in self._matching((m for m in manifests if m.has_live_files), filter_, partitions):
            if entry.is_live and (entry.sequence_number or 0) > after:
                yield entry

    def _base_sequence_number(self) -> int:
        base_id = self.change.base_snapshot_id
        base = None if base_id is None else self.metadata.snapshots_by_id.get(base_id)
        return 0 if base is None else base.sequence_number

    def _no_deleted_data_files(self, filter_: Expression, partitions: _Partitions | None) -> None:
        manifests, ids = self._history(_REMOVED_FILES, ManifestContent.DATA)
        entries = self._matching((m for m in manifests if m.has_deleted_files), filter_, partitions)
        paths = [e.data_file.file_path for e in entries if e.status is EntryStatus.DELETED and e.snapshot_id in ids]
        if paths:
            verb, scope = "contain" if partitions is None else "apply to", self._scope(filter_, partitions, "")
            raise _conflict(f"Found conflicting deleted files that can {verb} records matching {scope}", paths)

    def _required_data_files(self, required: RequiredDataFiles) -> None:
        operations = _REMOVED_FILES - required.allowed_remove_operations
        missing = self._removed(operations, ManifestContent.DATA, required.filter, required.file_paths)
        if missing:
            raise _conflict("Cannot commit, missing data files", missing)

    def _required_delete_files(self, required: RequiredDeleteFiles) -> None:
        missing = self._removed(_REMOVED_FILES, ManifestContent.DELETES, required.filter, required.file_paths)
        if missing:
            raise _conflict("Cannot commit, missing delete files", missing)

    def _removed(self, operations: frozenset[Operation], content: ManifestContent, filter_: Expression, paths: frozenset[str]) -> list[str]:
        """Those of the paths that one of the operations removed since the base, sorted."""
        if not paths:
            return []
        manifests, ids = self._history(operations, content)
        entries = self._matching((m for m in manifests if m.has_deleted_files), filter_, None)
        removed = {e.data_file.file_path for e in entries if e.status is EntryStatus.DELETED and e.snapshot_id in ids}
        return sorted(removed & paths)

    def _no_new_deletes_for(self, validation: NotAllowedNewDeletesForDataFiles) -> None:
        known = {file.file_path: file for file in self.change.remove_data_files}
        unknown = validation.file_paths - known.keys()
        files = [known[path] for path in sorted(validation.file_paths & known.keys())]
        for entry in self._added_deletes(validation.filter, None):
            delete = entry.data_file
            if validation.ignore_equality_deletes and delete.content is FileContent.EQUALITY_DELETES:
                self._check_applies_after_rewrite(delete)
                continue
            hit = next((f.file_path for f in files if may_apply(delete, f, self.metadata)), None)
            if hit is None and unknown:  # files known by path alone: only a delete that names another file is surely harmless
                referenced = referenced_path(delete)
                hit = next(iter(sorted(unknown)), None) if referenced is None else (referenced if referenced in unknown else None)
            if hit is not None:
                kind = "new position delete" if validation.ignore_equality_deletes else "new delete"
                raise ValidationError(f"Cannot commit, found {kind} for replaced data file: {hit}", file_path=hit)

    def _no_known_data_files(self, paths: frozenset[str]) -> None:
        """Reads the whole table, not only commits since the base: a rollback may have brought a file back."""
        live = live_data_paths(self.io, self.metadata, self.head)
        known = sorted(paths & {one_spelling(path) for path in live})
        if known:
            raise already_in_table(known)

    def _check_applies_after_rewrite(self, delete: DataFile) -> None:
        """New equality deletes still apply to rewritten rows, which keep their sequence number, unless the rows change partition: then a
        delete of the old partition would miss them, and one of the new partition would delete them.
        """
        change = self.change
        files = (*change.remove_data_files, *change.add_data_files)
        if spec_of(self.metadata, delete.spec_id).is_unpartitioned or len({file.spec_id for file in files}) == 1:
            return
        hit = next((file.file_path for file in files if may_apply(delete, file, self.metadata)), None)
        if hit is not None:
            raise ValidationError(
                f"Cannot commit, found new equality delete for rows that the rewrite moves to another partition spec: {hit}", file_path=hit
            )

    def _check_new_deletion_vectors(self) -> None:
        """A data file may have one deletion vector only. Spec: "Deletion Vectors"."""
        ours = {f.referenced_data_file: f for f in self.change.add_delete_files if f.is_deletion_vector}
        if not ours:
            return
        manifests, ids = self._history(_REMOVED_FILES, ManifestContent.DELETES)
        for manifest in manifests:
            for entry in self._entries_of(manifest):
                file = entry.data_file
                if entry.is_live and entry.snapshot_id in ids and file.is_deletion_vector and file.referenced_data_file in ours:
                    raise ValidationError(
                        f"Found concurrently added DV for {file.referenced_data_file}: {file.file_path}", file_path=file.file_path
                    )

    def _scope(self, filter_: Expression, partitions: _Partitions | None, prefix: str = "partitions ") -> str:
        if partitions is None:
            return describe(filter_)
        return prefix + describe_partitions(self.metadata, partitions)


def _conflict(why: str, paths: list[str]) -> ValidationError:
    return ValidationError(f"{why}: [{', '.join(paths)}]", file_paths=paths)


def describe_partitions(metadata: TableMetadata, partitions: Iterable[tuple[int, tuple[object, ...]]]) -> str:
    """``[day=2021-10-01, day=2021-10-02]``, sorted."""
    shown = []
    for spec_id, partition in partitions:
        spec = spec_of(metadata, spec_id)
        shown.append(partition_path(spec, schema_for_spec(metadata, spec), partition))
    return f"[{', '.join(sorted(shown))}]"


class _FileTests:
    """Inclusive tests of files, by spec: never false for a file that may hold a matching row."""

    def __init__(self, metadata: TableMetadata, filter_: Expression, partitions: _Partitions | None, case_sensitive: bool) -> None:
        self._metadata, self._filter, self._partitions, self._case_sensitive = metadata, filter_, partitions, case_sensitive

    def may_hold(self, manifest: ManifestFile) -> bool:
        spec_id = manifest.partition_spec_id
        if self._partitions is not None:
            wanted = [partition for known_id, partition in self._partitions if known_id == spec_id]
            return bool(wanted) and may_contain_any(self._metadata, manifest, wanted)
        if isinstance(self._filter, AlwaysTrue):
            return True
        spec = spec_of(self._metadata, spec_id)
        return manifest_evaluator(spec, self._metadata.schema, self._filter, case_sensitive=self._case_sensitive)(manifest)

    def of_spec(self, spec_id: int) -> Callable[[DataFile], bool]:
        if self._partitions is not None:
            partitions = self._partitions
            return lambda file: (file.spec_id, file.partition) in partitions
        if isinstance(self._filter, AlwaysTrue):
            return lambda file: True
        return self._by_filter(spec_id)

    def _by_filter(self, spec_id: int) -> Callable[[DataFile], bool]:
        spec, schema = spec_of(self._metadata, spec_id), self._metadata.schema
        residual = residual_function(spec, schema, self._filter, case_sensitive=self._case_sensitive)
        tests: dict[Expression, Callable[[DataFile], bool]] = {}

        def test(file: DataFile) -> bool:
            left = residual(file.partition)
            if isinstance(left, AlwaysFalse):
                return False
            if file.content is not FileContent.DATA:  # metrics of delete files describe deletes, not the rows they apply to
                return True
            if left not in tests:
                tests[left] = inclusive_metrics(schema, left)
            return tests[left](file)

        return test


def _text(snapshot_id: int | None) -> str:
    return "null" if snapshot_id is None else str(snapshot_id)
