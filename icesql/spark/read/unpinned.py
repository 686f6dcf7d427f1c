"""Unpinned reads: DataFrames that show the table's newest version each time they run, as Spark 4.1 does, not the one they were made of.

Two driver callbacks (``icesql.spark.jvm.driver_callbacks``) tell a plan what to read while Spark optimises it:

    Filter(__table_version = <number>)    The number of the version. The filter reaches the file index with the others over constants, so
                                          the index knows which version's files to give, however late Spark asks; nothing of it runs.
    a union of which one side is chosen   The sides differ in whether they test for deleted rows, and in which columns are never null.

A version that no side can read (equality deletes, files for the fallback reader) is left out: the frame shows the last one that it could.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from icesql.errors import SqlError
from icesql.expr.tree import Expression
from icesql.io.lru import LruCache
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.driver_callbacks import DriverCallback, callback_number, chosen_side
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import analysed_plan, with_last_column_equal
from icesql.spark.read.changed_tables import check_same_table
from icesql.spark.read.columns import VERSION, ReadColumns
from icesql.spark.read.file_index import FileSet
from icesql.spark.read.nullability import without_nulls
from icesql.spark.read.relation import parquet_relation
from icesql.spec.files import FileContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import DELETE_MODE, MERGE_MODE, UPDATE_MODE
from icesql.spec.snapshots import MAIN
from icesql.table.operations import TableVersion
from icesql.table.scan.never_null import never_null

if TYPE_CHECKING:
    from icesql.spark.read.table_scan import Read

Newest = Callable[[], TableVersion]
"""The table's newest version; the same one as long as one run of Spark's asks."""

_KEPT = 4  # versions of one frame whose plans are kept
_REMEMBERED = 32  # versions of one frame for which a plan may still ask for files
_numbers = itertools.count(1 << 32)
_MODES = (DELETE_MODE, UPDATE_MODE, MERGE_MODE)


def can_be_unpinned(read: Read) -> bool:
    """Whether other versions of the table may be read through the same relations."""
    return not read.is_foreign and not read.is_mixed and FileContent.EQUALITY_DELETES not in read.delete_kinds


def identity(version: TableVersion) -> tuple[str | None, str | None]:
    """Equal for the same version. A table that is made again may reuse its files' names."""
    return version.metadata.table_uuid, version.metadata_location


@dataclass(frozen=True, slots=True)
class _Side:
    """One way to read: with a test for deleted rows or without, and with columns that Spark is told hold no null."""

    has_deletes: bool
    never_null: frozenset[int]

    def can_read(self, read: Read) -> bool:
        kinds = frozenset({FileContent.POSITION_DELETES}) if self.has_deletes else frozenset()
        return read.delete_kinds <= kinds and (not self.never_null or self.never_null <= _never_null(read))

    def columns(self, read: Read) -> ReadColumns:
        columns = read.with_deletes(read.columns) if self.has_deletes else read.columns
        return replace(columns, physical=without_nulls(columns.physical, self.never_null)) if self.never_null else columns


def _sides(read: Read) -> list[_Side]:
    """How the version of ``read`` is read best and, where later ones may need it, how any is."""
    best = _Side(bool(read.delete_kinds), _never_null(read))
    if best.never_null or (not best.has_deletes and _may_get_deletes(read.metadata)):
        return [best, _Side(True, frozenset())]
    return [best]


def _never_null(read: Read) -> frozenset[int]:
    return never_null(read.io, read.metadata, read.snapshot, read.schema)


def _may_get_deletes(metadata: TableMetadata) -> bool:
    """Whether row-level statements are asked to write delete files."""
    return metadata.format_version >= 2 and any(metadata.properties.get(mode) == "merge-on-read" for mode in _MODES)


class _Version:
    """One version of the table, and the files that a plan of it asks for."""

    def __init__(self, read: Read, number: int, side: _Side) -> None:
        self.read, self.number, self.side = read, number, side

    @cached_property
    def files(self) -> Callable[[Expression], FileSet]:
        return self.read.answers(None, self.side.columns(self.read), self.number)


