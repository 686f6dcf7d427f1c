"""Scan planning in columns (Spec: "Scan Planning"): manifests pruned by summaries, then files by partition and metrics.

No Python object exists for a file until a task is asked for. Every conjunct of the filter is applied on its own, so that the report can say
which one left what out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from icesql.errors import CorruptMetadataError
from icesql.expr.describe import describe
from icesql.expr.manifests import partition_evaluator
from icesql.expr.projection import project_inclusive, project_strict
from icesql.expr.rewrite import conjuncts, leaves, map_leaves
from icesql.expr.tree import AlwaysTrue, BoundReference, Expression
from icesql.io.garbage import collector_paused
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent, ManifestEntry, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import Type
from icesql.table.manifests.access import manifests_of, spec_of
from icesql.table.manifests.column_predicates import Rows, metrics_mask, partition_mask
from icesql.table.scan.delete_index import DeleteIndex
from icesql.table.scan.planned import tell_planned
from icesql.table.scan.report import ScanReport, Skipped

_WORKERS = min(8, 2 * (os.cpu_count() or 1))
NO_LIVE_FILES = "no live files"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext:
    """The inputs of one planning. ``filter`` is bound to ``schema`` and free of NOT."""

    metadata: TableMetadata
    io: FileIO
    schema: Schema
    filter: Expression
    table_name: str = ""
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedManifest:
    """The surviving rows of one manifest, ascending."""

    columns: ManifestColumns
    rows: Rows


class _Conjunct:
    """One conjunct of the filter with its projections, made once a partition spec."""

    def __init__(self, expression: Expression, context: PlanContext) -> None:
        self.expression, self.text, self._context = expression, describe(expression), context
        self.field_ids = frozenset(
            leaf.term.field.id for leaf in leaves(expression) if isinstance(leaf.term, BoundReference) and leaf.term.transform is None
        )
        self._inclusive: dict[int, Expression] = {}
        self._strict: dict[int, Expression] = {}

    def inclusive(self, spec: PartitionSpec) -> Expression:
        if spec.spec_id not in self._inclusive:
            schema = self._context.schema
            self._inclusive[spec.spec_id] = map_leaves(self.expression, lambda leaf: project_inclusive(schema, spec, leaf))
        return self._inclusive[spec.spec_id]

    def strict(self, spec: PartitionSpec) -> Expression:
        if spec.spec_id not in self._strict:
            schema = self._context.schema
            self._strict[spec.spec_id] = map_leaves(self.expression, lambda leaf: project_strict(schema, spec, leaf))
        return self._strict[spec.spec_id]


@dataclass(slots=True)
class _Tally:
    """Counts by predicate, added up during planning."""

    counts: dict[str, list[int]] = field(default_factory=dict)

    def add(self, predicate: str, count: int, size: int = 0) -> None:
        if count:
            held = self.counts.setdefault(predicate, [0, 0])
            held[0] += count
            held[1] += size

    def skipped(self) -> tuple[Skipped, ...]:
        return tuple(Skipped(predicate, count, size) for predicate, (count, size) in self.counts.items())


@dataclass(frozen=True, slots=True)
class PlannedFiles:
    """The outcome of planning: surviving rows by manifest, the deletes to match them with, and counts."""

    manifests: tuple[PlannedManifest, ...]
    deletes: DeleteIndex
    report: ScanReport


class ScanPlanner(Protocol):
    """Someone who plans in our place: a ``FileIO`` may have one, as ``scan_planner``."""

    def plan(self, context: PlanContext, snapshot: Snapshot) -> PlannedFiles | None:
        """``None`` leaves it to us."""


RowChoice = Callable[[ManifestColumns], Rows]


def live_rows(columns: ManifestColumns) -> Rows:
    """Entries that are not deleted."""
    return np.flatnonzero(columns.live)


class ManifestPlanner:
    """Plans one set of manifests; for one use. ``choose`` selects the entries to consider."""

    def __init__(self, context: PlanContext, choose: RowChoice = live_rows) -> None:
        self.context, self.choose = context, choose
        self.conjuncts = [_Conjunct(part, context) for part in conjuncts(context.filter)]
        self.wanted = frozenset(i for part in self.conjuncts for i in part.field_ids)
        self.by_manifest, self.by_partition, self.by_metrics = _Tally(), _Tally(), _Tally()
        self.files_in_skipped: int | None = 0
        self.files_scanned = self.manifests_scanned = 0

    # -- manifests -------------------------------------------------------------------------------------------------
    def spec(self, manifest: ManifestFile) -> PartitionSpec:
        return spec_of(self.context.metadata, manifest.partition_spec_id, "manifest", manifest.manifest_path)

    def select_manifests(self, manifests: Iterable[ManifestFile], *, count_skipped: bool = True) -> list[ManifestFile]:
        """Those that may hold a live file with a matching row."""
        return [manifest for manifest in manifests if self._may_hold(manifest, count_skipped)]

    def may_match(self, manifest: ManifestFile) -> bool:
        """True unless the manifest's partition summaries exclude the filter, whatever the status of its entries."""
        return self._excluded_by(manifest) is None

    def _excluded_by(self, manifest: ManifestFile) -> str | None:
        spec = self.spec(manifest)
        for part in self.conjuncts:
            projected = part.inclusive(spec)
            if not isinstance(projected, AlwaysTrue) and not partition_evaluator(spec, projected)(manifest):
                return part.text
        return None

    def _may_hold(self, manifest: ManifestFile, count_skipped: bool) -> bool:
        reason = self._excluded_by(manifest) if manifest.has_live_files else NO_LIVE_FILES
        if reason is not None and count_skipped:
            self.by_manifest.add(reason, 1)
            files = live_files_count(manifest)
            self.files_in_skipped = None if files is None or self.files_in_skipped is None else self.files_in_skipped + files
        return reason is None

    # -- data files ------------------------------------------------------------------------------------------------
    def scan_manifests(self, manifests: Sequence[ManifestFile], *, has_deletes: bool) -> list[PlannedManifest]:
        """Surviving rows of each manifest, in order; stops once ``limit`` rows are certain."""
        if self.context.limit is not None and not has_deletes:
            return self._until_limit(manifests, self.context.limit)
        return [planned for planned in self._scan_all(manifests) if len(planned.rows)]

    def _scan_all(self, manifests: Sequence[ManifestFile]) -> Iterator[PlannedManifest]:
        for columns in self._read_all(manifests):
            yield self._survivors(columns)

    def _read_all(self, manifests: Sequence[ManifestFile]) -> Iterator[ManifestColumns]:
        if len(manifests) < 2:
            yield from map(self._read, manifests)
            return
        with ThreadPoolExecutor(min(_WORKERS, len(manifests)), "icesql-plan") as pool:
            yield from pool.map(self._read, manifests)

    def _read(self, manifest: ManifestFile) -> ManifestColumns:
        return read_manifest_columns(self.context.io, manifest, spec=self.spec(manifest), bounds_for=self.wanted)

    def _survivors(self, columns: ManifestColumns) -> PlannedManifest:
        rows = self.choose(columns)
        self.files_scanned += len(rows)
        self.manifests_scanned += 1
        spec = self.spec(columns.manifest)
        for part in self.conjuncts:
            projected = part.inclusive(spec)
            if len(rows) and not isinstance(projected, AlwaysTrue):
                rows = self._keep(rows, partition_mask(projected, columns, rows), part, columns, self.by_partition)
        for part in self.conjuncts:
            if len(rows):
                rows = self._keep(rows, metrics_mask(part.expression, self.context.schema, columns, rows), part, columns, self.by_metrics)
        return PlannedManifest(columns, rows)

    @staticmethod
    def _keep(
        rows: Rows, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], part: _Conjunct, columns: ManifestColumns, tally: _Tally
    ) -> Rows:
        dropped = rows[~mask]
        if len(dropped):
            tally.add(part.text, len(dropped), int(columns.file_size_in_bytes[dropped].sum()))
        return rows[mask]

    def _until_limit(self, manifests: Sequence[ManifestFile], limit: int) -> list[PlannedManifest]:
        chosen: list[PlannedManifest] = []
        certain = 0
        for manifest in manifests:
            if certain >= limit:
                break
            planned = self._survivors(self._read(manifest))
            counts = np.where(self._all_rows_match(planned), planned.columns.record_count[planned.rows], 0)
            enough = np.flatnonzero(certain + np.cumsum(counts) >= limit)
            rows = planned.rows[: int(enough[0]) + 1] if len(enough) else planned.rows
            certain += int(counts.sum())
            if len(rows):
                chosen.append(PlannedManifest(planned.columns, rows))
        return chosen

    def _all_rows_match(self, planned: PlannedManifest) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        spec = self.spec(planned.columns.manifest)
        mask = np.ones(len(planned.rows), bool)
        for part in self.conjuncts:
            mask &= partition_mask(part.strict(spec), planned.columns, planned.rows)
        return mask

    # -- deletes ---------------------------------------------------------------------------------------------------
    def delete_index(self, manifests: Sequence[ManifestFile]) -> DeleteIndex:
        """Live delete files of the manifests, except in partitions that hold no matching row."""
        specs = self.context.metadata.specs_by_id

        def entries() -> Iterator[ManifestEntry]:
            for columns in self._read_all(manifests):
                yield from map(columns.entry, self._matching_partitions(columns).tolist())

        with collector_paused():
            return DeleteIndex(
                entries(),
                is_global=lambda spec_id: spec_id in specs and specs[spec_id].is_unpartitioned,
                types=field_types(self.context.metadata),
            )

    def _matching_partitions(self, columns: ManifestColumns) -> Rows:
        rows, spec = live_rows(columns), self.spec(columns.manifest)
        for part in self.conjuncts:
            rows = rows[partition_mask(part.inclusive(spec), columns, rows)]
        return rows


