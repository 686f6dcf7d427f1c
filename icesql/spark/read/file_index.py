"""A Spark ``FileIndex`` implemented in Python: Spark asks for files at physical planning, with the final filters.

Beside files an index may give *constants*: columns whose value is the same in every row of a file (its location, partition
values, deleted positions, ...). Spark treats them as partition columns, so the vectorised reader adds them at no cost.
"""

from __future__ import annotations

import re
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField, StructType

from icesql.expr.tree import Expression
from icesql.spark.jvm.bridge import Bridge, guarded
from icesql.spark.jvm.local_rows import record_batches
from icesql.spark.jvm.paths import hadoop_path
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
        self._roots = bridge.nil if root is None else bridge.seq(bridge.path(hadoop_path(root)))
        self._jvm_constants = bridge.jvm_schema(constants)
        self._last: tuple[FileSet, Any] | None = None
        self.listFiles, self.sizeInBytes = guarded(self._list_files), guarded(size_in_bytes)

    def _list_files(self, partition_filters: Any, data_filters: Any) -> Any:
        version = None
        if self._has_versions:
            version, partition_filters = self._asked_version(partition_filters)
        files = self._plan(pushed_expression(data_filters, self._names), version)
        if not files.is_kept or partition_filters.size() > 0:
            return self._directories(files, partition_filters)
        last = self._last
        if last is None or last[0] is not files:
            last = self._last = (files, self._directories(files, partition_filters))
        return last[1]

    def _asked_version(self, partition_filters: Any) -> tuple[int | None, Any]:
        """The number in the filter over ``VERSION``, and the filters that are left to apply."""
        asked = _ASKED_VERSION.search(str(partition_filters.toString()))
        if asked is None:
            return None, partition_filters
        return int(asked[1]), self.bridge.nil if partition_filters.size() == 1 else partition_filters

    def _directories(self, files: FileSet, partition_filters: Any) -> Any:
        if files.constants is None or not self._constants.fields:
            return self.bridge.seq(self._directory(files))
        more = files.like_first
        if more is None or not more.paths or partition_filters.size() > 0:
            return constant_directories(self.bridge, files.expanded(), self._constants, partition_filters)
        directories = constant_directories(self.bridge, files, self._constants, partition_filters)
        values = directories.apply(0).values()
        return directories.prepended(self.bridge.partition_directory.apply(values, file_statuses(self.bridge, more)))

    def _directory(self, files: FileSet) -> Any:
        statuses = file_statuses(self.bridge, files)
        return self.bridge.partition_directory.apply(self._no_constants, statuses)

    @property
    def _no_constants(self) -> Any:
        """The row of constants of files that have none but, at most, ``VERSION``, whose value nothing asks for."""
        if not self._has_versions:
            return self.bridge.empty_row
        return self.bridge.once(("row of a version",), lambda: self.bridge.internal_row.fromSeq(self.bridge.seq(1 << 32)))

    def rootPaths(self) -> Any:
        return self._roots

    def inputFiles(self) -> Any:
        return self.bridge.gateway.new_array(self.bridge.jvm.java.lang.String, 0)

    def refresh(self) -> None:
        """Nothing is kept beyond the version that a plan is for."""

    def partitionSchema(self) -> Any:
        return self._jvm_constants

    def metadataOpsTimeNs(self) -> Any:
        return self.bridge.none

    def hashCode(self) -> int:
        return hash(self.key) & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        return other is self or (other is not None and str(other.toString()) == self.key)

    def toString(self) -> str:
        return self.key

    class Java:
        implements = ["org.apache.spark.sql.execution.datasources.FileIndex"]


# -- files without constants: one call whatever their number ------------------------------------------------------------


def file_statuses(bridge: Bridge, files: FileSet) -> Any:
    """``FileStatus[]`` from one byte string in Hadoop's Writable form."""
    count = len(files.paths)
    payload = struct.pack(">i", count) + b"".join(map(_file_status, files.paths, files.sizes))
    array = bridge.array_writable(bridge.class_("org.apache.hadoop.fs.FileStatus"))
    with bridge.input_stream(payload) as stream:
        array.readFields(bridge.buffered_data_input(stream))
    typed = bridge.gateway.new_array(bridge.file_status, count)
    bridge.array_copy(array.get(), 0, typed, 0, count)
    return typed


_STATUS_HEAD = b"\x08\x02\x12"  # FT_FILE, then the path
_STATUS_TAIL = b"\x22\x03\x08\xa4\x03\x38\x00\x40\x00\x50\x01\x58\x80\x80\x80\x40"  # mode 0644, times, one replica, blocks of 128 MiB


def _file_status(location: str, length: int) -> bytes:
    path = hadoop_path(location).encode()
    message = _STATUS_HEAD + _varint(len(path)) + path + b"\x18" + _varint(length) + _STATUS_TAIL
    return struct.pack(">i", len(message)) + message


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


# -- files with constants: rows in, PartitionDirectory objects out, all inside the JVM ----------------------------------

_PATH, _LENGTH, _CONSTANTS = "__path", "__length", "__constants"
_DATASOURCES = "org.apache.spark.sql.execution.datasources."


