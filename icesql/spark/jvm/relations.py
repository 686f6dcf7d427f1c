"""Spark's relations of files that a ``FileIndex`` of Python chooses."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql.types import StructType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.handles import JavaObject


def parquet_files(bridge: Bridge, index: object, schema: StructType, constants: StructType, options: Mapping[str, str]) -> JavaObject:
    """Files that Spark's Parquet reader reads: the columns of ``schema``, then the index's constants. ``options``: of the reader."""
    made = bridge.once(
        ("parquet files", *(text for pair in options.items() for text in pair)),
        lambda: (bridge.java_class(classes.PARQUET_FILE_FORMAT)(), bridge.scala_map(dict(options))),
    )
    return _files(bridge, index, bridge.jvm_schema(schema), constants, *made)


def named_files(bridge: Bridge, index: object, constants: StructType) -> JavaObject:
    """Files of which Spark itself reads nothing unless asked, with the index's constants: Spark's binary files."""
    schema = bridge.module(classes.BINARY_FILES).schema()
    return _files(bridge, index, schema, constants, bridge.java_class(classes.BINARY_FILE_FORMAT)(), bridge.scala_map({}))


def _files(
    bridge: Bridge, index: object, schema: JavaObject, constants: StructType, file_format: JavaObject, options: JavaObject
) -> JavaObject:
    relation = bridge.java_class(classes.HADOOP_FS_RELATION)
    return relation(index, bridge.jvm_schema(constants), schema, bridge.none, file_format, options, bridge.session)