def plan_snapshot(context: PlanContext, snapshot: Snapshot | None) -> PlannedFiles:
    """Files of a snapshot that may hold rows matching the filter. ``None`` plans an empty table.

    Raises CorruptMetadataError for a manifest that is newer than the table.
    """
    planner: ScanPlanner | None = getattr(context.io, "scan_planner", None)
    if planner is not None and snapshot is not None and (answered := planner.plan(context, snapshot)) is not None:
        return answered
    started = time.perf_counter()
    manifests = manifests_of(context.io, snapshot)
    _check_numbers(context.metadata, snapshot, manifests)
    planned = plan_manifests(context, manifests, snapshot, started=started)
    tell_planned(context, planned.report)
    return planned


def _check_numbers(metadata: TableMetadata, snapshot: Snapshot | None, manifests: Sequence[ManifestFile]) -> None:
    """Raises for delete manifests with a sequence number above the table's: they would delete rows still to be added. Spec: "Sequence
    Numbers".
    """
    newest = max(manifests, key=lambda manifest: manifest.sequence_number, default=None)
    if snapshot is None or newest is None or newest.sequence_number <= metadata.last_sequence_number:
        return
    why = f"sequence number {newest.sequence_number} is greater than the table's last: {metadata.last_sequence_number}"
    location = snapshot.manifest_list or newest.manifest_path
    raise CorruptMetadataError(f"Cannot read manifest list {location}: {why}: {newest.manifest_path}", location=location)


