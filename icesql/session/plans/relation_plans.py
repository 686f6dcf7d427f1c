"""Scans as Spark plans, kept by what they read: the same version of a table is handed to Spark as the same plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from icesql.expr.tree import TRUE
from icesql.io.lru import LruCache
from icesql.session.output.pruning_line import Planning
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
_SHOW_COLUMNS = re.compile(r"(all_)?(files|data_files|delete_files|entries)|changes")  # metadata tables that show the table's columns
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
        found: Readable,
        point: ReadPoint,
        options: Mapping[str, str],
        metadata_columns: tuple[str, ...] = (),
        columns: tuple[str, ...] | None = None,
        *,
        follow: bool = False,
    ) -> RelationPlan:
        """What ``found`` shows as of ``point``; metadata columns come behind the table's own.

        ``follow``: each time that it runs it shows what is there then, unless ``point`` is of one version. ``columns``: those of
        a metadata table that are needed (default: all). Raises SqlError for columns that differ by case only in a session that does not
        tell them apart, InvalidArgumentError and ValidationError for an unknown planning mode, and for a size of splits that is none.
        """
        if found.metadata_table is None or _SHOW_COLUMNS.fullmatch(found.metadata_table):
            refuse_ambiguous(self._session, point.schema)
        if found.metadata_table is None:
            check_modes(found.table.metadata.properties, self._session.conf)
        elif found.metadata_table != CHANGES:
            check_metadata_splits(found.table.metadata.properties, found.metadata_table)
        follow = follow and self._can_follow(point)
        if found.metadata_table is None and follow and (shown := self._following(found, point, options, metadata_columns)) is not None:
            return shown
        follows = follow and found.metadata_table not in (None, CHANGES)
        key = self._key(found, point, options, (metadata_columns, columns, follows))
        kept: RelationPlan | None = self._known(key)
        if kept is not None:
            return kept.with_new_columns()
        shown = self._made(found, point, dict(options), metadata_columns, columns)
        if follows:
            shown = self._following_rows(found, point, shown, columns)
        self._keep(key, shown)
        return shown

    def _known(self, key: tuple[Any, ...] | None) -> Any:
        return None if key is None else self._plans.find(key)

    def _keep(self, key: tuple[Any, ...] | None, shown: Any) -> None:
        if key is not None:
            self._plans.put(key, shown)

    def _following(
        self, found: Readable, point: ReadPoint, options: Mapping[str, str], metadata_columns: tuple[str, ...]
    ) -> RelationPlan | None:
        """What shows the rows that are there when it runs; ``None`` where nothing can. One plan serves for many versions of a table."""
        if not INCREMENTAL.isdisjoint(options):
            return None
        from icesql.spark.read.reserved_names import without_reserved_names
        from icesql.spark.read.table_scan import unpinned_read

        key = (
            found.table.metadata.table_uuid,
            found.dotted,
            point.branch,
            point.schema.schema_id,
            tuple(sorted(options.items())),
            metadata_columns,
        )
        kept: tuple[UnpinnedRead, RelationPlan] | None = self._known(key)
        if kept is not None and kept[0].is_best_for(found.table.version):
            return kept[1].with_new_columns()
        following = unpinned_read(
            self._session.spark,
            found.table,
            str(point.branch),
            partial(self.newest.of, found),
            schema=point.schema,
            metadata_columns=metadata_columns,
            options=options,
            listener=self.told,
        )
        if following is None:
            return None
        shown = RelationPlan.of(without_reserved_names(following.frame(), point.schema))
        self._keep(key, (following, shown))
        return shown

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Inside, queries show the versions there are when they are made, whenever they run."""
        outer, self.is_pinned = self.is_pinned, True
        try:
            yield
        finally:
            self.is_pinned = outer

    def clear(self) -> None:
        self._plans.clear()

    def table_changed(self, location: str) -> None:
        """This process has committed to a table: what Spark keeps in memory of its rows is stale."""
        if is_stopped(self._session.spark):
            return
        self._in_memory.forget_rows(location)

    @cached_property
    def _in_memory(self) -> KeptFrames:
        from icesql.spark.jvm.kept_frames import KeptFrames

        return KeptFrames(self._session.spark)

    @staticmethod
    def _key(found: Readable, point: ReadPoint, options: Mapping[str, str], columns: tuple[Any, ...]) -> tuple[Any, ...] | None:
        location = found.table.metadata_location
        if location is None:
            return None
        return (
            location,
            found.table.metadata.table_uuid,  # a file-system table that was dropped and made again reuses its files' names
            found.dotted,
            found.metadata_table,
            point.snapshot_id,
            point.branch,
            point.schema.schema_id,
            tuple(sorted(options.items())),
            columns,
        )

    def _made(
        self,
        found: Readable,
        point: ReadPoint,
        options: dict[str, str],
        metadata_columns: tuple[str, ...],
        columns: tuple[str, ...] | None,
    ) -> RelationPlan:
        spark = self._session.spark
        if found.metadata_table == CHANGES:
            from icesql.spark.read.changelog import changelog_frame

            return RelationPlan.of(changelog_frame(spark, found.table, options=options, metadata_columns=metadata_columns))
        if found.metadata_table is not None:
            from icesql.spark.read.metadata_frames import metadata_frame

            chosen = point.pinned or point.branch not in (None, MAIN)
            snapshot_id = point.snapshot_id if chosen else None
            return RelationPlan.of(metadata_frame(spark, found.table, found.metadata_table, snapshot_id=snapshot_id, columns=columns))
        if not INCREMENTAL.isdisjoint(options):
            from icesql.spark.read.changelog import incremental_frame

            return RelationPlan.of(incremental_frame(spark, found.table, options=options, listener=self.told))
        return self._table(found, point, options, metadata_columns)

    def narrowed(
        self, found: Readable, point: ReadPoint, options: Mapping[str, str], metadata_columns: tuple[str, ...], need: Need
    ) -> RelationPlan:
        """As ``scan`` for a table's rows, but rows and columns that are not needed may be left out, or null; made anew each time."""
        return self._table(found, point, dict(options), metadata_columns, need)

    def _can_follow(self, point: ReadPoint) -> bool:
        """True for what all see now, not for a version or what a transaction has staged."""
        return not point.pinned and point.branch is not None and self._session.transaction_in_progress is None

    def _table(
        self, found: Readable, point: ReadPoint, options: dict[str, str], metadata_columns: tuple[str, ...], need: Need | None = None
    ) -> RelationPlan:
        from icesql.spark.read.fallback_filters import relations_made
        from icesql.spark.read.read_planning import bindable
        from icesql.spark.read.reserved_names import without_reserved_names
        from icesql.spark.read.table_scan import scan_dataframe

        with relations_made() as keys:
            frame = scan_dataframe(
                self._session.spark,
                found.table,
                snapshot_id=point.snapshot_id,
                schema=point.schema,
                metadata_columns=metadata_columns,
                where=TRUE if need is None else bindable(point.schema, need.where),
                is_for_rows=need is not None,
                columns=None if need is None else need.columns,
                options=options,
                listener=self.told,
            )
        return RelationPlan.of(without_reserved_names(frame, point.schema), tuple(keys))

    def while_present(self, found: Readable, point: ReadPoint, told: Any, frame: Any) -> Any:
        """``told``, which is what ``frame`` shows of this version of the table, in runs that would show this version."""
        if not self._can_follow(point):
            return told
        return self._present_or(found, RelationPlan.of(told), RelationPlan.of(frame))

    def _following_rows(self, found: Readable, point: ReadPoint, shown: RelationPlan, columns: tuple[str, ...] | None) -> RelationPlan:
        """What a metadata table shows in runs that would show this version of the table, else the rows of the newest one."""
        from icesql.spark.read.metadata_frames import newest_rows

        chosen = point.branch != MAIN

        def newest() -> tuple[Table, int | None]:
            version = self.newest.of(found)
            head = version.metadata.head(str(point.branch)) if chosen else None
            return Table(found.table.operations, version, found.table.identifier), None if head is None else head.snapshot_id

        name, metadata = str(found.metadata_table), found.table.metadata
        shape = (metadata.table_uuid, metadata.current_schema_id, metadata.default_spec_id, len(metadata.partition_specs))
        key = ("newest", found.dotted, name, point.branch, columns, *shape)
        later = self._known(key)
        if later is None:
            later = RelationPlan.of(newest_rows(self._session.spark, shown.frame.schema, str(key), name, newest, columns))
            self._keep(key, later)
        return RelationPlan.of(self._present_or(found, shown, later))

    def _present_or(self, found: Readable, shown: RelationPlan, otherwise: RelationPlan) -> DataFrame:
        from icesql.spark.jvm.driver_callbacks import Question, one_of
        from icesql.spark.read.unpinned import identity

        version = identity(found.table.version)
        present = Question(f"{version} present", lambda: identity(self.newest.of(found)) == version)
        past = Question(f"{version} past", lambda: identity(self.newest.of(found)) != version)
        return one_of(self._session.spark, [(shown.plan, present), (otherwise.plan, past)])

    def told(self, report: ScanReport, snapshot: Snapshot | None) -> None:
        """Called with the report of each planning of a snapshot's files."""
        total = None if snapshot is None else snapshot.summary.get("total-files-size")
        total_bytes = int(total) if total is not None and total.isdigit() else None
        if not any(planning.report is report for planning in self.reports):  # the sides of a union share a plan
            self.reports.append(Planning(report, total_bytes))
