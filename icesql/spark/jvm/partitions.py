"""Files and their constants as Spark's planner takes them: ``PartitionDirectory`` objects, made inside the JVM."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField, StructType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.local_rows import record_batches
from icesql.spark.jvm.paths import hadoop_path
from icesql.spec.case_folding import fold

_PATH, _LENGTH, _CONSTANTS = "__path", "__length", "__constants"
_LIST, _MAP = "scala.collection.immutable.List", "scala.collection.immutable.Map"


FEW_FILES = 1_000


# -- what was made is kept --------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Kept:
    """An object of the JVM; ``get`` gives ``None`` once the JVM has taken its memory back."""

    get: Callable[[], JavaObject]


def kept_while_there_is_room(bridge: Bridge, listed: JavaObject, files: int) -> Kept:
    """The directories of many files are held only as long as the JVM does not need their memory."""
    return Kept(lambda: listed) if files <= FEW_FILES else Kept(bridge.java_class(classes.SOFT_REFERENCE)(listed).get)


# -- files without constants: one call whatever their number ------------------------------------------------------------
def directory(bridge: Bridge, values: JavaObject, paths: Sequence[str], sizes: Sequence[int]) -> JavaObject:
    """One directory of all the files. ``values``: the row of constants of each of them.

    Spark sorts files by size, largest first and otherwise in the order given. For very many files that takes long, unless they come sorted.
    """
    if len(paths) > FEW_FILES:
        order = np.argsort(-np.asarray(sizes, np.int64), kind="stable").tolist()
        paths, sizes = [paths[place] for place in order], [sizes[place] for place in order]
    return bridge.java_class(classes.PARTITION_DIRECTORY).apply(values, file_statuses(bridge, paths, sizes))


def file_statuses(bridge: Bridge, paths: Sequence[str], sizes: Sequence[int]) -> JavaObject:
    """``FileStatus[]`` from one byte string in Hadoop's Writable form."""
    count = len(paths)
    payload = struct.pack(">i", count) + b"".join(map(_file_status, paths, sizes))
    array = bridge.java_class(classes.ARRAY_WRITABLE)(bridge.class_(classes.FILE_STATUS))
    with bridge.input_stream(payload) as stream:
        array.readFields(bridge.buffered_data_input(stream))
    return bridge.typed_array(classes.FILE_STATUS, array.get(), count)


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


def root_paths(bridge: Bridge, location: str | None) -> JavaObject:
    """A Seq of the table's location as a Hadoop path; empty for ``None``."""
    return bridge.nil if location is None else bridge.seq(bridge.java_class(classes.PATH)(hadoop_path(location)))


# -- files with constants: rows in, PartitionDirectory objects out ------------------------------------------------------
def directories(
    bridge: Bridge, paths: Sequence[str], sizes: Sequence[int], values: pa.Table, constants: StructType, filters: JavaObject
) -> JavaObject:
    """A ``Seq[PartitionDirectory]`` with one directory a file. ``values``: a row of constants a file, with the columns ``constants``.

    Filters over constants alone are dropped by Spark once the index was asked, so they are applied here, by Spark's own expressions.
    """
    fields = [StructField(_PATH, StringType(), False), StructField(_LENGTH, LongType(), False), StructField(_CONSTANTS, constants, False)]
    result = bridge.once(("directory of a file", constants.json()), lambda: _directory_of_row(bridge, constants))
    if filters.size() == 0:
        make = bridge.once(("directories of files", constants.json()), lambda: _RowFunction(bridge, result))
        return make(_rows(paths, sizes, values, repeat=False), StructType(fields))
    schema = StructType([*fields, *constants.fields])
    condition = _bound_condition(bridge, schema, filters)
    chosen = bridge.java_class(classes.IF)(condition, result, bridge.literal_class(bridge.nil, bridge.object_type(_LIST)))
    return _RowFunction(bridge, chosen)(_rows(paths, sizes, values, repeat=True), schema)


