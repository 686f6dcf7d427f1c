"""Changes to branches and tags of one version of a table, each checked at once. Error messages are the reference's."""

from __future__ import annotations

from dataclasses import replace

from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, ValidationError
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, RefType, SnapshotRef
from icesql.table.metadata import update_values as u


class RefEditor:
    """``updates``: the metadata updates, in order, that turn the original refs into the edited ones."""

    def __init__(self, metadata: TableMetadata) -> None:
        self.metadata = metadata
        self.refs = dict(metadata.refs)
        self.updates: list[u.Update] = []

    def _put(self, name: str, ref: SnapshotRef) -> None:
        if self.refs.get(name) != ref:
            self.refs[name] = ref
            self.updates.append(u.SetSnapshotRef(name, ref))

    def _drop(self, name: str) -> None:
        del self.refs[name]
        self.updates.append(u.RemoveSnapshotRef(name))

    def _check_new(self, name: str) -> None:
        if name in self.refs:
            raise AlreadyExistsError(f"Ref {name} already exists", ref=name)

    def _branch(self, name: str) -> SnapshotRef:
        branch = self.refs.get(name)
        if branch is None:
            raise NotFoundError(f"Branch does not exist: {name}", ref=name)
        if not branch.is_branch:
            raise InvalidArgumentError(f"Ref {name} is a tag not a branch", ref=name)
        return branch

    def _tag(self, name: str) -> SnapshotRef:
        tag = self.refs.get(name)
        if tag is None:
            raise NotFoundError(f"Tag does not exist: {name}", ref=name)
        if tag.is_branch:
            raise InvalidArgumentError(f"Ref {name} is a branch not a tag", ref=name)
        return tag

    def _known(self, name: str, snapshot_id: int) -> int:
        if snapshot_id not in self.metadata.snapshots_by_id:
            raise ValidationError(f"Cannot set {name} to unknown snapshot: {snapshot_id}", snapshot_id=snapshot_id)
        return snapshot_id

    # -- branches and tags ---------------------------------------------------------------------------------------
    def create(self, name: str, snapshot_id: int, type_: RefType) -> None:
        self._check_new(name)
        self._put(name, SnapshotRef(snapshot_id=self._known(name, snapshot_id), type=type_))

    def remove_branch(self, name: str) -> None:
        if name == MAIN:
            raise InvalidArgumentError("Cannot remove main branch", ref=name)
        self._branch(name)
        self._drop(name)

    def remove_tag(self, name: str) -> None:
        self._tag(name)
        self._drop(name)

    def rename_branch(self, name: str, new_name: str) -> None:
        if name == MAIN:
            raise InvalidArgumentError("Cannot rename main branch", ref=name)
        held = self._branch(name)
        self._check_new(new_name)
        self._put(new_name, held)
        self._drop(name)

    def replace_branch(self, name: str, snapshot_id: int) -> None:
        held = self._branch(name)
        self._put(name, replace(held, snapshot_id=self._known(name, snapshot_id)))

    def replace_tag(self, name: str, snapshot_id: int) -> None:
        held = self._tag(name)
        self._put(name, replace(held, snapshot_id=self._known(name, snapshot_id)))

    def move_branch(self, name: str, to: str, *, fast_forward: bool) -> None:
        """Point a branch where another ref points; it is made if it does not exist."""
        target = self.refs.get(to)
        if target is None:
            raise NotFoundError(f"Ref does not exist: {to}", ref=to)
        if name not in self.refs:
            self.create(name, target.snapshot_id, RefType.BRANCH)
            return
        held = self._branch(name)
        if held.snapshot_id == target.snapshot_id:
            return
        if fast_forward and not self.metadata.is_ancestor(held.snapshot_id, target.snapshot_id):
            raise InvalidArgumentError(f"Cannot fast-forward: {name} is not an ancestor of {to}", ref=name)
        self._put(name, replace(held, snapshot_id=target.snapshot_id))

    # -- retention -----------------------------------------------------------------------------------------------
    def set_min_snapshots_to_keep(self, name: str, count: int | None) -> None:
        held = self._retained_branch(name, "minSnapshotsToKeep")
        _positive(count, "Min snapshots to keep", 2**31 - 1)
        self._put(name, replace(held, min_snapshots_to_keep=count))

    def set_max_snapshot_age_ms(self, name: str, age_ms: int | None) -> None:
        held = self._retained_branch(name, "maxSnapshotAgeMs")
        _positive(age_ms, "Max snapshot age")
        self._put(name, replace(held, max_snapshot_age_ms=age_ms))

    def _retained_branch(self, name: str, what: str) -> SnapshotRef:
        held = self.refs.get(name)
        if held is not None and not held.is_branch:
            raise InvalidArgumentError(f"Tags do not support setting {what}", ref=name)
        return self._branch(name)

    def set_max_ref_age_ms(self, name: str, age_ms: int | None) -> None:
        held = self.refs.get(name)
        if held is None:
            raise NotFoundError(f"Ref does not exist: {name}", ref=name)
        _positive(age_ms, "Max reference age")
        self._put(name, replace(held, max_ref_age_ms=age_ms))

    # -- main ----------------------------------------------------------------------------------------------------
    def set_current(self, snapshot_id: int) -> None:
        """Point main to any snapshot of the table."""
        if snapshot_id not in self.metadata.snapshots_by_id:
            raise ValidationError(f"Cannot roll back to unknown snapshot id: {snapshot_id}", snapshot_id=snapshot_id)
        held = self.refs.get(MAIN)
        self._put(MAIN, SnapshotRef(snapshot_id=snapshot_id) if held is None else replace(held, snapshot_id=snapshot_id))

    def rollback_to(self, snapshot_id: int) -> None:
        if snapshot_id not in self.metadata.snapshots_by_id:
            raise ValidationError(f"Cannot roll back to unknown snapshot id: {snapshot_id}", snapshot_id=snapshot_id)
        if not self.metadata.is_ancestor(snapshot_id, self._current_id()):
            raise ValidationError(
                f"Cannot roll back to snapshot, not an ancestor of the current state: {snapshot_id}", snapshot_id=snapshot_id
            )
        self.set_current(snapshot_id)

    def rollback_to_time(self, timestamp_ms: int) -> None:
        """Point main to its newest ancestor older than the time."""
        older = [s for s in self.metadata.ancestors(self._current_id()) if s.timestamp_ms < timestamp_ms]
        if not older:
            raise ValidationError(f"Cannot roll back, no valid snapshot older than: {timestamp_ms}", timestamp_ms=timestamp_ms)
        self.set_current(max(older, key=lambda s: s.timestamp_ms).snapshot_id)

    def _current_id(self) -> int | None:
        held = self.refs.get(MAIN)
        return None if held is None else held.snapshot_id


def _positive(value: int | None, what: str, limit: int = 2**63 - 1) -> None:
    if value is not None and value <= 0:
        raise InvalidArgumentError(f"{what} must be greater than 0: {value}", value=value)
    if value is not None and value > limit:
        raise InvalidArgumentError(f"{what} must be at most {limit}: {value}", value=value)
