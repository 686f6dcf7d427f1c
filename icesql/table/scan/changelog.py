"""What changed between snapshots, row by row: inserts and deletes, with copy-on-write and merge-on-read alike.

The changes of a snapshot are the difference between its rows and its parent's:

    file added by the snapshot                 rows its own deletes do not delete           INSERT
    file removed by the snapshot               rows that were not deleted before            DELETE
    file kept, with other deletes than before  rows deleted now and not before              DELETE
                                               rows deleted before and not any more         INSERT

Snapshots that only rewrite files (operation ``replace``) change no row and are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np
import pyarrow as pa

from icesql.expr.binding import bind
from icesql.expr.evaluate import value_test
from icesql.expr.residuals import residual
from icesql.expr.rewrite import map_leaves, referenced_ids
from icesql.expr.tree import FALSE, TRUE, BoundReference, Expression, Predicate
from icesql.io.arrow.filter import row_mask
from icesql.io.arrow.types import constant_array, to_arrow_schema
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Operation, Snapshot
from icesql.spec.types import IntegerType, LongType, NestedField, StringType
from icesql.table.manifests.access import manifests_of, of_content, spec_of
from icesql.table.manifests.column_predicates import Rows
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.scan.delete_index import DeleteIndex
from icesql.table.scan.incremental import added_rows, manifests_written_by, removed_rows
from icesql.table.scan.narrowing import narrow_table
from icesql.table.scan.planning import ManifestPlanner, PlanContext, RowChoice, live_rows
from icesql.table.scan.projection_schema import select_columns, with_columns
from icesql.table.scan.snapshot_ranges import SnapshotRange
from icesql.table.scan.tasks import FileScanTask

_MAX = 2**31 - 1
CHANGE_TYPE = NestedField(_MAX - 104, "_change_type", StringType(), True, "Record type in changelog")
CHANGE_ORDINAL = NestedField(_MAX - 105, "_change_ordinal", IntegerType(), False, "Change ordinal in changelog")
COMMIT_SNAPSHOT_ID = NestedField(_MAX - 106, "_commit_snapshot_id", LongType(), False, "Commit snapshot ID")
CHANGE_COLUMNS = (CHANGE_TYPE, CHANGE_ORDINAL, COMMIT_SNAPSHOT_ID)


class ChangeType(str, Enum):
    INSERT = "INSERT"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangelogTask:
    """Changed rows of one data file: those that no file of ``task.delete_files`` deletes and, if given, one of ``only_hit_by`` deletes."""

    change: ChangeType
    ordinal: int
    snapshot_id: int
    task: FileScanTask
    only_hit_by: tuple[DataFile, ...] | None = None

    def constant(self, field_id: int) -> object:
        """The value of a change column."""
        return {CHANGE_TYPE.id: self.change.value, CHANGE_ORDINAL.id: self.ordinal, COMMIT_SNAPSHOT_ID.id: self.snapshot_id}[field_id]


@dataclass(frozen=True)
class ChangelogScan:
    """The ``changes`` of a table after ``range.after`` up to and including ``range.to``, under the table's current schema.

    The filter may name the change columns too. Ordinals count the snapshots that change rows, from 0, oldest first.
    """

    io: FileIO
    metadata: TableMetadata
    range: SnapshotRange
    filter: Expression = TRUE
    name: str = field(default="", kw_only=True)
    select: tuple[str, ...] | None = field(default=None, kw_only=True)
    case_sensitive: bool = field(default=True, kw_only=True)

    @cached_property
    def full_schema(self) -> Schema:
        """The table's columns and the three change columns."""
        return changelog_schema(self.metadata)

    @cached_property
    def schema(self) -> Schema:
        """The columns the scan returns. Raises NotFoundError."""
        return select_columns(self.full_schema, self.select, self.metadata, case_sensitive=self.case_sensitive)

    @cached_property
    def bound_filter(self) -> Expression:
        return bind(self.full_schema, self.filter, case_sensitive=self.case_sensitive)

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        """Those that change rows, oldest first. Raises InvalidArgumentError, NotFoundError."""
        return [snapshot for snapshot in self.range.snapshots(self.metadata) if snapshot.operation != Operation.REPLACE]

    def plan(self) -> Iterator[ChangelogTask]:
        """Tasks snapshot by snapshot, deletes of a snapshot before its inserts."""
        for ordinal, snapshot in enumerate(self.snapshots):
            yield from _SnapshotChanges(self, ordinal, snapshot).tasks()

    def to_arrow(self) -> pa.Table:
        return pa.Table.from_batches(list(self.to_batches()), to_arrow_schema(self.schema))

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        reader = ChangelogReader(self)
        for task in self.plan():
            yield from reader.batches(task)


def changelog_schema(metadata: TableMetadata) -> Schema:
    return Schema((*metadata.schema.fields, *CHANGE_COLUMNS), metadata.current_schema_id)


