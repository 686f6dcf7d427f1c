"""Which snapshot a read sees, and under which schema. Spec: "Point in Time Reads (Time Travel)"."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot


@dataclass(frozen=True, slots=True)
class Selected:
    """``snapshot`` is ``None`` for an empty table. A branch reads under the table's schema; an id, tag or time under the snapshot's."""

    snapshot: Snapshot | None
    schema: Schema


def select_snapshot(
    metadata: TableMetadata, *, snapshot_id: int | None = None, ref: str | None = None, timestamp_ms: int | None = None
) -> Selected:
    """At most one may be given; none means main. Raises InvalidArgumentError, NotFoundError."""
    if sum(given is not None for given in (snapshot_id, ref, timestamp_ms)) > 1:
        raise InvalidArgumentError(
            "Cannot specify more than one of snapshot id, branch or tag, and timestamp when time travelling the table."
        )
    if snapshot_id is not None:
        snapshot = metadata.snapshot(snapshot_id)
        return Selected(snapshot, metadata.schema_of(snapshot))
    if timestamp_ms is not None:
        snapshot = snapshot_as_of(metadata, timestamp_ms)
        return Selected(snapshot, metadata.schema_of(snapshot))
    if ref is not None and ref != MAIN:
        reference = metadata.ref(ref)
        snapshot = metadata.snapshot(reference.snapshot_id)
        return Selected(snapshot, metadata.schema if reference.is_branch else metadata.schema_of(snapshot))
    return Selected(metadata.current_snapshot, metadata.schema)


def snapshot_as_of(metadata: TableMetadata, timestamp_ms: int) -> Snapshot:
    """What was current on main at that time, by the snapshot log. Raises NotFoundError ``Cannot find a snapshot older than ...``."""
    snapshot_id = None
    for entry in metadata.snapshot_log:
        if entry.timestamp_ms <= timestamp_ms:
            snapshot_id = entry.snapshot_id
    if snapshot_id is None:
        raise NotFoundError(f"Cannot find a snapshot older than {_moment(timestamp_ms)}", timestamp_ms=timestamp_ms)
    return metadata.snapshot(snapshot_id)


def _moment(timestamp_ms: int) -> str:
    try:
        moment = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc) + dt.timedelta(milliseconds=timestamp_ms)
        return moment.isoformat(timespec="milliseconds" if timestamp_ms % 1000 else "seconds")
    except OverflowError:
        return f"{timestamp_ms} ms"
