"""Rows that appends added between two snapshots. Snapshots of other operations are skipped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from icesql.expr.binding import bind
from icesql.expr.tree import TRUE, Expression
from icesql.io.arrow.types import to_arrow_schema
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.storage.files import FileIO
from icesql.spec.files import EntryStatus, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Operation, Snapshot
from icesql.table.manifests.access import manifests_of
from icesql.table.manifests.column_predicates import Rows
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.scan.planning import PlanContext, plan_manifests
from icesql.table.scan.projection_schema import select_columns
from icesql.table.scan.snapshot_ranges import SnapshotRange
from icesql.table.scan.splits import plan_combined, split_options
from icesql.table.scan.table_scan import ScanPlan
from icesql.table.scan.tasks import CombinedScanTask


@dataclass(frozen=True)
class IncrementalAppendScan:
    """A read of what appends added after ``range.after`` up to and including ``range.to``, under the current schema. No deletes apply."""

    io: FileIO
    metadata: TableMetadata
    range: SnapshotRange
    filter: Expression = TRUE
    name: str = field(default="", kw_only=True)
    select: tuple[str, ...] | None = field(default=None, kw_only=True)
    case_sensitive: bool = field(default=True, kw_only=True)
    limit: int | None = field(default=None, kw_only=True)
    options: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @property
    def table_schema(self) -> Schema:
        return self.metadata.schema

    @cached_property
    def schema(self) -> Schema:
        """The columns the scan returns."""
        return select_columns(self.table_schema, self.select, self.metadata, case_sensitive=self.case_sensitive)

    @cached_property
    def bound_filter(self) -> Expression:
        return bind(self.table_schema, self.filter, case_sensitive=self.case_sensitive)

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        """The appends of the range, oldest first. Raises InvalidArgumentError, NotFoundError."""
        return [snapshot for snapshot in self.range.snapshots(self.metadata) if snapshot.operation == Operation.APPEND]

    def plan_files(self) -> ScanPlan:
        """The added files that may hold matching rows."""
        context = PlanContext(
            metadata=self.metadata, io=self.io, schema=self.table_schema, filter=self.bound_filter, table_name=self.name, limit=self.limit
        )
        wanted = np.array(sorted(snapshot.snapshot_id for snapshot in self.snapshots), np.int64)
        manifests = [m for snapshot in self.snapshots for m in manifests_written_by(self.io, snapshot, ManifestContent.DATA)]
        last = self.snapshots[-1] if self.snapshots else None
        return ScanPlan(context, plan_manifests(context, manifests, last, choose=lambda columns: added_rows(columns, wanted)))

    def plan_combined(self) -> list[CombinedScanTask]:
        return plan_combined(self.plan_files().tasks, split_options(self.metadata.properties, self.options))

    def to_arrow(self) -> pa.Table:
        """The added rows, in the order of the snapshots."""
        rows = pa.Table.from_batches(list(self.to_batches()), to_arrow_schema(self.schema))
        return rows if self.limit is None else rows.slice(0, self.limit)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        reader = TaskReader(self.io, self.metadata, self.table_schema, self.schema)
        for task in self.plan_files().tasks:
            yield from reader.batches(task)


def manifests_written_by(io: FileIO, snapshot: Snapshot, content: ManifestContent) -> list[ManifestFile]:
    """The manifests a snapshot added: its changes are in them and nowhere else."""
    return [m for m in manifests_of(io, snapshot) if m.content is content and m.added_snapshot_id == snapshot.snapshot_id]


def added_rows(columns: ManifestColumns, snapshot_ids: Rows) -> Rows:
    """Entries that one of the snapshots added."""
    return np.flatnonzero((columns.status == EntryStatus.ADDED) & np.isin(columns.snapshot_id, snapshot_ids))


def removed_rows(columns: ManifestColumns, snapshot_ids: Rows) -> Rows:
    """Entries that one of the snapshots removed."""
    return np.flatnonzero((columns.status == EntryStatus.DELETED) & np.isin(columns.snapshot_id, snapshot_ids))
