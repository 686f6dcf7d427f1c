"""Columns that hold no null by the files' counts: Catalyst plans with that, while the schema that users see stays nullable."""

from __future__ import annotations

from collections.abc import Set

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from icesql.spark.jvm.plans import empty_frame
from icesql.spark.jvm.types import FIELD_ID


def without_nulls(schema: StructType, ids: Set[int]) -> StructType:
    """The schema, in which the columns of these field ids are not nullable."""
    return StructType(
        [StructField(f.name, f.dataType, f.nullable and f.metadata.get(FIELD_ID) not in ids, f.metadata) for f in schema.fields]
    )


def nullable_again(frame: DataFrame, schema: StructType) -> DataFrame:
    """The frame with the nullability of ``schema``, which has the same columns, until Spark optimises it.

    A union with an empty side: until optimisation its columns are as nullable as that side's. The optimiser drops the empty side, and what
    is above sees the columns that are never null.
    """
    return frame.union(empty_frame(frame.sparkSession, schema))
