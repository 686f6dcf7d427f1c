"""One event for each change of a table or view: what was asked for, by whom, and which snapshots and files it brought."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from icesql.catalog.names import Identifier
from icesql.server.commits.requested import RequestedCommit, RequestedSnapshot, RequestedUpdates
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot

MOST_FILES = 100
"""Of each list in an event; above it, the summary's counts must do."""

Event = dict[str, Any]


def event(kind: str, identifier: Identifier, **parts: Any) -> Event:
    """``kind`` is what was done, as ``create-table`` and ``update-table``. Parts that are ``None`` are left out."""
    node: Event = {"type": kind, "identifier": {"namespace": identifier[:-1], "name": identifier[-1]}, "timestamp-ms": _now_ms()}
    return {**node, **{key.replace("_", "-"): value for key, value in parts.items() if value is not None}}


def table_event(
    kind: str, identifier: Identifier, before: TableMetadata | None, after: TableMetadata, asked: RequestedCommit | None
) -> Event:
    """Of a commit: its updates by name, and its snapshots with their files where the server built them."""
    produced = {one.snapshot_id: one for one in asked.snapshots} if asked is not None else {}
    known: Mapping[int, Snapshot] = {} if before is None else before.snapshots_by_id
    snapshots = [_snapshot(one, after, produced.get(one.snapshot_id)) for one in after.snapshots if one.snapshot_id not in known]
    return event(
        kind, identifier, table_uuid=after.table_uuid, actions=None if asked is None else actions(asked), snapshots=snapshots or None
    )


def actions(asked: RequestedCommit) -> list[str]:
    """The updates' names, in order."""
    names: list[str] = []
    for change in asked.changes:
        if isinstance(change, RequestedSnapshot):
            names.append("produce-snapshot")
        elif isinstance(change, RequestedUpdates):
            names += change.names
    return names


def _snapshot(snapshot: Snapshot, metadata: TableMetadata, produced: RequestedSnapshot | None) -> dict[str, Any]:
    branches = [name for name, ref in metadata.refs.items() if ref.snapshot_id == snapshot.snapshot_id]
    node: dict[str, Any] = {
        "snapshot-id": snapshot.snapshot_id,
        "parent-snapshot-id": snapshot.parent_snapshot_id,
        "sequence-number": snapshot.sequence_number,
        "operation": snapshot.operation,
        "refs": branches,
        "summary": dict(snapshot.summary),
    }
    if produced is not None:
        for key in ("add-data-files", "add-delete-files", "remove-data-files", "remove-delete-files"):
            files: Sequence[Mapping[str, Any]] = produced.node.get(key) or ()
            if files and len(files) <= MOST_FILES:
                node[key] = [
                    {"file-path": file["file-path"], "record-count": file["record-count"], "partition": file["partition"]} for file in files
                ]
    return node


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
