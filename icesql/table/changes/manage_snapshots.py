"""ManageSnapshots: branches, tags, retention, rollback, cherry-pick; any number of steps, one commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.errors import ValidationError
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, RefType
from icesql.table.arguments import checked
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.cherry_pick import CherryPick, snapshot_of_wap_id
from icesql.table.changes.ref_editor import RefEditor
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.metadata.builder import MetadataBuilder
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import Change, ChangeSet, TableOperations, TableVersion

Step = Callable[[RefEditor], None]


@checked
class ManageSnapshots:
    """Steps run in order when the commit applies them, each on the result of the one before. Without a snapshot id: the current one."""

    def __init__(self, operations: TableOperations, base: TableVersion | None = None) -> None:
        self._operations, self._base = operations, base
        self._steps: list[Step | Change] = []

    def _step(self, step: Step) -> ManageSnapshots:
        self._steps.append(step)
        return self

    # -- branches and tags ---------------------------------------------------------------------------------------
    def create_branch(self, name: str, snapshot_id: int | None = None) -> ManageSnapshots:
        """On a table without snapshots the branch starts with an empty snapshot of its own."""
        if snapshot_id is None:
            self._steps.append(_BranchFromCurrent(name, self._operations))
            return self
        return self._step(lambda e: e.create(name, snapshot_id, RefType.BRANCH))

    def create_tag(self, name: str, snapshot_id: int | None = None) -> ManageSnapshots:
        why = f"Cannot complete create or replace tag operation on {self._operations.name}, main has no snapshot"
        return self._step(lambda e: e.create(name, _or_current(e, snapshot_id, why), RefType.TAG))

    def remove_branch(self, name: str) -> ManageSnapshots:
        return self._step(lambda e: e.remove_branch(name))

    def remove_tag(self, name: str) -> ManageSnapshots:
        return self._step(lambda e: e.remove_tag(name))

    def rename_branch(self, name: str, new_name: str) -> ManageSnapshots:
        return self._step(lambda e: e.rename_branch(name, new_name))

    def replace_branch(self, name: str, snapshot_id: int | None = None) -> ManageSnapshots:
        """Point the branch at a snapshot; its retention settings stay."""
        why = f"Cannot complete replace branch operation on {self._operations.name}, main has no snapshot"
        return self._step(lambda e: e.replace_branch(name, _or_current(e, snapshot_id, why)))

    def replace_branch_by(self, name: str, ref: str) -> ManageSnapshots:
        """Point the branch where another ref points."""
        return self._step(lambda e: e.move_branch(name, ref, fast_forward=False))

    def replace_tag(self, name: str, snapshot_id: int | None = None) -> ManageSnapshots:
        why = f"Cannot complete create or replace tag operation on {self._operations.name}, main has no snapshot"
        return self._step(lambda e: e.replace_tag(name, _or_current(e, snapshot_id, why)))

    def fast_forward_branch(self, name: str, to: str) -> ManageSnapshots:
        """Move a branch on to a ref that descends from it; a missing branch is made."""
        return self._step(lambda e: e.move_branch(name, to, fast_forward=True))

    def set_min_snapshots_to_keep(self, branch: str, count: int | None) -> ManageSnapshots:
        return self._step(lambda e: e.set_min_snapshots_to_keep(branch, count))

    def set_max_snapshot_age_ms(self, branch: str, age_ms: int | None) -> ManageSnapshots:
        return self._step(lambda e: e.set_max_snapshot_age_ms(branch, age_ms))

    def set_max_ref_age_ms(self, ref: str, age_ms: int | None) -> ManageSnapshots:
        return self._step(lambda e: e.set_max_ref_age_ms(ref, age_ms))

    # -- main ----------------------------------------------------------------------------------------------------
    def set_current_snapshot(self, snapshot_id: int) -> ManageSnapshots:
        return self._step(lambda e: e.set_current(snapshot_id))

    def set_current_ref(self, ref: str) -> ManageSnapshots:
        def step(editor: RefEditor) -> None:
            target = editor.refs.get(ref)
            if target is None:
                raise ValidationError(f"Cannot find matching snapshot ID for ref {ref}", ref=ref)
            editor.set_current(target.snapshot_id)

        return self._step(step)

    def rollback_to(self, snapshot_id: int) -> ManageSnapshots:
        return self._step(lambda e: e.rollback_to(snapshot_id))

    def rollback_to_time(self, timestamp_ms: int) -> ManageSnapshots:
        return self._step(lambda e: e.rollback_to_time(timestamp_ms))

    def cherrypick(self, snapshot_id: int) -> ManageSnapshots:
        self._steps.append(CherryPick(snapshot_id, self._operations))
        return self

    def publish(self, wap_id: str) -> ManageSnapshots:
        """Cherry-pick the snapshot staged under a WAP id of the version this began with."""
        base = self._base or self._operations.load()
        return self.cherrypick(snapshot_of_wap_id(base.metadata, wap_id).snapshot_id)

    # -- Change --------------------------------------------------------------------------------------------------
    def apply(self, metadata: TableMetadata) -> ChangeSet:
        updates: list[u.Update] = []
        builder = MetadataBuilder(metadata)
        for step in self._steps:
            staged = builder.build()
            new = _updates_of(step, staged)
            builder.apply_all(new)
            updates += new
        return ChangeSet(tuple(updates), requirements_for(metadata, updates) if updates else ())

    def committed(self, metadata: TableMetadata) -> None:
        for change in self._changes():
            change.committed(metadata)

    def abandoned(self) -> None:
        for change in self._changes():
            change.abandoned()

    def _changes(self) -> list[Change]:
        return [step for step in self._steps if not callable(step)]

    def commit(self) -> TableVersion:
        return commit(self._operations, [self], base=self._base)

    def __enter__(self) -> ManageSnapshots:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()


def _updates_of(step: Step | Change, metadata: TableMetadata) -> list[u.Update]:
    if not callable(step):
        return list(step.apply(metadata).updates)
    editor = RefEditor(metadata)
    step(editor)
    return editor.updates


def _or_current(editor: RefEditor, snapshot_id: int | None, why: str) -> int:
    if snapshot_id is not None:
        return snapshot_id
    main = editor.refs.get(MAIN)
    if main is None:
        raise ValidationError(why)
    return main.snapshot_id


class _BranchFromCurrent:
    """Creates a branch at the current snapshot, or with an empty snapshot of its own where there is none."""

    def __init__(self, name: str, operations: TableOperations) -> None:
        self._name, self._operations = name, operations
        self._empty: AppendFiles | None = None

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        editor = RefEditor(metadata)
        current_id = metadata.current_snapshot_id
        if current_id is not None or self._name in metadata.refs:
            editor.create(self._name, current_id if current_id is not None else -1, RefType.BRANCH)
            return ChangeSet(tuple(editor.updates))
        if self._empty is None:
            self._empty = AppendFiles(self._operations, fast=True).to_branch(self._name)
        return self._empty.apply(metadata)

    def committed(self, metadata: TableMetadata) -> None:
        if self._empty is not None:
            self._empty.committed(metadata)

    def abandoned(self) -> None:
        if self._empty is not None:
            self._empty.abandoned()
