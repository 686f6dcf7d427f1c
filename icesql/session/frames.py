"""Scans as DataFrames, kept by what they read: the same version of a table is handed to Spark as the same plan."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from icesql.expr.tree import TRUE, Expression
from icesql.session.ambiguous_columns import refuse_ambiguous
from icesql.session.names import CHANGES, Found
from icesql.session.newest_versions import NewestVersions
from icesql.session.pruning_line import Planning
from icesql.session.time_travel import ReadPoint
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.own_changes import listen
from icesql.table.planning_modes import check_modes
from icesql.table.read_numbers import check_metadata_splits
from icesql.table.scan_report import ScanReport
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.session.session import Session
    from icesql.spark.kept_frames import KeptFrames

_KEPT = 64
_SHOW_COLUMNS = re.compile(r"(all_)?(files|data_files|delete_files|entries)|changes")  # metadata tables that show the table's columns
INCREMENTAL = frozenset({"start-snapshot-id", "end-snapshot-id"})


class Frames:
    """``reports``: what each planning of the last statement kept and skipped, in order; filled when Spark plans, not when a frame is
    made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._frames: OrderedDict[tuple[Any, ...], Any] = OrderedDict()  # of those that follow, with what they follow
        self._second_path: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()
        self.newest = NewestVersions(session)
        listen(self)
        self.reports: list[Planning] = []
        self.is_pinned = False

    def scan(
        self,
        found: Found,
        point: ReadPoint,
        options: Mapping[str, str],
        metadata_columns: tuple[str, ...] = (),
        columns: tuple[str, ...] | None = None,
        *,
        follow: bool = False,
    ) -> Any:
        """A frame of what ``found`` names, as of ``point``; metadata columns come behind the table's own.

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
        key = self._key(found, point, options, (metadata_columns, columns))
        if found.metadata_table is None and follow and (frame := self._following(found, point, options, metadata_columns)) is not None:
            return frame
        frame = self._kept(key)
        if frame is None:
            frame = self._made(found, point, dict(options), metadata_columns, columns)
            self._keep(key, frame)
        else:
            frame = self._again(frame)
        follow = follow and found.metadata_table not in (None, CHANGES)
        return self._following_rows(found, point, frame, columns) if follow and self._can_follow(point) else frame

    def _kept(self, key: tuple[Any, ...] | None) -> Any:
        if key is None or key not in self._frames:
            return None
        self._frames.move_to_end(key)
        return self._frames[key]

    def _keep(self, key: tuple[Any, ...] | None, frame: Any) -> None:
        if key is not None:
            self._frames[key] = frame
            while len(self._frames) > _KEPT:
                self._frames.popitem(last=False)

    def _following(self, found: Found, point: ReadPoint, options: Mapping[str, str], metadata_columns: tuple[str, ...]) -> Any:
        """A frame that shows what is there when it runs; ``None`` where none can. One frame serves for many versions of a table."""
        if not INCREMENTAL.isdisjoint(options) or not self._can_follow(point):
            return None
        from icesql.spark.reserved_names import without_reserved_names
        from icesql.spark.scan import follow_table

        key = (
            found.table.metadata.table_uuid,
            found.dotted,
            point.branch,
            point.schema.schema_id,
            tuple(sorted(options.items())),
            metadata_columns,
        )
        kept = self._kept(key)
        if kept is not None and kept[0].is_best_for(found.table.version):
            return self._again(kept[1])
        following = follow_table(
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
        frame = without_reserved_names(following.frame(), point.schema)
        self._keep(key, (following, frame))
        return frame

    def _again(self, frame: Any) -> Any:
        """A kept frame for another reader: its plan, with columns of its own."""
        from icesql.spark.fresh_plans import fresh

        again = fresh(self._session.spark, frame)
        if keys := self.second_path_of(frame):
            self._second_path[again] = keys
        return again

    @contextmanager
    def pinned(self) -> Iterator[None]:
        """Inside, queries show the versions there are when they are made, whenever they run."""
        outer, self.is_pinned = self.is_pinned, True
        try:
            yield
        finally:
            self.is_pinned = outer

    def clear(self) -> None:
        self._frames.clear()

    def table_changed(self, location: str) -> None:
        """This process has committed to a table: what Spark keeps in memory of its rows is stale."""
        if self._session.spark.sparkContext._jsc is None:  # stopped
            return
        self._in_memory.forget_rows(location)

    @cached_property
    def _in_memory(self) -> KeptFrames:
        from icesql.spark.kept_frames import KeptFrames

        return KeptFrames(self._session.spark)

    @staticmethod
    def _key(found: Found, point: ReadPoint, options: Mapping[str, str], columns: tuple[Any, ...]) -> tuple[Any, ...] | None:
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
        found: Found,
        point: ReadPoint,
        options: dict[str, str],
        metadata_columns: tuple[str, ...],
        columns: tuple[str, ...] | None,
    ) -> Any:
        spark = self._session.spark
        if found.metadata_table == CHANGES:
            from icesql.spark.changelog import changelog_frame

            return changelog_frame(spark, found.table, options=options, metadata_columns=metadata_columns)
        if found.metadata_table is not None:
            from icesql.spark.metadata_frames import metadata_frame

            chosen = point.pinned or point.branch not in (None, MAIN)
            return metadata_frame(
                spark,
                found.table,
                found.metadata_table,
                snapshot_id=point.snapshot_id if chosen else None,
                columns=columns,
            )
        if not INCREMENTAL.isdisjoint(options):
            from icesql.spark.changelog import incremental_frame

            return incremental_frame(spark, found.table, options=options, listener=self.told)
        return self._table_frame(found, point, options, metadata_columns)

    def narrowed(
        self, found: Found, point: ReadPoint, options: Mapping[str, str], metadata_columns: tuple[str, ...], where: Expression
    ) -> Any:
        """As ``scan`` for a table's rows, but files without rows that pass the filter need not be read; made anew each time."""
        from icesql.spark.scan import bindable

        return self._table_frame(found, point, dict(options), metadata_columns, bindable(point.schema, where))

    def _can_follow(self, point: ReadPoint) -> bool:
        """True for what all see now, not for a version or what a transaction has staged."""
        return not point.pinned and point.branch is not None and self._session.transaction_in_progress is None

    def _table_frame(
        self, found: Found, point: ReadPoint, options: dict[str, str], metadata_columns: tuple[str, ...], where: Expression = TRUE
    ) -> Any:
        from icesql.spark.reserved_names import without_reserved_names
        from icesql.spark.scan import scan_dataframe
        from icesql.spark.second_path_filters import relations_made

        with relations_made() as keys:
            frame = scan_dataframe(
                self._session.spark,
                found.table,
                snapshot_id=point.snapshot_id,
                schema=point.schema,
                metadata_columns=metadata_columns,
                where=where,
                options=options,
                listener=self.told,
            )
        frame = without_reserved_names(frame, point.schema)
        if keys:
            self._second_path[frame] = tuple(keys)
        return frame

    def while_present(self, found: Found, point: ReadPoint, told: Any, frame: Any) -> Any:
        """``told``, which is what ``frame`` shows of this version of the table, in runs that would show this version."""
        if not self._can_follow(point):
            return told
        return self._present_or(found, told, frame)

    def _following_rows(self, found: Found, point: ReadPoint, frame: Any, columns: tuple[str, ...] | None) -> Any:
        """A metadata table's ``frame`` in runs that would show this version of the table, else the rows of the newest one."""
        from icesql.spark.metadata_frames import newest_rows

        chosen = point.branch != MAIN

        def newest() -> tuple[Table, int | None]:
            version = self.newest.of(found)
            head = version.metadata.head(str(point.branch)) if chosen else None
            return Table(found.table.operations, version, found.table.identifier), None if head is None else head.snapshot_id

        name, metadata = str(found.metadata_table), found.table.metadata
        shape = (metadata.table_uuid, metadata.current_schema_id, metadata.default_spec_id, len(metadata.partition_specs))
        key = ("newest", found.dotted, name, point.branch, columns, *shape)
        later = self._kept(key)
        if later is None:
            later = newest_rows(self._session.spark, frame.schema, str(key), name, newest, columns)
            self._keep(key, later)
        return self._present_or(found, frame, later)

    def _present_or(self, found: Found, frame: Any, otherwise: Any) -> Any:
        from icesql.spark.asked_plans import Question, one_of
        from icesql.spark.following import identity

        version = identity(found.table.version)
        plans = (each._jdf.queryExecution().analyzed() for each in (frame, otherwise))
        present = Question(f"{version} present", lambda: identity(self.newest.of(found)) == version)
        past = Question(f"{version} past", lambda: identity(self.newest.of(found)) != version)
        return one_of(self._session.spark, list(zip(plans, (present, past), strict=True)))

    def second_path_of(self, frame: Any) -> tuple[str, ...]:
        """Keys of the relations in ``frame`` through which Catalyst pushes no filters."""
        return self._second_path.get(frame, ())

    def told(self, report: ScanReport, snapshot: Snapshot | None) -> None:
        """Called with the report of each planning of a snapshot's files."""
        total = None if snapshot is None else snapshot.summary.get("total-files-size")
        total_bytes = int(total) if total is not None and total.isdigit() else None
        if not any(planning.report is report for planning in self.reports):  # the sides of a union share a plan
            self.reports.append(Planning(report, total_bytes))
