"""The changes that a commit's body asks for, in its order: plain updates, and snapshots to produce from files.

``produce-snapshot`` has two spellings: an ``action`` of that name whose intent is in ``operation``, and, as first proposed, the intent
itself as the ``action``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from icesql.io.storage.files import FileIO
from icesql.spec.json.faults import JsonFault, string_field, within
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.metadata.requirements import Requirement
from icesql.table.metadata.update_values import RemoveSnapshotRef, Update
from icesql.table.metadata.updates_json import requirement_from_json, update_from_json
from icesql.table.operations import Change, ChangeSet, MetadataChange
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.produce_json import produce_from_json
from icesql.table.snapshot.producer import SnapshotProducer, new_snapshot_id

PRODUCE_SNAPSHOT = "produce-snapshot"
_INTENTS = frozenset({"append", "replace", "overwrite", "delete"})

Node = dict[str, Any]
PayloadCheck = Callable[[ProduceSnapshot, TableMetadata], ProduceSnapshot]


def is_produced(node: Node) -> bool:
    """Whether an update asks for a snapshot to be produced."""
    return node.get("action") == PRODUCE_SNAPSHOT or node.get("action") in _INTENTS


@dataclass(slots=True)
class RequestedUpdates(MetadataChange):
    """Updates of the protocol, under requirements that were asked for with them."""

    updates: tuple[Update, ...]
    requirements: tuple[Requirement, ...] = ()
    names: tuple[str, ...] = ()

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        return ChangeSet(self.updates, self.requirements)


@dataclass(slots=True)
class RequestedSnapshot:
    """A snapshot from files. They are read against the table as it is at that point, for the types of bounds and partition values are its.

    ``check`` refuses what the server does not take, and may add to it. ``requirements`` are those of the whole request, where it is its
    first change.
    """

    node: Node
    io: FileIO
    name: str
    check: PayloadCheck
    requirements: tuple[Requirement, ...] = ()
    snapshot_id: int = field(default_factory=new_snapshot_id)
    _producer: SnapshotProducer | None = None
    _read_for: tuple[object, ...] = ()

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        from icesql.table.metadata.requirements import check_all

        check_all(self.requirements, metadata)
        return self._made(metadata).apply(metadata)

    def _made(self, metadata: TableMetadata) -> SnapshotProducer:
        shape = (metadata.schemas, metadata.current_schema_id, metadata.partition_specs, metadata.format_version, metadata.location)
        if self._producer is None or self._read_for != shape:
            change = self.check(self._read(metadata), metadata)
            if self._producer is None or self._producer.change != change:
                if self._producer is not None:
                    self._producer.abandoned()
                self._producer = SnapshotProducer(change, self.io, self.name, snapshot_id=self.snapshot_id)
            self._read_for = shape
        return self._producer

    def _read(self, metadata: TableMetadata) -> ProduceSnapshot:
        with within(PRODUCE_SNAPSHOT):
            if self.node["action"] != PRODUCE_SNAPSHOT:
                return produce_from_json(self.node, metadata)
            operation = string_field(self.node, "operation")
            if operation not in _INTENTS:
                raise JsonFault(f"expected append, replace, overwrite or delete, got {operation!r}", "operation")
            return produce_from_json({**self.node, "action": operation}, metadata)

    def committed(self, metadata: TableMetadata) -> None:
        if self._producer is not None:
            self._producer.committed(metadata)

    def abandoned(self) -> None:
        if self._producer is not None:
            self._producer.abandoned()

    def produced(self, metadata: TableMetadata) -> Snapshot | None:
        return metadata.snapshots_by_id.get(self.snapshot_id)


@dataclass(frozen=True, slots=True)
class RequestedCommit:
    """What one body asks of one table."""

    requirements: tuple[Requirement, ...]
    changes: tuple[Change, ...]

    @property
    def snapshots(self) -> list[RequestedSnapshot]:
        return [change for change in self.changes if isinstance(change, RequestedSnapshot)]


def _update(node: Node) -> Update:
    """As the reference's servers do, removing main keeps the snapshot log: it is how clients replace a table."""
    update = update_from_json(node)
    return replace(update, keeps_log=True) if isinstance(update, RemoveSnapshotRef) else update


def requested_commit(requirements: Sequence[Node], updates: Sequence[Node], io: FileIO, name: str, check: PayloadCheck) -> RequestedCommit:
    """Raises JsonFault and InvalidArgumentError for bodies that are wrong whatever the table holds."""
    asked = tuple(requirement_from_json(node) for node in requirements)
    changes: list[Change] = []
    plain: list[tuple[str, Update]] = []

    def close() -> None:
        """The plain updates so far become a change."""
        names, read = tuple(name for name, _ in plain), tuple(update for _, update in plain)
        changes.append(RequestedUpdates(read, () if changes else asked, names))
        plain.clear()

    for node in updates:
        if not is_produced(node):
            plain.append((str(node.get("action")), _update(node)))
            continue
        if plain:
            close()
        changes.append(RequestedSnapshot(node, io, name, check, () if changes else asked))
    if plain or not changes:
        close()
    return RequestedCommit(asked, tuple(changes))
