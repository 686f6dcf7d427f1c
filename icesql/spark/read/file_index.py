"""A Spark ``FileIndex`` implemented in Python: Spark asks for files at physical planning, with the final filters.

Beside files an index may give *constants*: columns whose value is the same in every row of a file (its location, partition
values, deleted positions, ...). Spark treats them as partition columns, so the vectorised reader adds them at no cost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.types import StructType

from icesql.expr.tree import Expression
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.callback_errors import guarded
from icesql.spark.jvm.classes import FILE_INDEX
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.partitions import Kept, directories, directory, kept_while_there_is_room, root_paths
from icesql.spark.read.columns import VERSION
from icesql.spark.read.filters import pushed_expression


@dataclass(frozen=True, slots=True)
class FileSet:
    """Files to read. ``constants`` has one row a file, in the order of ``paths``; ``None`` where the index declares no constants.

    ``like_first``: further files, whose constants are those of the first. ``is_kept``: the same object is likely to be given again.
    """

    paths: Sequence[str]
    sizes: Sequence[int]
    constants: pa.Table | None = None
    like_first: FileSet | None = None
    is_kept: bool = False

    @property
    def count(self) -> int:
        return len(self.paths) + (0 if self.like_first is None else self.like_first.count)

    def expanded(self) -> FileSet:
        """The same files, each with a row of constants."""
        if self.constants is None or self.like_first is None or not self.like_first.paths:
            return self
        more = self.like_first
        constants = pa.concat_tables([self.constants, self.constants.take([0] * len(more.paths))])
        return FileSet([*self.paths, *more.paths], [*self.sizes, *more.sizes], constants)


Planner = Callable[[Expression, "int | None"], FileSet]
"""The files for a filter, of the version with that number; ``None`` where the relation is of one version only."""
_ASKED_VERSION = re.compile(rf"\({VERSION.name}#\d+L? = (\d+)L?\)")


class PythonFileIndex:
    """What Spark calls, from any JVM thread. ``key`` is equal exactly for indexes that give the same files for the same filters.

    ``names`` maps column names of the relation to names of the table where they differ. With the constant ``VERSION``, a filter says
    which version of the table is read. ``root`` is the table's location, where a commit makes what Spark keeps in memory stale.
    """

    def __init__(
        self,
        bridge: Bridge,
        *,
        key: str,
        plan: Planner,
        size_in_bytes: Callable[[], int],
        constants: StructType,
        names: Mapping[str, str],
        root: str | None = None,
    ) -> None:
        self.bridge, self.key, self._plan, self._constants = bridge, key, plan, constants
        self._names, self._has_versions = names, VERSION in constants.fields
        self._roots = root_paths(bridge, root)
        self._jvm_constants = bridge.jvm_schema(constants)
        self._last: tuple[FileSet, Kept] | None = None
        self.listFiles, self.sizeInBytes = guarded(self._list_files), guarded(size_in_bytes)

    def _list_files(self, partition_filters: JavaObject, data_filters: JavaObject) -> JavaObject:
        version = None
        if self._has_versions:
            version, partition_filters = self._asked_version(partition_filters)
        files = self._plan(pushed_expression(data_filters, self._names), version)
        if not files.is_kept or partition_filters.size() > 0:
            return self._directories(files, partition_filters)
        last = self._last
        listed = last[1].get() if last is not None and last[0] is files else None
        if listed is None:
            listed = self._directories(files, partition_filters)
            self._last = (files, kept_while_there_is_room(self.bridge, listed, files.count))
        return listed

    def _asked_version(self, partition_filters: JavaObject) -> tuple[int | None, JavaObject]:
        """The number in the filter over ``VERSION``, and the filters that are left to apply."""
        asked = _ASKED_VERSION.search(str(partition_filters.toString()))
        if asked is None:
            return None, partition_filters
        return int(asked[1]), self.bridge.nil if partition_filters.size() == 1 else partition_filters

    def _directories(self, files: FileSet, partition_filters: JavaObject) -> JavaObject:
        if files.constants is None or not self._constants.fields:
            return self.bridge.seq(directory(self.bridge, self._no_constants, files.paths, files.sizes))
        more = files.like_first
        if more is None or not more.paths or partition_filters.size() > 0:
            return self._constant_directories(files.expanded(), partition_filters)
        listed = self._constant_directories(files, partition_filters)
        values = listed.apply(0).values()
        return listed.prepended(directory(self.bridge, values, more.paths, more.sizes))

    def _constant_directories(self, files: FileSet, partition_filters: JavaObject) -> JavaObject:
        assert files.constants is not None
        return directories(self.bridge, files.paths, files.sizes, files.constants, self._constants, partition_filters)

    @property
    def _no_constants(self) -> JavaObject:
        """The row of constants of files that have none but, at most, ``VERSION``, whose value nothing asks for."""
        if not self._has_versions:
            return self.bridge.empty_row
        return self.bridge.once(("row of a version",), lambda: self.bridge.row(1 << 32))

    def rootPaths(self) -> JavaObject:
        return self._roots

    def inputFiles(self) -> JavaObject:
        return self.bridge.no_strings()

    def refresh(self) -> None:
        """Nothing is kept beyond the version that a plan is for."""

    def partitionSchema(self) -> JavaObject:
        return self._jvm_constants

    def metadataOpsTimeNs(self) -> JavaObject:
        return self.bridge.none

    def hashCode(self) -> int:
        return hash(self.key) & 0x7FFFFFFF

    def equals(self, other: JavaObject) -> bool:
        return other is self or (other is not None and str(other.toString()) == self.key)

    def toString(self) -> str:
        return self.key

    class Java:
        implements = [FILE_INDEX]