class _SnapshotChanges:
    """The changes of one snapshot against its parent."""

    def __init__(self, scan: ChangelogScan, ordinal: int, snapshot: Snapshot) -> None:
        self.scan, self.ordinal, self.snapshot = scan, ordinal, snapshot
        parent = snapshot.parent_snapshot_id
        self.parent = None if parent is None else scan.metadata.snapshots_by_id.get(parent)
        self.filter = map_leaves(scan.bound_filter, self._decided)
        self.context = PlanContext(
            metadata=scan.metadata, io=scan.io, schema=scan.metadata.schema, filter=self.filter, table_name=scan.name
        )
        self.own = np.array([snapshot.snapshot_id], np.int64)

    def _decided(self, leaf: Predicate) -> Expression:
        """The filter with leaves over change columns decided, except for the change type, which is tested row by row."""
        assert isinstance(leaf.term, BoundReference)
        known = {CHANGE_ORDINAL.id: self.ordinal, COMMIT_SNAPSHOT_ID.id: self.snapshot.snapshot_id}
        if leaf.term.field.id == CHANGE_TYPE.id:
            return TRUE
        if leaf.term.field.id not in known:
            return leaf
        return TRUE if value_test(leaf)(known[leaf.term.field.id]) is True else FALSE

    def tasks(self) -> Iterator[ChangelogTask]:
        data = manifests_written_by(self.scan.io, self.snapshot, ManifestContent.DATA)
        before, after = self.deletes_of(self.parent), self.deletes_of(self.snapshot)
        for file, number in self._files(data, lambda columns: removed_rows(columns, self.own)):
            yield self._task(ChangeType.DELETE, file, number, before.for_file(file, number))
        yield from self._rows_of_kept_files(before, after)
        for file, number in self._files(data, lambda columns: added_rows(columns, self.own)):
            yield self._task(ChangeType.INSERT, file, number, after.for_file(file, number))

    def _files(self, manifests: Sequence[ManifestFile], choose: RowChoice) -> Iterator[tuple[DataFile, int]]:
        """(data file, data sequence number) of chosen entries that may hold matching rows."""
        planner = ManifestPlanner(self.context, choose)
        chosen = [m for m in manifests if planner.may_match(m)]
        for planned in planner.scan_manifests(chosen, has_deletes=True):
            for row in planned.rows.tolist():
                yield planned.columns.data_file(row), max(int(planned.columns.sequence_number[row]), 0)

    def _rows_of_kept_files(self, before: DeleteIndex, after: DeleteIndex) -> Iterator[ChangelogTask]:
        changes = [index for index in after.changed_from(before) if not index.is_empty]
        if not changes:
            return
        manifests = of_content(manifests_of(self.scan.io, self.snapshot), ManifestContent.DATA)
        for file, number in self._files(manifests, self._kept):
            if not any(index.for_file(file, number) for index in changes):
                continue
            was, now = before.for_file(file, number), after.for_file(file, number)
            yield self._task(ChangeType.DELETE, file, number, was, only_hit_by=now)
            if {f.key for f in was} - {f.key for f in now}:
                yield self._task(ChangeType.INSERT, file, number, now, only_hit_by=was)

    def _kept(self, columns: ManifestColumns) -> Rows:
        live, added = live_rows(columns), added_rows(columns, self.own)
        return np.setdiff1d(live, added, assume_unique=True)

    def deletes_of(self, snapshot: Snapshot | None) -> DeleteIndex:
        manifests = of_content(manifests_of(self.scan.io, snapshot), ManifestContent.DELETES)
        planner = ManifestPlanner(self.context)
        return planner.delete_index(planner.select_manifests(manifests, count_skipped=False))

    def _task(
        self,
        change: ChangeType,
        file: DataFile,
        number: int,
        deletes: tuple[DataFile, ...],
        *,
        only_hit_by: tuple[DataFile, ...] | None = None,
    ) -> ChangelogTask:
        spec = spec_of(self.scan.metadata, file.spec_id)
        task = FileScanTask(
            data_file=file,
            delete_files=deletes,
            residual=residual(spec, self.scan.metadata.schema, self.filter, file.partition),
            spec_id=file.spec_id,
            data_sequence_number=number,
        )
        return ChangelogTask(change=change, ordinal=self.ordinal, snapshot_id=self.snapshot.snapshot_id, task=task, only_hit_by=only_hit_by)


class ChangelogReader:
    """Reads the tasks of one changelog scan as Arrow batches of its schema."""

    def __init__(self, scan: ChangelogScan) -> None:
        self.scan = scan
        wanted = {field.id for field in CHANGE_COLUMNS}
        self._tests_type = bool(referenced_ids(scan.bound_filter) & wanted)
        full = with_columns(scan.schema, sorted(referenced_ids(scan.bound_filter)), scan.full_schema) if self._tests_type else scan.schema
        self._full = full
        plain = Schema(tuple(f for f in full.fields if f.id not in wanted), full.schema_id)
        self._plain = plain if plain.fields else Schema(scan.metadata.schema.fields[:1], full.schema_id)
        self._reader = TaskReader(scan.io, scan.metadata, scan.metadata.schema, self._plain)

    def batches(self, task: ChangelogTask) -> Iterator[pa.RecordBatch]:
        for batch in self._reader.batches(task.task, only_hit_by=task.only_hit_by):
            places = {f.id: place for place, f in enumerate(self._plain.fields)}
            arrays = [
                batch.column(places[f.id]) if f.id in places else constant_array(f.type, task.constant(f.id), batch.num_rows)
                for f in self._full.fields
            ]
            made = pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(self._full))
            yield from self._matching(made)

    def _matching(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if self._tests_type:
            batch = batch.filter(row_mask(batch, self._full, self.scan.bound_filter))
        if batch.num_rows:
            yield from narrow_table(pa.Table.from_batches([batch]), self._full, self.scan.schema, with_ids=True).to_batches()