class UnpinnedRead:
    """A frame of what a branch holds when the frame runs, in the columns of ``read``, which is of ``version`` and ``can_be_unpinned``.

    Running it raises SqlError where another table has the name by then or a column is missing, NotFoundError where the table or the
    branch is. Thread safe: Spark calls from any of its threads.
    """

    def __init__(self, read: Read, version: TableVersion, branch: str, newest: Newest) -> None:
        self._own, self._first, self._branch, self._newest = read, version, branch, newest
        self._sides = _sides(read)
        self._lock = threading.RLock()
        self._numbers: dict[tuple[str | None, str | None], int] = {}
        self._versions: LruCache[int, _Version] = LruCache(_KEPT)
        self._remembered: dict[int, tuple[TableVersion, _Side]] = {}  # the last versions by number, oldest first
        self._latest(version)

    def is_best_for(self, version: TableVersion) -> bool:
        """Whether a new unpinned read of this version would have the same sides. The table must have the same columns as ``read``."""
        read = self._read(version)
        return can_be_unpinned(read) and self._fits(read) and _sides(read) == self._sides

    # -- plans ---------------------------------------------------------------------------------------------------
    def frame(self) -> DataFrame:
        spark, plans = self._own.spark, [self._plan(side) for side in self._sides]
        if len(plans) == 1:
            bridge = bridge_of(spark)
            return bridge.frame(plans[0])
        questions = [DriverCallback(f"{self._key(side)} chosen", lambda side=side: self._current().side is side) for side in self._sides]  # type: ignore[misc]
        return chosen_side(spark, list(zip(plans, questions, strict=True)))

    def _plan(self, side: _Side) -> JavaObject:
        read, bridge, columns = self._own, bridge_of(self._own.spark), side.columns(self._own)
        files = parquet_relation(
            bridge,
            key=f"{self._key(side)} files",
            plan=self._files,
            schema=columns.physical,
            constants=StructType([*columns.constants_schema.fields, VERSION]),
            size_in_bytes=lambda: self._current().read.size_in_bytes(),
            names=columns.names,
            root=read.metadata.location,
        )
        relation = bridge.logical_relation(files, False)
        number = callback_number(bridge, DriverCallback(f"{self._key(side)} number", lambda: self._number(side)))
        asked = with_last_column_equal(bridge, relation, number)
        if not side.has_deletes and not columns.projection:
            return asked
        frame = bridge.frame(asked)
        frame = read.without_deleted(frame) if side.has_deletes else read.projected(frame)
        return analysed_plan(frame)

    def _key(self, side: _Side) -> str:
        read = self._own
        where = f"{read.name} {self._branch} schema={read.schema.schema_id} metadata={read.table_key}"
        return f"icesql[{where} deletes={side.has_deletes} never_null={sorted(side.never_null)}]"

    # -- runs ----------------------------------------------------------------------------------------------------
    def _files(self, expression: Expression, number: int | None) -> FileSet:
        """Files of the version that a plan is for. ``number`` is ``None`` only where Spark was told not to fold constants."""
        version = self._current() if number is None else self._numbered(number)
        return version.files(expression)

    def _number(self, side: _Side) -> int:
        """The version that a plan of this side reads: the newest, or, if that came after the side was chosen, the last one for the side."""
        with self._lock:
            current = self._current()
            if current.side is side:
                return current.number
            return next((number for number, (_, chosen) in reversed(self._remembered.items()) if chosen is side), current.number)

    def _current(self) -> _Version:
        """The version that a plan optimised now reads."""
        with self._lock:
            newest = self._newest()
            number = self._numbers.get(identity(newest))
            return self._numbered(number) if number is not None and number in self._remembered else self._latest(newest)

    def _latest(self, newest: TableVersion) -> _Version:
        """The newest version, or the last one that could be read."""
        read = self._read(newest)
        side = next((side for side in self._sides if side.can_read(read)), None) if can_be_unpinned(read) and self._fits(read) else None
        if side is None:
            number = next(reversed(self._remembered))
        else:
            number = next(_numbers)
            self._remembered[number] = (newest, side)
            self._versions.put(number, _Version(read, number, side))
        self._numbers[identity(newest)] = number
        while len(self._remembered) > _REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        return self._numbered(number)

    def _numbered(self, number: int) -> _Version:
        with self._lock:
            kept = self._versions.find(number)
            if kept is None:
                if number not in self._remembered:
                    raise SqlError(f"Cannot run plan: it is older than the last {_REMEMBERED} versions of {self._own.name}: make it again")
                version, side = self._remembered[number]
                kept = self._versions.put(number, _Version(self._read(version), number, side))
            return kept

    def _read(self, version: TableVersion) -> Read:
        """Raises SqlError, NotFoundError."""
        metadata = version.metadata
        if metadata is self._first.metadata:
            return self._own
        check_same_table(self._own.name, self._own.metadata, self._own.schema, metadata)
        if self._branch != MAIN:
            metadata.ref(self._branch)
        return self._own.at(metadata, metadata.head(self._branch))

    def _fits(self, read: Read) -> bool:
        """Whether the version's files are read through the same columns."""
        own, new = self._own.columns, read.columns
        return (own.physical, own.projection, own.names, own.whole, own.constants_schema) == (
            new.physical, new.projection, new.names, new.whole, new.constants_schema,
        )  # fmt: skip
