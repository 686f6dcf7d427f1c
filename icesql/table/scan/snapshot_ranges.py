"""Snapshots between two points of one line of history, as incremental reads ask for them. Java: ``SnapshotUtil``, ``SparkScanBuilder``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from icesql.errors import InvalidArgumentError
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import whole_number
from icesql.spec.snapshots import Snapshot
from icesql.table.scan.snapshot_selection import snapshot_as_of

START_ID, END_ID, START_TIME, END_TIME = "start-snapshot-id", "end-snapshot-id", "start-timestamp", "end-timestamp"


@dataclass(frozen=True, slots=True)
class SnapshotRange:
    """``after`` is excluded (``None``: from the oldest known ancestor on), ``to`` is included (``None``: nothing at all)."""

    after: int | None
    to: int | None

    @property
    def is_empty(self) -> bool:
        return self.to is None or self.after == self.to

    def snapshots(self, metadata: TableMetadata) -> list[Snapshot]:
        """Oldest first. Raises InvalidArgumentError if ``after`` is not an ancestor of ``to``, NotFoundError if ``to`` is unknown."""
        if self.is_empty or self.to is None:
            return []
        metadata.snapshot(self.to)
        snapshots: list[Snapshot] = []
        for snapshot in metadata.ancestors(self.to):
            if snapshot.snapshot_id == self.after:
                return snapshots[::-1]
            snapshots.append(snapshot)
        if self.after is not None and snapshots[-1].parent_snapshot_id != self.after:
            raise _not_before(self.after, self.to)
        return snapshots[::-1]


def append_range(metadata: TableMetadata, options: Mapping[str, str]) -> SnapshotRange | None:
    """The range of an incremental append scan, by its read options; ``None`` without them. Raises InvalidArgumentError."""
    start, end = _number(options, START_ID), _number(options, END_ID)
    if START_TIME in options or END_TIME in options:
        raise InvalidArgumentError(
            f"Only changelog scans support `{START_TIME}` and `{END_TIME}`. Use `{START_ID}` and `{END_ID}` for incremental scans."
        )
    if start is None and end is None:
        return None
    if start is None:
        raise InvalidArgumentError(f"Cannot set only `{END_ID}` for incremental scans. Please, set `{START_ID}` too.")
    return _between_ids(start, metadata.current_snapshot_id if end is None else end)


def changelog_range(metadata: TableMetadata, options: Mapping[str, str]) -> SnapshotRange:
    """The range of a changelog, by its read options: snapshot ids or times in milliseconds, each side at most one.

    Raises InvalidArgumentError, NotFoundError.
    """
    start, end, start_ms, end_ms = (_number(options, key) for key in (START_ID, END_ID, START_TIME, END_TIME))
    for one, other, one_key, other_key in ((start, start_ms, START_ID, START_TIME), (end, end_ms, END_ID, END_TIME)):
        if one is not None and other is not None:
            raise InvalidArgumentError(f"Cannot set both {one_key} and {other_key} for changelogs")
    if start_ms is not None and end_ms is not None and start_ms >= end_ms:
        raise InvalidArgumentError(f"Cannot set {START_TIME} to be greater than {END_TIME} for changelogs")
    head = metadata.current_snapshot
    if head is None or (start_ms is not None and start_ms > head.timestamp_ms):
        return SnapshotRange(None, None)
    after = start if start_ms is None else _before(metadata, start_ms)
    to = (head.snapshot_id if end is None else end) if end_ms is None else _as_of(metadata, end_ms)
    return SnapshotRange(after, to) if after is None or end_ms is not None else _between_ids(after, to)


def _between_ids(start: int, to: int | None) -> SnapshotRange:
    """The range between two snapshots; empty if they are the same. Ids must be in order, though an end time may precede the start."""
    if start == to:
        raise _not_before(start, to)
    return SnapshotRange(start, to)


def _not_before(start: int, to: int) -> InvalidArgumentError:
    return InvalidArgumentError(f"Starting snapshot (exclusive) {start} is not a parent ancestor of end snapshot {to}")


def _before(metadata: TableMetadata, timestamp_ms: int) -> int | None:
    """The snapshot that a range starting at a time excludes: the one of exactly that time, else the parent of the first one after it."""
    oldest: Snapshot | None = None
    for snapshot in metadata.ancestors(metadata.current_snapshot_id):
        if snapshot.timestamp_ms == timestamp_ms:
            return snapshot.snapshot_id
        if snapshot.timestamp_ms < timestamp_ms:
            break
        oldest = snapshot
    return None if oldest is None else oldest.parent_snapshot_id


def _as_of(metadata: TableMetadata, timestamp_ms: int) -> int | None:
    if not any(entry.timestamp_ms <= timestamp_ms for entry in metadata.snapshot_log):
        return None
    return snapshot_as_of(metadata, timestamp_ms).snapshot_id


def _number(options: Mapping[str, str], key: str) -> int | None:
    text = options.get(key)
    if text is None:
        return None
    try:
        return whole_number(text)
    except ValueError:
        raise InvalidArgumentError(f"Cannot read option: not a whole number: {key}={text!r}", option=key) from None