class _RowFunction:
    """An expression that gives a list for a row, compiled once and applied to the rows of Arrow tables inside the JVM."""

    def __init__(self, bridge: Bridge, expression: JavaObject) -> None:
        deserializer = bridge.java_class(classes.EXPRESSION_DESERIALIZER)
        self._bridge, self._function, self._lock = bridge, deserializer(bridge.seq(expression)), threading.Lock()

    def __call__(self, table: pa.Table, schema: StructType) -> JavaObject:
        """The lists as one Scala List."""
        row_type = self._bridge.jvm_schema(schema)
        with record_batches(self._bridge, table, schema) as batches, self._lock:  # the compiled function keeps its last row
            rows = self._bridge.arrow_converters.fromBatchIterator(batches, row_type, "UTC", False, False, None)
            return rows.flatMap(self._function).toList()


def _rows(paths: Sequence[str], sizes: Sequence[int], values: pa.Table, *, repeat: bool) -> pa.Table:
    """Path, length and the constants as one struct; with ``repeat`` the constants once more as columns of their own, for filters."""
    columns = [column.combine_chunks() for column in values.columns]
    columns = [column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns]
    packed = pa.StructArray.from_arrays(columns, fields=list(values.schema))
    arrays = [pa.array(map(hadoop_path, paths), pa.string()), pa.array(sizes, pa.int64()), packed]
    names = [_PATH, _LENGTH, _CONSTANTS]
    if repeat:
        arrays, names = arrays + columns, names + values.schema.names
    return pa.table(arrays, names=names)


def _directory_of_row(bridge: Bridge, constants: StructType) -> JavaObject:
    """The expression ``List(PartitionDirectory(constants, List(FileStatusWithMetadata(FileStatus(length, path), Map()))))`` over a row."""
    bound, literal = bridge.java_class(classes.BOUND_REFERENCE), bridge.literal_class
    long_type = bridge.type_module("LongType")
    length = bound(1, long_type, False)
    text = bridge.invoke(bound(0, bridge.type_module("StringType"), False), "toString", bridge.object_type("java.lang.String"))
    path = bridge.construct(classes.PATH, text)
    status = bridge.construct(
        classes.FILE_STATUS,
        length,
        literal(False, bridge.type_module("BooleanType")),
        literal(1, bridge.type_module("IntegerType")),
        length,  # one block, the file
        bridge.module(classes.LITERALS).default(long_type),  # modification time: unknown
        path,
    )
    no_metadata = literal(bridge.empty_map, bridge.object_type(_MAP))
    file = bridge.construct(classes.FILE_STATUS_WITH_METADATA, status, no_metadata)
    row_type = bridge.jvm_schema(constants)
    values = bridge.invoke(bound(2, row_type, False), "copy", row_type)  # the row itself is Arrow's memory
    return _single(bridge, bridge.construct(classes.PARTITION_DIRECTORY, values, _single(bridge, file)))


def _single(bridge: Bridge, item: JavaObject) -> JavaObject:
    """The expression ``item :: Nil``."""
    list_type = bridge.object_type(_LIST)
    return bridge.invoke(bridge.literal_class(bridge.nil, list_type), "::", list_type, item)


def _bound_condition(bridge: Bridge, schema: StructType, filters: JavaObject) -> JavaObject:
    """The conjunction of the filters, their attributes replaced by the places of the repeated constants in the row."""
    condition = filters.apply(0)
    for place in range(1, filters.size()):
        condition = bridge.java_class(classes.AND)(condition, filters.apply(place))
    named = {str(attribute.name()).lower(): attribute for attribute in bridge.as_java(condition.references().toSeq())}
    unused = bridge.attributes(schema)
    row = [unused.apply(i) if i < 3 else named.get(fold(name), unused.apply(i)) for i, name in enumerate(schema.names)]
    attributes = bridge.java_class(classes.ATTRIBUTE_SEQ)(bridge.seq(*row))
    return bridge.java_class(classes.BIND_REFERENCES).bindReference(condition, attributes, False)
