"""The rows of a table that a DELETE, UPDATE or MERGE is about: a view to evaluate conditions on, and the files it read.

A condition is the user's own SQL text. It is evaluated once, over a temporary view of the target under the target's alias; the view also
has the metadata columns, so what comes back are the places (file and position) of matching rows.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from icesql.expr.tree import TRUE, Expression, or_
from icesql.spark.jvm import short_views
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.read.columns import quoted
from icesql.spark.read.deletes import DeletedPositions
from icesql.spark.read.filters import exact_filter
from icesql.spark.read.read_planning import ReadSettings, ScanListener
from icesql.spark.read.table_scan import Read
from icesql.spark.row_level.affected_rows import POS
from icesql.spark.row_level.file_numbers import FileNumbers
from icesql.spec.case_folding import name_key
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import FILE, LINEAGE, PARTITION, SPEC_ID
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.after_commit import after_commit
from icesql.table.scan.tasks import FileScanTask
from icesql.table.table import Table

if TYPE_CHECKING:
    from pyroaring import BitMap64

ROW_ID, LAST_UPDATED = (field.name for field in LINEAGE)
_numbers = itertools.count(1)
_lock = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is changed. ``alias``: the name by which the statement's expressions call the table (unquoted). ``branch`` may not exist yet.

    ``ctes``: text of a ``WITH ...`` clause that goes before the queries.
    """

    spark: SparkSession
    table: Table
    alias: str
    branch: str = MAIN
    ctes: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    session: Mapping[str, str] = field(default_factory=dict)
    listener: ScanListener | None = None

    @property
    def metadata(self) -> TableMetadata:
        return self.table.metadata

    @property
    def is_case_sensitive(self) -> bool:
        return self.session.get("spark.sql.caseSensitive") == "true"

    def key(self, name: str) -> str:
        """What two spellings of one name have in common."""
        return name_key(case_sensitive=self.is_case_sensitive)(name)

    @cached_property
    def snapshot(self) -> Snapshot | None:
        """What the branch shows: main's head where the branch does not exist yet."""
        return self.metadata.head(self.branch) or self.metadata.current_snapshot

    @property
    def snapshot_id(self) -> int | None:
        return None if self.snapshot is None else self.snapshot.snapshot_id

    @property
    def keeps_lineage(self) -> bool:
        return self.metadata.format_version >= 3

    @property
    def hidden_columns(self) -> tuple[str, ...]:
        """Metadata columns that the view has behind the table's own."""
        lineage = (ROW_ID, LAST_UPDATED) if self.keeps_lineage else ()
        return (FILE.name, POS, SPEC_ID.name, PARTITION, *lineage)

    @cached_property
    def files(self) -> FileNumbers:
        """The files that the view reads, by the number it shows of them (``FILE_NUMBER``)."""
        return FileNumbers()

    @cached_property
    def read(self) -> Read:
        settings = ReadSettings(
            schema=self.metadata.schema,
            metadata_columns=self.hidden_columns,
            extra=(self.files.constant,),
            options=self.options,
            listener=self.listener,
        )
        return Read(self.spark, self.table.io, self.metadata, self.table.name, self.snapshot, settings)

    @cached_property
    def view(self) -> str:
        """Name of the temporary view; ``close`` drops it."""
        with _lock:
            name = f"__icesql_target_{next(_numbers)}"
        short_views.show_plan(bridge_of(self.spark), self.read.plan(), name)
        return name

    def close(self) -> None:
        if "view" in self.__dict__:
            with after_commit(f"drop temporary view {self.view}"):
                short_views.hide(self.spark, self.view)

    @property
    def relation(self) -> str:
        """SQL text of the target in a FROM clause."""
        return f"{quoted(self.view)} AS {quoted(self.alias)}"

    def sql(self, query: str) -> DataFrame:
        return self.spark.sql(f"{self.ctes} {query}" if self.ctes else query)

    def matching(self, columns: Sequence[str], condition: str | None) -> DataFrame:
        """``SELECT columns FROM target WHERE condition``."""
        where = "" if condition is None else f" WHERE {condition}"
        return self.sql(f"SELECT {', '.join(columns)} FROM {self.relation}{where}")

    # -- what was read -------------------------------------------------------------------------------------------
    def planned_tasks(self) -> dict[str, FileScanTask]:
        """Every file that a query over the view planned to read, by path."""
        return {task.data_file.file_path: task for task in self.read.planner.planned_tasks()}

    def scan_filter(self) -> Expression:
        """The filter under which files were read: what conflict detection looks for."""
        return or_(*self.read.planner.planned_filters())

    @cached_property
    def existing_deletes(self) -> DeletedPositions:
        return DeletedPositions(self.table.io)

    def without_rows(self, tasks: Sequence[FileScanTask], deleted_positions: Mapping[str, BitMap64], columns: Sequence[str]) -> DataFrame:
        """The live rows of the tasks' files but for the positions in ``deleted_positions`` (by path): what copy-on-write carries over."""
        settings = ReadSettings(
            schema=self.metadata.schema,
            metadata_columns=tuple(c for c in self.hidden_columns if c in columns),
            tasks=tuple(tasks),
            deleted_positions=deleted_positions,
        )
        read = Read(self.spark, self.table.io, self.metadata, self.table.name, self.snapshot, settings)
        return bridge_of(self.spark).frame(read.plan()).select(*map(quoted, columns))


def exact_condition(target: Target, condition: str | None, matching: DataFrame) -> Expression | None:
    """The condition as an expression of ours that is true for exactly the same rows, ``None`` where there is no such expression.

    ``matching``: columns of the rows for which it is true.
    """
    if condition is None:
        return TRUE
    if target.read.is_one_relation:
        return exact_filter(matching, target.metadata.schema, target.read.columns.names)
    view = f"{target.view}_shape"
    short_views.show_plan(bridge_of(target.spark), target.read.shape_plan(), view)
    try:
        frame = target.sql(f"SELECT * FROM {quoted(view)} AS {quoted(target.alias)} WHERE {condition}")
        return exact_filter(frame, target.metadata.schema, target.read.columns.names)
    finally:
        with after_commit(f"drop temporary view {view}"):
            short_views.hide(target.spark, view)
