"""The files of a read: planned once for a filter, for all the relations that the read is the union of."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from icesql.errors import IcesqlError
from icesql.expr.binding import bind
from icesql.expr.rewrite import map_leaves, push_not
from icesql.expr.tree import TRUE, Expression, Op, Predicate, and_
from icesql.io.storage.files import FileIO
from icesql.spark.read.columns import FileConstant
from icesql.spark.read.file_index import FileSet
from icesql.spark.read.foreign_files import learn
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import UUIDType
from icesql.table.scan.planning import PlanContext, plan_snapshot
from icesql.table.scan.read_numbers import check_splits
from icesql.table.scan.report import ScanReport
from icesql.table.scan.table_scan import ScanPlan
from icesql.table.scan.tasks import FileScanTask, ScannedFile

if TYPE_CHECKING:
    from pyroaring import BitMap64

ScanListener = Callable[[ScanReport, Snapshot | None], None]
"""Told of each planning of a snapshot's files."""
_scan_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class ReadSettings:
    """What a read shows and of which files.

    ``where`` only prunes (its rows are not filtered, but they may be where the read ``is_for_rows``). ``needed``: dotted names of the
    columns that are used; others may be null (``None``: all are). ``files`` restricts the read to those data files; ``tasks`` replaces
    planning altogether.
    ``deleted_positions``: positions to leave out beside those the delete files name, as bitmaps by data file.
    ``extra``: further constants to show, behind the metadata columns.
    ``never_null``: ids of columns that hold no null in these files: Spark does not test for it, though the frame's schema allows for it.
    """

    schema: Schema | None = None
    metadata_columns: tuple[str, ...] = ()
    where: Expression = TRUE
    is_for_rows: bool = False
    needed: frozenset[str] | None = None
    files: frozenset[str] | None = None
    tasks: tuple[FileScanTask, ...] | None = None
    deleted_positions: Mapping[str, BitMap64] | None = None
    extra: tuple[FileConstant, ...] = ()
    never_null: frozenset[int] = frozenset()
    options: Mapping[str, str] = field(default_factory=dict)
    listener: ScanListener | None = None


class SharedPlanner:
    """Plans files for a filter; the sides of a union ask for the same filter one after another, so the last plans are kept."""

    def __init__(
        self, io: FileIO, metadata: TableMetadata, name: str, snapshot: Snapshot | None, schema: Schema, settings: ReadSettings
    ) -> None:
        self._io, self._metadata, self._name, self._snapshot, self._schema, self._settings = io, metadata, name, snapshot, schema, settings
        self._plans: dict[Expression, _Plan] = {}
        self._wanted = settings.files
        self._unchecked = True
        self.reader: Callable[[], str] = str
        """Says who reads the files, for reports."""
        self._lock = threading.Lock()

    def narrow(self, files: Set[str]) -> None:
        """From now on only these files are given, where a filter lets them pass."""
        self._wanted = frozenset(files) if self._wanted is None else self._wanted & files

    def files(self, expression: Expression) -> tuple[Sequence[str], Sequence[int]]:
        """Paths and sizes; no object is made for a file unless only some of the files are wanted."""
        self._check()
        if self._settings.tasks is not None or self._wanted is not None:
            return paths_and_sizes(self.scanned(expression))
        plan = self._plan(expression)
        return plan.paths, plan.sizes

    def scanned(self, expression: Expression) -> Sequence[ScannedFile]:
        """The files with their deletes; without metrics where planning finds them."""
        self._check()
        if self._settings.tasks is not None:
            return self._settings.tasks
        files, wanted = self._plan(expression).files, self._wanted
        return files if wanted is None else [file for file in files if file.file_path in wanted]

    def tasks(self, expression: Expression) -> Sequence[FileScanTask]:
        """The files as tasks, which the fallback reader reads."""
        self._check()
        if self._settings.tasks is not None:
            return self._settings.tasks
        tasks: Sequence[FileScanTask] = self._plan(expression).task_list
        wanted = self._wanted
        return tasks if wanted is None else [task for task in tasks if task.data_file.file_path in wanted]

    def made_from(self, expression: Expression) -> tuple[object, object]:
        """What decides which files a filter lets pass: while both are the same objects, so are the files."""
        self._check()
        return self._plan(expression) if self._settings.tasks is None else self._settings.tasks, self._wanted

    def _check(self) -> None:
        """The table's ``read.split.*`` must be numbers when files are asked for, though Spark makes the splits."""
        if self._unchecked:
            check_splits(self._metadata.properties, self._settings.options)
            self._unchecked = False

    def planned_tasks(self) -> list[FileScanTask]:
        """The files of every plan so far; a file twice if two filters wanted it."""
        if self._settings.tasks is not None:
            return list(self._settings.tasks)
        with self._lock:
            plans = list(self._plans.values())
        return [task for plan in plans for task in plan.task_list]

    def planned_filters(self) -> list[Expression]:
        """The filters of every plan so far, in terms of the table's columns."""
        with self._lock:
            return [plan.context.filter for plan in self._plans.values()]

    def formats(self, expression: Expression) -> frozenset[str]:
        """File formats among the planned files."""
        if self._settings.tasks is not None:
            return frozenset(task.file_format for task in self._settings.tasks)
        return self._plan(expression).formats

    def _plan(self, expression: Expression) -> _Plan:
        with self._lock:
            plan = self._plans.get(expression)
            if plan is None:
                plan = self._planned(expression)
                plan.report = replace(plan.report, reader=self.reader())
                self._plans = {**dict(list(self._plans.items())[-7:]), expression: plan}
        if self._settings.listener is not None:
            self._settings.listener(plan.report, self._snapshot)
        return plan

    def _planned(self, expression: Expression) -> _Plan:
        context = PlanContext(
            metadata=self._metadata,
            io=self._io,
            schema=self._schema,
            filter=bind(self._schema, and_(self._settings.where, bindable(self._schema, expression))),
            table_name=self._name,
        )
        planned = plan_snapshot(context, self._snapshot)
        for part in planned.manifests:
            learn(part.columns)
        return _Plan(context, planned)