def constant_directories(bridge: Bridge, files: FileSet, constants: StructType, partition_filters: Any) -> Any:
    """A ``Seq[PartitionDirectory]`` with one directory a file.

    Filters over constants alone are dropped by Spark once the index was asked, so they are applied here, by Spark's own expressions.
    """
    fields = [StructField(_PATH, StringType(), False), StructField(_LENGTH, LongType(), False), StructField(_CONSTANTS, constants, False)]
    result = bridge.once(("directory of a file", constants.json()), lambda: _directory(bridge, constants))
    if partition_filters.size() == 0:
        make = bridge.once(("directories of files", constants.json()), lambda: _RowFunction(bridge, result))
        return make(_rows(files, repeat=False), StructType(fields))
    schema = StructType([*fields, *constants.fields])
    condition = _bound_condition(bridge, schema, partition_filters)
    chosen = bridge.expressions.If(condition, result, bridge.literal_class(bridge.nil, bridge.object_type(_LIST)))
    return _RowFunction(bridge, chosen)(_rows(files, repeat=True), schema)


class _RowFunction:
    """An expression that gives a list for a row, compiled once and applied to the rows of Arrow tables inside the JVM."""

    def __init__(self, bridge: Bridge, expression: Any) -> None:
        deserializer = getattr(bridge.jvm.org.apache.spark.sql.catalyst.encoders, "ExpressionEncoder$Deserializer")
        self._bridge, self._function, self._lock = bridge, deserializer(bridge.seq(expression)), threading.Lock()

    def __call__(self, table: pa.Table, schema: StructType) -> Any:
        """The lists as one Scala List."""
        row_type = self._bridge.jvm_schema(schema)
        with record_batches(self._bridge, table, schema) as batches, self._lock:  # the compiled function keeps its last row
            rows = self._bridge.arrow_converters.fromBatchIterator(batches, row_type, "UTC", False, False, None)
            return rows.flatMap(self._function).toList()


_LIST = "scala.collection.immutable.List"


def _rows(files: FileSet, *, repeat: bool) -> pa.Table:
    """Path, length and the constants as one struct; with ``repeat`` the constants once more as columns of their own, for filters."""
    assert files.constants is not None
    columns = [column.combine_chunks() for column in files.constants.columns]
    columns = [c.chunk(0) if isinstance(c, pa.ChunkedArray) else c for c in columns]
    packed = pa.StructArray.from_arrays(columns, fields=list(files.constants.schema))
    arrays = [pa.array(map(hadoop_path, files.paths), pa.string()), pa.array(files.sizes, pa.int64()), packed]
    names = [_PATH, _LENGTH, _CONSTANTS]
    if repeat:
        arrays, names = arrays + columns, names + files.constants.schema.names
    return pa.table(arrays, names=names)


def _directory(bridge: Bridge, constants: StructType) -> Any:
    """The expression ``List(PartitionDirectory(constants, List(FileStatusWithMetadata(FileStatus(length, path), Map()))))`` over a row."""
    bound, literal = bridge.expressions.BoundReference, bridge.literal_class
    long_type = bridge.type_module("LongType")
    length = bound(1, long_type, False)
    text = bridge.invoke(bound(0, bridge.type_module("StringType"), False), "toString", bridge.object_type("java.lang.String"))
    path = bridge.construct("org.apache.hadoop.fs.Path", text)
    status = bridge.construct(
        "org.apache.hadoop.fs.FileStatus",
        length,
        literal(False, bridge.type_module("BooleanType")),
        literal(1, bridge.type_module("IntegerType")),
        length,  # one block, the file
        bridge.module("org.apache.spark.sql.catalyst.expressions.Literal").default(long_type),  # modification time: unknown
        path,
    )
    no_metadata = literal(bridge.module("scala.collection.immutable.Map").empty(), bridge.object_type("scala.collection.immutable.Map"))
    file = bridge.construct(_DATASOURCES + "FileStatusWithMetadata", status, no_metadata)
    row_type = bridge.jvm_schema(constants)
    values = bridge.invoke(bound(2, row_type, False), "copy", row_type)  # the row itself is Arrow's memory
    return _single(bridge, bridge.construct(_DATASOURCES + "PartitionDirectory", values, _single(bridge, file)))


def _single(bridge: Bridge, item: Any) -> Any:
    """The expression ``item :: Nil``."""
    list_type = bridge.object_type(_LIST)
    return bridge.invoke(bridge.literal_class(bridge.nil, list_type), "::", list_type, item)


def _bound_condition(bridge: Bridge, schema: StructType, filters: Any) -> Any:
    """The conjunction of the filters, their attributes replaced by the places of the repeated constants in the row."""
    condition = filters.apply(0)
    for i in range(1, filters.size()):
        condition = bridge.expressions.And(condition, filters.apply(i))
    named = {str(a.name()).lower(): a for a in bridge.as_java(condition.references().toSeq())}
    unused = bridge.module("org.apache.spark.sql.catalyst.types.DataTypeUtils").toAttributes(bridge.jvm_schema(schema))
    row = [unused.apply(i) if i < 3 else named.get(name.lower(), unused.apply(i)) for i, name in enumerate(schema.names)]
    attribute_seq = getattr(bridge.expressions, "package$AttributeSeq")(bridge.seq(*row))
    return bridge.jvm.org.apache.spark.sql.catalyst.expressions.BindReferences.bindReference(condition, attribute_seq, False)
