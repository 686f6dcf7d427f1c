"""CherryPick: apply a snapshot's changes on top of the current state. Publishes staged (write-audit-publish) snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from icesql.errors import ValidationError
from icesql.io.manifests.entries import read_manifest
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, EntryStatus, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, Operation, Snapshot, SnapshotRef
from icesql.table.changes.replace_partitions import REPLACE_PARTITIONS
from icesql.table.commit import commit
from icesql.table.manifests.access import manifests_of
from icesql.table.metadata import update_values as u
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet, TableOperations, TableVersion
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.producer import SnapshotProducer

WAP_ID = "wap.id"
PUBLISHED_WAP_ID = "published-wap-id"
SOURCE_SNAPSHOT_ID = "source-snapshot-id"


class CherryPick:
    """Appends and dynamic overwrites are applied again; any other snapshot must be the next after the current one (fast-forward)."""

    def __init__(self, snapshot_id: int, operations: TableOperations, base: TableVersion | None = None) -> None:
        self.source_id = snapshot_id
        self._operations, self._base = operations, base
        self._producer: SnapshotProducer | None = None

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        """Raises ValidationError where the snapshot cannot be picked, AlreadyCommittedError if it was picked by this very change."""
        if self._producer is not None:
            self._producer.check_not_committed(metadata)
        picked = metadata.snapshots_by_id.get(self.source_id)
        if picked is None:
            raise ValidationError(f"Cannot cherry-pick unknown snapshot ID: {self.source_id}", snapshot_id=self.source_id)
        is_append = picked.operation == Operation.APPEND.value
        replaces = picked.operation == Operation.OVERWRITE.value and picked.summary.get(REPLACE_PARTITIONS, "").lower() == "true"
        if replaces:
            _check_based_on_ancestor(metadata, picked)
        if is_append or replaces:
            check_wap_publish(metadata, picked)
        if _is_next(metadata, picked):
            return self._fast_forward(metadata, picked)
        if not is_append and not replaces:
            raise ValidationError(
                f"Cannot cherry-pick snapshot {self.source_id}: not append, dynamic overwrite, or fast-forward", snapshot_id=self.source_id
            )
        _check_not_ancestor(metadata, self.source_id)
        if replaces:
            _check_partitions_unchanged(self._operations.io, metadata, picked)
        if self._producer is None:
            self._producer = SnapshotProducer(self._change(picked, replaces), self._operations.io, self._operations.name)
        return self._producer.apply(metadata)

    def _fast_forward(self, metadata: TableMetadata, picked: Snapshot) -> ChangeSet:
        held = metadata.refs.get(MAIN)
        ref = SnapshotRef(snapshot_id=picked.snapshot_id) if held is None else replace(held, snapshot_id=picked.snapshot_id)
        updates = (u.SetSnapshotRef(MAIN, ref),)
        return ChangeSet(updates, requirements_for(metadata, updates))

    def _change(self, picked: Snapshot, replaces: bool) -> ProduceSnapshot:
        io = self._operations.io
        summary = {SOURCE_SNAPSHOT_ID: str(picked.snapshot_id)}
        if picked.summary.get(WAP_ID):
            summary[PUBLISHED_WAP_ID] = picked.summary[WAP_ID]
        return ProduceSnapshot(
            action=Operation(picked.operation or Operation.APPEND.value),
            base_snapshot_id=picked.parent_snapshot_id,
            add_data_files=tuple(changed_files(io, picked, EntryStatus.ADDED)),
            remove_data_files=tuple(changed_files(io, picked, EntryStatus.DELETED)) if replaces else (),
            fail_missing_deletes=replaces,
            summary=summary,
        )

    def committed(self, metadata: TableMetadata) -> None:
        if self._producer is not None:
            self._producer.committed(metadata)

    def abandoned(self) -> None:
        if self._producer is not None:
            self._producer.abandoned()

    def commit(self) -> TableVersion:
        return commit(self._operations, [self], base=self._base)


def changed_files(io: FileIO, snapshot: Snapshot, status: EntryStatus) -> Iterator[DataFile]:
    """Data files that the snapshot itself added or deleted."""
    for manifest in manifests_of(io, snapshot):
        if manifest.content is ManifestContent.DATA and manifest.added_snapshot_id == snapshot.snapshot_id:
            for entry in read_manifest(io, manifest):
                if entry.status is status and entry.snapshot_id == snapshot.snapshot_id:
                    yield entry.data_file


def check_wap_publish(metadata: TableMetadata, picked: Snapshot) -> None:
    """Raises ValidationError if a snapshot with the same WAP id is part of the current state already."""
    wap_id = picked.summary.get(WAP_ID)
    if not wap_id:
        return
    for ancestor in metadata.ancestors(metadata.current_snapshot_id):
        if wap_id in (ancestor.summary.get(WAP_ID), ancestor.summary.get(PUBLISHED_WAP_ID)):
            raise ValidationError(f"Duplicate request to cherry pick wap id that was published already: {wap_id}", wap_id=wap_id)


def _is_next(metadata: TableMetadata, picked: Snapshot) -> bool:
    return picked.parent_snapshot_id == metadata.current_snapshot_id


def _check_not_ancestor(metadata: TableMetadata, snapshot_id: int) -> None:
    for ancestor in metadata.ancestors(metadata.current_snapshot_id):
        if ancestor.snapshot_id == snapshot_id:
            raise ValidationError(f"Cannot cherrypick snapshot {snapshot_id}: already an ancestor", snapshot_id=snapshot_id)
        if ancestor.summary.get(SOURCE_SNAPSHOT_ID) == str(snapshot_id):
            raise ValidationError(
                f"Cannot cherrypick snapshot {snapshot_id}: already picked to create ancestor {ancestor.snapshot_id}",
                snapshot_id=snapshot_id,
            )


def _check_based_on_ancestor(metadata: TableMetadata, picked: Snapshot) -> None:
    parent_id = picked.parent_snapshot_id
    if parent_id is not None and not metadata.is_ancestor(parent_id, metadata.current_snapshot_id):
        raise ValidationError(
            f"Cannot cherry-pick overwrite not based on an ancestor of the current state: {picked.snapshot_id}",
            snapshot_id=picked.snapshot_id,
        )


def _check_partitions_unchanged(io: FileIO, metadata: TableMetadata, picked: Snapshot) -> None:
    replaced = {(file.spec_id, file.partition) for file in changed_files(io, picked, EntryStatus.ADDED)}
    for snapshot in metadata.ancestors(metadata.current_snapshot_id):
        if snapshot.snapshot_id == picked.parent_snapshot_id:
            return
        for file in changed_files(io, snapshot, EntryStatus.ADDED):
            if (file.spec_id, file.partition) in replaced:
                raise ValidationError(
                    f"Cannot cherry-pick replace partitions with changed partition: {_partition_text(metadata, file)}",
                    snapshot_id=picked.snapshot_id,
                )


def _partition_text(metadata: TableMetadata, file: DataFile) -> str:
    spec = metadata.specs_by_id.get(file.spec_id)
    names = [] if spec is None else [field.name for field in spec.fields]
    return f"PartitionData{{{', '.join(f'{n}={v}' for n, v in zip(names, file.partition, strict=False))}}}"


def snapshot_of_wap_id(metadata: TableMetadata, wap_id: str) -> Snapshot:
    """The one snapshot staged under a WAP id. Raises ValidationError for none or several."""
    staged = [snapshot for snapshot in metadata.snapshots if snapshot.summary.get(WAP_ID) == wap_id and wap_id]
    if not staged:
        raise ValidationError(f"Cannot apply unknown WAP ID '{wap_id}'", wap_id=wap_id)
    if len(staged) > 1:
        raise ValidationError(f"Cannot apply non-unique WAP ID. Found multiple snapshots with WAP ID '{wap_id}'", wap_id=wap_id)
    return staged[0]
