"""Results of commands as DataFrames: small, local, made without a Spark job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from icesql.spark.jvm.local_rows import local_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class ResultColumns:
    """Column names, Spark types in DDL form and nullability, e.g. ``ResultColumns("namespace string!", "isTemporary boolean!")``; ``!`` is
    NOT NULL."""

    def __init__(self, *columns: str) -> None:
        self.columns = columns
        self._schema: Any = None

    @property
    def schema(self) -> Any:
        if self._schema is None:
            from pyspark.sql.types import StructField, StructType

            fields = []
            for column in self.columns:
                name, _, type_text = column.partition(" ")
                fields.append(StructField(name, data_type(type_text.rstrip("!")), not type_text.endswith("!")))
            self._schema = StructType(fields)
        return self._schema

    def frame(self, spark: SparkSession, rows: Iterable[Sequence[Any]] = ()) -> DataFrame:
        return local_frame(spark, [tuple(row) for row in rows], self.schema)


def data_type(text: str) -> Any:
    """A Spark type from its DDL text, without asking the JVM for the common ones."""
    from pyspark.sql import types as t

    simple = {
        "string": t.StringType, "bigint": t.LongType, "int": t.IntegerType, "boolean": t.BooleanType,
        "timestamp": t.TimestampType, "double": t.DoubleType, "binary": t.BinaryType,
    }  # fmt: skip
    if text in simple:
        return simple[text]()
    if text.startswith("array<"):
        return t.ArrayType(data_type(text[6:-1]))
    raise ValueError(f"no such result type: {text}")


NOTHING = ResultColumns()
