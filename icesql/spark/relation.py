"""A DataFrame over Parquet files that Python chooses, read by Spark's own vectorised reader with columns resolved by field id."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from icesql.spark.bridge import Bridge
from icesql.spark.file_index import Planner, PythonFileIndex

# Options of one relation reach its readers' Hadoop configuration, so the user's session keeps its own settings.
_READ_BY_ID = {
    "spark.sql.parquet.fieldId.read.enabled": "true",
    "spark.sql.parquet.fieldId.read.ignoreMissing": "true",
}


def parquet_relation(
    bridge: Bridge,
    *,
    key: str,
    plan: Planner,
    schema: StructType,
    constants: StructType,
    size_in_bytes: int,
    names: Mapping[str, str] = MappingProxyType({}),
) -> DataFrame:
    """Columns of ``schema`` (each with its ``parquet.field.id``), then the constants. ``size_in_bytes`` steers Spark's join choice.

    Spark pushes filters into row groups by *name*, so a column whose name some file may use for another field needs a name no file
    has; ``names`` maps such names to the table's.
    """
    index = PythonFileIndex(bridge, key=key, plan=plan, size_in_bytes=size_in_bytes, constants=constants, names=names)
    datasources = bridge.jvm.org.apache.spark.sql.execution.datasources
    relation = datasources.HadoopFsRelation(
        index,
        bridge.jvm_schema(constants),
        bridge.jvm_schema(schema),
        bridge.none,
        datasources.parquet.ParquetFileFormat(),
        bridge.scala_map(_READ_BY_ID),
        bridge.session,
    )
    return DataFrame(bridge.session.baseRelationToDataFrame(relation), bridge.spark)
