"""Columns known to hold no null: Catalyst is told, but the schema the user sees does not depend on the rows there are."""

from __future__ import annotations

from collections.abc import Set

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.types import FIELD_ID


def without_nulls(schema: StructType, ids: Set[int]) -> StructType:
    """The schema, in which the columns of these field ids are not nullable."""
    return StructType(
        [StructField(f.name, f.dataType, f.nullable and f.metadata.get(FIELD_ID) not in ids, f.metadata) for f in schema.fields]
    )


def nullable_again(frame: DataFrame, schema: StructType) -> DataFrame:
    """The frame with the nullability of ``schema``, which has the same columns, until Spark optimises it.

    It is the union with no rows: Spark's optimiser drops that side, and then tells all that is above what the other side does not hold.
    """
    bridge = bridge_of(frame.sparkSession)
    nothing = bridge.session.createDataFrame(bridge.jvm.java.util.ArrayList(), bridge.jvm_schema(schema))
    return frame.union(DataFrame(nothing, frame.sparkSession))
