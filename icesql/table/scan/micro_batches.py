"""What a stream of a table reads next: the files that appends added, snapshot by snapshot, from one offset to another.

Offsets are Iceberg's, and so is their order: a snapshot, and how many of the files that it added, in the order of its manifests, are read.
Java: ``SparkMicroBatchStream``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from icesql.errors import InvalidArgumentError, NotFoundError, ValidationError
from icesql.expr.tree import TRUE
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import whole_number
from icesql.spec.snapshots import Operation, Snapshot
from icesql.table.scan.incremental import added_rows, manifests_written_by
from icesql.table.scan.planning import PlanContext, plan_manifests
from icesql.table.scan.table_scan import ScanPlan
from icesql.table.scan.tasks import FileScanTask

FROM_TIMESTAMP = "stream-from-timestamp"
SKIP_DELETES, SKIP_OVERWRITES = "streaming-skip-delete-snapshots", "streaming-skip-overwrite-snapshots"
MAX_FILES, MAX_ROWS = "streaming-max-files-per-micro-batch", "streaming-max-rows-per-micro-batch"
_VERSION = 1
_NO_SNAPSHOT = -1


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """``position`` files that ``snapshot_id`` added are read, and all of the snapshots before it."""

    snapshot_id: int
    position: int

    @property
    def is_start(self) -> bool:
        """Whether nothing is read yet, of a table that had nothing to read."""
        return self.snapshot_id == _NO_SNAPSHOT

    def to_json(self) -> dict[str, Any]:
        """As Iceberg's runtime writes it into checkpoints."""
        return {"version": _VERSION, "snapshot_id": self.snapshot_id, "position": self.position, "scan_all_files": False}

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> StreamOffset:
        """Raises InvalidArgumentError for an offset of another version or kind."""
        if json.get("version") != _VERSION or json.get("scan_all_files"):
            raise InvalidArgumentError(f"Cannot parse offset: not one of a stream of appended files: {dict(json)}")
        return cls(int(json["snapshot_id"]), int(json["position"]))