def plan_manifests(
    context: PlanContext,
    manifests: Sequence[ManifestFile],
    snapshot: Snapshot | None,
    *,
    started: float | None = None,
    choose: RowChoice = live_rows,
) -> PlannedFiles:
    """As ``plan_snapshot``, for the given manifests and the entries of them that ``choose`` selects."""
    started = time.perf_counter() if started is None else started
    planner = ManifestPlanner(context, choose)
    data = [manifest for manifest in manifests if manifest.content is ManifestContent.DATA]
    deletes = [manifest for manifest in manifests if manifest.content is ManifestContent.DELETES]
    chosen = planner.select_manifests(data)
    chosen_deletes = planner.select_manifests(deletes, count_skipped=False) if chosen else []
    index = planner.delete_index(chosen_deletes)
    planned = tuple(planner.scan_manifests(chosen, has_deletes=not index.is_empty))
    report = ScanReport(
        table_name=context.table_name,
        snapshot_id=None if snapshot is None else snapshot.snapshot_id,
        schema_id=context.schema.schema_id,
        filter=describe(context.filter),
        manifests_total=len(data),
        manifests_scanned=planner.manifests_scanned,
        manifests_skipped=planner.by_manifest.skipped(),
        manifests_not_needed=len(chosen) - planner.manifests_scanned,
        delete_manifests_total=len(deletes),
        delete_manifests_scanned=len(chosen_deletes),
        files_total=total_live_files(data),
        files_in_skipped_manifests=planner.files_in_skipped,
        files_scanned=planner.files_scanned,
        files_skipped_by_partition=planner.by_partition.skipped(),
        files_skipped_by_metrics=planner.by_metrics.skipped(),
        files_planned=sum(len(part.rows) for part in planned),
        bytes_planned=sum(int(part.columns.file_size_in_bytes[part.rows].sum()) for part in planned),
        rows_planned=sum(int(part.columns.record_count[part.rows].sum()) for part in planned),
        delete_files_planned=len(index.files),
        position_delete_files=sum(file.content == 1 and not file.is_deletion_vector for file in index.files),
        equality_delete_files=sum(file.content == 2 for file in index.files),
        deletion_vectors=sum(file.is_deletion_vector for file in index.files),
        planning_ms=(time.perf_counter() - started) * 1000,
    )
    return PlannedFiles(planned, index, report)


def live_files_count(manifest: ManifestFile) -> int | None:
    if manifest.added_files_count is None or manifest.existing_files_count is None:
        return None
    return manifest.added_files_count + manifest.existing_files_count


def total_live_files(manifests: Iterable[ManifestFile]) -> int | None:
    total = 0
    for manifest in manifests:
        count = live_files_count(manifest)
        if count is None:
            return None
        total += count
    return total


def field_types(metadata: TableMetadata) -> dict[int, Type]:
    """Type of every column any schema of the table had, the newest one where it changed."""
    types: dict[int, Type] = {}
    for schema in (*sorted(metadata.schemas, key=lambda s: s.schema_id), metadata.schema):
        types.update({field_id: column.type for field_id, column in schema.fields_by_id.items()})
    return types
