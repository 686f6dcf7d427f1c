"""Spark's relation of Parquet files that Python chooses, read by its own vectorised reader with columns resolved by field id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.relations import parquet_files
from icesql.spark.read.file_index import Planner, PythonFileIndex
from icesql.spec.schema import Schema
from icesql.spec.types import UnknownType, children

_VECTORISED = "spark.sql.parquet.enableVectorizedReader"
_VECTORISED_NESTED = "spark.sql.parquet.enableNestedColumnVectorizedReader"

# Options of one relation reach its readers' Hadoop configuration, so the user's session keeps its own settings.
_READ_BY_ID = {
    "spark.sql.parquet.fieldId.read.enabled": "true",
    "spark.sql.parquet.fieldId.read.ignoreMissing": "true",
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
}


def is_vectorised(spark: SparkSession, schema: Schema) -> bool:
    """Whether Spark reads these columns with its vectorised reader. The other one finds columns by field id only if the session says so."""
    nested = any(children(field.type) for field in schema.fields)
    if any(isinstance(field.type, UnknownType) for field in schema.fields):
        return False
    keys = (_VECTORISED, *((_VECTORISED_NESTED,) if nested else ()))
    return all(spark.conf.get(key, "true") == "true" for key in keys)


def parquet_relation(
    bridge: Bridge,
    *,
    key: str,
    plan: Planner,
    schema: StructType,
    constants: StructType,
    size_in_bytes: Callable[[], int],
    names: Mapping[str, str] = MappingProxyType({}),
    root: str | None = None,
) -> JavaObject:
    """A relation of the columns of ``schema`` (each with its ``parquet.field.id``), then the constants.

    Spark pushes filters into row groups by *name*, so a column whose name some file may use for another field needs a name no file
    has; ``names`` maps such names to the table's. ``size_in_bytes`` steers Spark's join choice. ``root``: see ``PythonFileIndex``.
    """
    index = PythonFileIndex(bridge, key=key, plan=plan, size_in_bytes=size_in_bytes, constants=constants, names=names, root=root)
    return parquet_files(bridge, index, schema, constants, _READ_BY_ID)
