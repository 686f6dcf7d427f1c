"""Plans of one version of a table, a part at a time: the manifest list is read once a part, and the part's manifests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.expr.binding import bind
from icesql.io.storage.files import FileIO
from icesql.server.scans.part import PlanPart, no_such_part, part_to_text
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Operation, Snapshot
from icesql.table.manifests.access import manifests_of
from icesql.table.remote_scan.plan_request import PlanRequest
from icesql.table.remote_scan.scan_tasks import NO_TASKS, ScanTasks
from icesql.table.scan.incremental import added_rows, manifests_written_by
from icesql.table.scan.metadata_columns import NAMES
from icesql.table.scan.planning import ManifestPlanner, PlanContext, PlannedFiles, RowChoice, live_files_count, live_rows, plan_manifests
from icesql.table.scan.snapshot_ranges import SnapshotRange
from icesql.table.scan.table_scan import ScanPlan

_LONGEST_TASK = 16 * 1024  # characters; a plan whose filter makes them longer is not cut
_UNKNOWN_SIZE = 1000  # files in a manifest that does not say how many


@dataclass(frozen=True, slots=True)
class PlanBase:
    """What all parts of a plan share. ``request`` names its snapshots; ``data`` are the manifests that may hold matching rows."""

    request: PlanRequest
    context: PlanContext
    data: Sequence[ManifestFile]
    deletes: Sequence[ManifestFile]
    choose: RowChoice
    snapshot: Snapshot | None


class TablePlanner:
    """``files_per_part``: how many files an answer has at most, but for one manifest's worth."""

    def __init__(self, io: FileIO, metadata: TableMetadata, name: str, files_per_part: int) -> None:
        self.io, self.metadata, self.name, self.files_per_part = io, metadata, name, files_per_part

    def base(self, request: PlanRequest, schema_id: int | None = None) -> PlanBase:
        """Reads the manifest list. Raises InvalidArgumentError for snapshots, columns and filters that the table does not have."""
        try:
            return self._base(request, schema_id)
        except NotFoundError as error:
            raise InvalidArgumentError(str(error)) from error

    def _base(self, request: PlanRequest, schema_id: int | None) -> PlanBase:
        snapshot = self._snapshot(request)
        schema = self._schema(request, snapshot) if schema_id is None else self.metadata.schemas_by_id[schema_id]
        for name in (*(request.select or ()), *(request.stats_fields or ())):
            self._check_column(schema, name, request)
        context = PlanContext(
            metadata=self.metadata,
            io=self.io,
            schema=schema,
            filter=bind(schema, request.filter, case_sensitive=request.case_sensitive),
            table_name=self.name,
            limit=request.min_rows_requested,
        )
        if not request.is_incremental:
            manifests: Sequence[ManifestFile] = manifests_of(self.io, snapshot)
            named = replace(request, snapshot_id=None if snapshot is None else snapshot.snapshot_id, use_snapshot_schema=False)
            choose: RowChoice = live_rows
        else:
            manifests, choose = self._appended(request)
            named = request
        data = ManifestPlanner(context).select_manifests([one for one in manifests if one.content is ManifestContent.DATA])
        deletes = [one for one in manifests if one.content is ManifestContent.DELETES]
        return PlanBase(named, context, data, deletes, choose, snapshot)

    def _snapshot(self, request: PlanRequest) -> Snapshot | None:
        wanted = request.end_snapshot_id if request.is_incremental else request.snapshot_id
        return self.metadata.current_snapshot if wanted is None else self.metadata.snapshot(wanted)

    def _schema(self, request: PlanRequest, snapshot: Snapshot | None) -> Schema:
        return self.metadata.schema if snapshot is None or not request.use_snapshot_schema else self.metadata.schema_of(snapshot)

    def _check_column(self, schema: Schema, name: str, request: PlanRequest) -> None:
        if schema.find(name, case_sensitive=request.case_sensitive) is None and name.partition(".")[0] not in NAMES:
            raise InvalidArgumentError(f"Cannot plan scan: there is no column: {name}")

    def _appended(self, request: PlanRequest) -> tuple[Sequence[ManifestFile], RowChoice]:
        between = SnapshotRange(request.start_snapshot_id, request.end_snapshot_id)
        appends = [snapshot for snapshot in between.snapshots(self.metadata) if snapshot.operation == Operation.APPEND]
        wanted = np.array(sorted(snapshot.snapshot_id for snapshot in appends), np.int64)
        manifests = [one for snapshot in appends for one in manifests_written_by(self.io, snapshot, ManifestContent.DATA)]
        return manifests, lambda columns: added_rows(columns, wanted)

    def stats_ids(self, request: PlanRequest, schema: Schema) -> frozenset[int]:
        names = request.stats_fields or ()
        fields = (schema.find(name, case_sensitive=request.case_sensitive) for name in names)
        return frozenset(field.id for field in fields if field is not None)

    # -- parts -----------------------------------------------------------------------------------------------------
    def begin(self, base: PlanBase) -> ScanTasks:
        """The first part's files, and the names of the other parts."""
        parts = list(self._parts(base))
        if not parts:
            return NO_TASKS
        further = [part_to_text(part) for part in parts[1:]]
        if base.request.min_rows_requested is not None or any(len(text) > _LONGEST_TASK for text in further):
            return self._planned(base, replace(parts[0], end=len(base.data)), is_cut=False)
        first = self._planned(base, parts[0])
        return replace(first, plan_tasks=(*first.plan_tasks, *further))

    def _parts(self, base: PlanBase) -> Iterator[PlanPart]:
        first = size = 0
        for place, manifest in enumerate(base.data):
            count = live_files_count(manifest)
            count = _UNKNOWN_SIZE if count is None else count
            if place > first and size + count > self.files_per_part:
                yield self._part(base, first, place)
                first, size = place, 0
            size += count
        if base.data:
            yield self._part(base, first, len(base.data))

    def _part(self, base: PlanBase, first: int, end: int) -> PlanPart:
        return PlanPart(request=base.request, schema_id=base.context.schema.schema_id, first=first, end=end)

    def part(self, part: PlanPart) -> tuple[PlanBase, ScanTasks]:
        """Raises Problem 404 where the table has changed so that the part is no more."""
        try:
            base = self.base(part.request, part.schema_id)
        except (InvalidArgumentError, KeyError):
            raise no_such_part() from None
        if not part.first < part.end <= len(base.data):
            raise no_such_part()
        return base, self._planned(base, part)

    def _planned(self, base: PlanBase, part: PlanPart, *, is_cut: bool = True) -> ScanTasks:
        manifests = [*base.data[part.first : part.end], *base.deletes]
        planned = plan_manifests(base.context, manifests, base.snapshot, choose=base.choose)
        count = sum(len(one.rows) for one in planned.manifests)
        end = part.skip + self.files_per_part if is_cut else count
        further = (part_to_text(replace(part, skip=end)),) if end < count else ()
        plan = ScanPlan(base.context, _files_between(planned, part.skip, end))
        return ScanTasks(tasks=tuple(plan.tasks), plan_tasks=further)


def _files_between(planned: PlannedFiles, start: int, end: int) -> PlannedFiles:
    chosen = []
    for one in planned.manifests:
        rows = one.rows[max(start, 0) : max(end, 0)]
        if len(rows):
            chosen.append(replace(one, rows=rows))
        start, end = start - len(one.rows), end - len(one.rows)
    return replace(planned, manifests=tuple(chosen))