class _Plan(ScanPlan):
    """A plan whose tasks are made once."""

    @cached_property
    def task_list(self) -> list[FileScanTask]:
        return list(self.tasks)


class KeptAnswers:
    """The last sets of files that a relation gave, of many only where they have no constants: of the very last, Spark keeps its objects."""

    _MOST, _MOST_FILES, _MOST_BYTES = 4, 1_000, 1 << 20

    def __init__(self) -> None:
        self._answers: dict[Expression, tuple[tuple[object, object], FileSet]] = {}

    def get(self, expression: Expression, made_from: tuple[object, object], make: Callable[[Expression], FileSet]) -> FileSet:
        """The set that was made from the same objects, or a new one."""
        kept = self._answers.get(expression)
        if kept is not None and all(old is new for old, new in zip(kept[0], made_from, strict=True)):
            return kept[1]
        files = make(expression)
        if files.constants is None or (files.count <= self._MOST_FILES and files.constants.nbytes <= self._MOST_BYTES):
            files = replace(files, is_kept=True)
            self._answers = {**dict(list(self._answers.items())[1 - self._MOST :]), expression: (made_from, files)}
        return files


def bindable(schema: Schema, expression: Expression) -> Expression:
    """The filter without the parts that mean something else, or nothing, on the table's types: uuids are text in Spark."""

    def kept(leaf: Predicate) -> Expression:
        try:
            bind(schema, leaf)
        except IcesqlError:
            return TRUE
        column = schema.find(leaf.term.name) if leaf.term.name else None  # a bound term names its column too
        compares_text = column is not None and isinstance(column.type, UUIDType)
        return TRUE if compares_text and leaf.op not in (Op.EQ, Op.IN, Op.IS_NULL, Op.NOT_NULL) else leaf

    return map_leaves(push_not(expression), kept)


def paths_and_sizes(files: Sequence[ScannedFile]) -> tuple[list[str], list[int]]:
    return [file.file_path for file in files], [file.file_size_in_bytes for file in files]


def constants_table(constants: Sequence[FileConstant], files: Sequence[ScannedFile]) -> pa.Table | None:
    if not constants:
        return None
    return pa.table([constant.array(files) for constant in constants], names=[constant.field.name for constant in constants])


def table_key(metadata: TableMetadata, settings: ReadSettings) -> str:
    """Equal for reads that plan the same files for the same filter."""
    if settings.tasks is not None or settings.files is not None:
        return f"{metadata.table_uuid}/{next(_scan_numbers)}"
    return f"{metadata.table_uuid}/{settings.where!r}/{sorted(settings.options.items())}"
