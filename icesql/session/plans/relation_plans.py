"""Relation plans of scans, cached by what they read: Spark gets the same plan for the same version of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from icesql.expr.tree import TRUE
from icesql.io.lru import LruCache
from icesql.pictures.pruning_steps import Planning
from icesql.session.plans.newest_versions import NewestVersions
from icesql.session.resolve.ambiguous_columns import refuse_ambiguous
from icesql.session.resolve.resolved import CHANGES, Readable
from icesql.session.resolve.time_travel import ReadPoint
from icesql.spark.jvm.spark_session import is_stopped
from icesql.spark.read.relation_plan import RelationPlan
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.own_changes import listen
from icesql.table.scan.planning_modes import check_modes
from icesql.table.scan.read_numbers import check_metadata_splits
from icesql.table.scan.report import ScanReport
from icesql.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spark.jvm.kept_frames import KeptFrames
    from icesql.spark.read.fallback_filters import Need
    from icesql.spark.read.unpinned import UnpinnedRead

_KEPT = 64
_WITH_COLUMNS_OF_TABLE = frozenset(
    {
        "files", "data_files", "delete_files", "entries", "all_files", "all_data_files", "all_delete_files", "all_entries", CHANGES,
    }
)  # fmt: skip
INCREMENTAL = frozenset({"start-snapshot-id", "end-snapshot-id"})


class RelationPlans:
    """``reports``: what each planning of the last statement kept and skipped, in order; filled when Spark plans, not when a frame is
    made."""

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._plans: LruCache[tuple[Any, ...], Any] = LruCache(_KEPT)  # relation plans; of unpinned reads with what they track
        self.newest = NewestVersions(session)
        listen(self)
        self.reports: list[Planning] = []
        self.is_pinned = False

    def scan(
        self,
        resolved: Readable,
        point: ReadPoint,
        options: Mapping[str, str],
        metadata_columns: tuple[str, ...] = (),
        columns: tuple[str, ...] | None = None,
        *,
        unpinned: bool = False,
    ) -> RelationPlan:
        """The plan of a table or metadata table as of ``point``; metadata columns come behind the table's own.

        ``unpinned``: each run reads the newest version, unless ``point`` names one. ``columns``: those of
        a metadata table that are needed (default: all). Raises SqlError for columns that differ by case only in a session that does not
        tell them apart, InvalidArgumentError and ValidationError for an unknown planning mode, and for a size of splits that is none.
        """
        if resolved.metadata_table is None or resolved.metadata_table in _WITH_COLUMNS_OF_TABLE:
            refuse_ambiguous(self._session, point.schema)
        if resolved.metadata_table is None:
            check_modes(resolved.table.metadata.properties, self._session.conf)
        elif resolved.metadata_table != CHANGES:
            check_metadata_splits(resolved.table.metadata.properties, resolved.metadata_table)
        unpinned = unpinned and self._is_unpinned(point)
        if (
            resolved.metadata_table is None
            and unpinned
            and (relation := self._unpinned(resolved, point, options, metadata_columns)) is not None
        ):
            return relation
        tracks = unpinned and resolved.metadata_table not in (None, CHANGES)
        key = self._key(resolved, point, options, (metadata_columns, columns, tracks))
        kept: RelationPlan | None = self._known(key)
        if kept is not None:
            return kept.with_new_columns()
        relation = self._made(resolved, point, dict(options), metadata_columns, columns)
        if tracks:
            relation = self._unpinned_rows(resolved, point, relation, columns)
        self._keep(key, relation)
        return relation

    def _known(self, key: tuple[Any, ...] | None) -> Any:
        return None if key is None else self._plans.find(key)

    def _keep(self, key: tuple[Any, ...] | None, relation: Any) -> None:
        if key is not None:
            self._plans.put(key, relation)

    def _unpinned(
        self, resolved: Readable, point: ReadPoint, options: Mapping[str, str], metadata_columns: tuple[str, ...]
    ) -> RelationPlan | None:
        """A plan that reads the newest version whenever it runs; ``None`` where there can be none. It serves many versions of a table."""
        if not INCREMENTAL.isdisjoint(options):
            return None
        from icesql.spark.read.reserved_names import without_reserved_names
        from icesql.spark.read.table_scan import unpinned_read

        key = (
            resolved.table.metadata.table_uuid,
            resolved.dotted,
            point.branch,
            point.schema.schema_id,
            tuple(sorted(options.items())),
            metadata_columns,
        )
        kept: tuple[UnpinnedRead, RelationPlan] | None = self._known(key)
        if kept is not None and kept[0].is_best_for(resolved.table.version):
            return kept[1].with_new_columns()
        tracked = unpinned_read(
            self._session.spark,
            resolved.table,
            str(point.branch),
            partial(self.newest.of, resolved),
            schema=point.schema,
            metadata_columns=metadata_columns,
            options=options,
            listener=self.add_report,
        )
        if tracked is None:
            return None
        relation = RelationPlan.of(without_reserved_names(tracked.frame(), point.schema))
        self._keep(key, (tracked, relation))
        return relation

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Within the block queries read the versions that are current when they are made, whenever they run."""
        outer, self.is_pinned = self.is_pinned, True
        try:
            yield
        finally:
            self.is_pinned = outer

    def clear(self) -> None:
        self._plans.clear()

    def table_changed(self, location: str) -> None:
        """This process has committed to a table: rows of it that Spark caches are stale."""
        if is_stopped(self._session.spark):
            return
        self._in_memory.forget_rows(location)

    @cached_property
    def _in_memory(self) -> KeptFrames:
        from icesql.spark.jvm.kept_frames import KeptFrames

        return KeptFrames(self._session.spark)

    @staticmethod
    def _key(resolved: Readable, point: ReadPoint, options: Mapping[str, str], columns: tuple[Any, ...]) -> tuple[Any, ...] | None:
        location = resolved.table.metadata_location
        if location is None:
            return None
        return (
            location,
            resolved.table.metadata.table_uuid,  # a file-system table that was dropped and made again reuses its files' names
            resolved.dotted,
            resolved.metadata_table,
            point.snapshot_id,
            point.branch,
            point.schema.schema_id,
            tuple(sorted(options.items())),
            columns,
        )

    def _made(
        self,
        resolved: Readable,
        point: ReadPoint,
        options: dict[str, str],
        metadata_columns: tuple[str, ...],
        columns: tuple[str, ...] | None,
    ) -> RelationPlan:
        spark = self._session.spark
        if resolved.metadata_table == CHANGES:
            from icesql.spark.read.changelog import changelog_frame

            return RelationPlan.of(changelog_frame(spark, resolved.table, options=options, metadata_columns=metadata_columns))
        if resolved.metadata_table is not None:
            from icesql.spark.read.metadata_frames import metadata_frame

            chosen = point.pinned or point.branch not in (None, MAIN)
            snapshot_id = point.snapshot_id if chosen else None
            return RelationPlan.of(metadata_frame(spark, resolved.table, resolved.metadata_table, snapshot_id=snapshot_id, columns=columns))
        if not INCREMENTAL.isdisjoint(options):
            from icesql.spark.read.changelog import incremental_frame

            return RelationPlan.of(incremental_frame(spark, resolved.table, options=options, listener=self.add_report))
        return self._table(resolved, point, options, metadata_columns)

    def narrowed(
        self, resolved: Readable, point: ReadPoint, options: Mapping[str, str], metadata_columns: tuple[str, ...], need: Need
    ) -> RelationPlan:
        """As ``scan`` for a table's rows, but rows and columns that are not needed may be left out, or null; made anew each time."""
        return self._table(resolved, point, dict(options), metadata_columns, need)

    def _is_unpinned(self, point: ReadPoint) -> bool:
        """Whether the read tracks a branch: it names no version, and no transaction is in progress."""
        return not point.pinned and point.branch is not None and self._session.transaction_in_progress is None

    def _table(
        self, resolved: Readable, point: ReadPoint, options: dict[str, str], metadata_columns: tuple[str, ...], need: Need | None = None
    ) -> RelationPlan:
        from icesql.spark.read.fallback_filters import relations_made
        from icesql.spark.read.read_planning import bindable
        from icesql.spark.read.reserved_names import without_reserved_names
        from icesql.spark.read.table_scan import scan_dataframe

        with relations_made() as keys:
            frame = scan_dataframe(
                self._session.spark,
                resolved.table,
                snapshot_id=point.snapshot_id,
                schema=point.schema,
                metadata_columns=metadata_columns,
                where=TRUE if need is None else bindable(point.schema, need.where),
                is_for_rows=need is not None,
                columns=None if need is None else need.columns,
                options=options,
                listener=self.add_report,
            )
        return RelationPlan.of(without_reserved_names(frame, point.schema), tuple(keys))

    def while_present(self, resolved: Readable, point: ReadPoint, row: Any, frame: DataFrame) -> DataFrame:
        """Yields ``row``, the result of ``frame`` at this version of the table, while this version is the newest; else runs ``frame``."""
        if not self._is_unpinned(point):
            return row
        return self._present_or(resolved, RelationPlan.of(row), RelationPlan.of(frame))

    def _unpinned_rows(self, resolved: Readable, point: ReadPoint, relation: RelationPlan, columns: tuple[str, ...] | None) -> RelationPlan:
        """The metadata table's rows at this version of the table while it is the newest, else those of the newest."""
        from icesql.spark.read.metadata_frames import newest_rows

        chosen = point.branch != MAIN

        def newest() -> tuple[Table, int | None]:
            version = self.newest.of(resolved)
            head = version.metadata.head(str(point.branch)) if chosen else None
            return Table(resolved.table.operations, version, resolved.table.identifier), None if head is None else head.snapshot_id

        name, metadata = str(resolved.metadata_table), resolved.table.metadata
        shape = (metadata.table_uuid, metadata.current_schema_id, metadata.default_spec_id, len(metadata.partition_specs))
        key = ("newest", resolved.dotted, name, point.branch, columns, *shape)
        later = self._known(key)
        if later is None:
            later = RelationPlan.of(newest_rows(self._session.spark, relation.frame.schema, str(key), name, newest, columns))
            self._keep(key, later)
        return RelationPlan.of(self._present_or(resolved, relation, later))

    def _present_or(self, resolved: Readable, relation: RelationPlan, otherwise: RelationPlan) -> DataFrame:
        from icesql.spark.jvm.driver_callbacks import DriverCallback, chosen_side
        from icesql.spark.read.unpinned import identity

        version = identity(resolved.table.version)
        present = DriverCallback(f"{version} present", lambda: identity(self.newest.of(resolved)) == version)
        past = DriverCallback(f"{version} past", lambda: identity(self.newest.of(resolved)) != version)
        return chosen_side(self._session.spark, [(relation.plan, present), (otherwise.plan, past)])

    def add_report(self, report: ScanReport, snapshot: Snapshot | None) -> None:
        """Called with the report of each planning of a snapshot's files."""
        total = None if snapshot is None else snapshot.summary.get("total-files-size")
        total_bytes = int(total) if total is not None and total.isdigit() else None
        if not any(planning.report is report for planning in self.reports):  # the sides of a union share a plan
            self.reports.append(Planning(report, total_bytes))