START = StreamOffset(_NO_SNAPSHOT, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """``from_ms``: snapshots before that time are not read. ``max_files``, ``max_rows``: what one micro-batch takes at most; a file is
    always taken whole, and at least one."""

    from_ms: int | None = None
    skip_deletes: bool = False
    skip_overwrites: bool = False
    max_files: int | None = None
    max_rows: int | None = None


def stream_options(options: Mapping[str, str]) -> StreamOptions:
    """From read options, keys in lower case. Raises InvalidArgumentError for a value that cannot be meant."""

    def number(key: str, least: int | None = None) -> int | None:
        if key not in options:
            return None
        try:
            value = whole_number(options[key])
        except ValueError:
            raise InvalidArgumentError(f'Cannot read option {key}: For input string: "{options[key]}"', option=key) from None
        if least is not None and value < least:
            raise InvalidArgumentError(f"Cannot read option {key}: must be at least {least}: {value}", option=key)
        return value

    def flag(key: str) -> bool:
        return options.get(key, "false").lower() == "true"

    return StreamOptions(
        from_ms=number(FROM_TIMESTAMP),
        skip_deletes=flag(SKIP_DELETES),
        skip_overwrites=flag(SKIP_OVERWRITES),
        max_files=number(MAX_FILES, 1),
        max_rows=number(MAX_ROWS, 1),
    )


@dataclass(frozen=True, slots=True)
class MicroBatches:
    """The stream of one version of a table."""

    io: FileIO
    metadata: TableMetadata
    options: StreamOptions

    def initial(self) -> StreamOffset:
        """Before the oldest snapshot that is known, or the oldest one from ``from_ms`` on; ``START`` where there is none yet."""
        oldest: Snapshot | None = None
        for snapshot in self.metadata.ancestors(self.metadata.current_snapshot_id):
            if self.options.from_ms is not None and snapshot.timestamp_ms < self.options.from_ms:
                break
            oldest = snapshot
        return START if oldest is None else StreamOffset(oldest.snapshot_id, 0)

    def next(self, start: StreamOffset, last_snapshot_id: int | None = None) -> StreamOffset:
        """The end of the micro-batch that begins at ``start``; ``start`` itself if there is nothing new.

        ``last_snapshot_id``: no further than that. Raises ValidationError for deletes and overwrites that are not to be skipped,
        NotFoundError if the snapshot of ``start`` is no longer there.
        """
        begin = self.initial() if start.is_start else start
        if begin.is_start:
            return start
        files, rows, end = 0, 0, begin
        for snapshot in self._line(begin.snapshot_id, self._last(last_snapshot_id)):
            first = begin.position if snapshot.snapshot_id == begin.snapshot_id else 0
            if not self._is_read(snapshot):
                continue
            if self.options.max_files is None and self.options.max_rows is None:
                end = StreamOffset(snapshot.snapshot_id, max(first, self._added_count(snapshot)))
                continue
            for position, task in enumerate(self._added(snapshot)):
                if position < first:
                    continue
                if files == self.options.max_files:
                    return StreamOffset(snapshot.snapshot_id, position)
                files, rows = files + 1, rows + task.data_file.record_count
                end = StreamOffset(snapshot.snapshot_id, position + 1)
                if self.options.max_rows is not None and rows >= self.options.max_rows:
                    return end
            end = StreamOffset(snapshot.snapshot_id, max(first, end.position if end.snapshot_id == snapshot.snapshot_id else 0))
        return end

    def files(self, start: StreamOffset, end: StreamOffset) -> list[FileScanTask]:
        """The files from one offset to a later one, oldest first. Raises as ``next`` does."""
        begin = self.initial() if start.is_start else start
        if begin.is_start or end.is_start or begin == end:
            return []
        tasks: list[FileScanTask] = []
        for snapshot in self._line(begin.snapshot_id, end.snapshot_id):
            if not self._is_read(snapshot):
                continue
            added = self._added(snapshot)
            first = begin.position if snapshot.snapshot_id == begin.snapshot_id else 0
            last = end.position if snapshot.snapshot_id == end.snapshot_id else len(added)
            tasks += added[first:last]
        return tasks

    def _last(self, last_snapshot_id: int | None) -> int:
        head = self.metadata.current_snapshot_id if last_snapshot_id is None else last_snapshot_id
        assert head is not None  # else there is no offset to begin at
        return head

    def _line(self, first: int, last: int) -> list[Snapshot]:
        """The snapshots from one to a later one, both included."""
        for snapshot_id in (first, last):
            if snapshot_id not in self.metadata.snapshots_by_id:
                raise NotFoundError(f"Cannot load current offset at snapshot {snapshot_id}, the snapshot was expired or removed")
        line: list[Snapshot] = []
        for snapshot in self.metadata.ancestors(last):
            line.append(snapshot)
            if snapshot.snapshot_id == first:
                return line[::-1]
        raise ValidationError(f"Cannot find snapshot after {first}: not an ancestor of table's current snapshot")

    def _is_read(self, snapshot: Snapshot) -> bool:
        match snapshot.operation:
            case Operation.APPEND:
                return True
            case Operation.REPLACE:
                return False
            case Operation.DELETE:
                _require(self.options.skip_deletes, "delete", "deletes", snapshot, SKIP_DELETES)
                return False
            case Operation.OVERWRITE:
                _require(self.options.skip_overwrites, "overwrite", "overwrites", snapshot, SKIP_OVERWRITES)
                return False
            case _:
                raise ValidationError(
                    f"Cannot process unknown snapshot operation: {snapshot.operation} (snapshot id {snapshot.snapshot_id})"
                )

    def _added_count(self, snapshot: Snapshot) -> int:
        text = snapshot.summary.get("added-data-files", "")
        return int(text) if text.isdigit() else len(self._added(snapshot))

    def _added(self, snapshot: Snapshot) -> list[FileScanTask]:
        return list(self._added_tasks(snapshot))

    def _added_tasks(self, snapshot: Snapshot) -> Iterator[FileScanTask]:
        context = PlanContext(metadata=self.metadata, io=self.io, schema=self.metadata.schema, filter=TRUE)
        wanted = np.array([snapshot.snapshot_id], np.int64)
        manifests = manifests_written_by(self.io, snapshot, ManifestContent.DATA)
        planned = plan_manifests(context, manifests, snapshot, choose=lambda columns: added_rows(columns, wanted))
        return iter(ScanPlan(context, planned).tasks)


def _require(is_skipped: bool, operation: str, plural: str, snapshot: Snapshot, option: str) -> None:
    if not is_skipped:
        raise ValidationError(
            f"Cannot process {operation} snapshot: {snapshot.snapshot_id}, to ignore {plural}, set {option}=true", option=option
        )
