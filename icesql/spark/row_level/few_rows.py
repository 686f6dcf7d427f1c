"""Statements that affect few rows: the driver collects the rows together with their places, which spares a second Spark job."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from icesql.spark.jvm.local_rows import arrow_frame, collect_arrow, size_in_bytes
from icesql.spark.jvm.plans import is_whole_relation
from icesql.spark.row_level.affected_rows import may_be_many, total
from icesql.spark.row_level.target import Target
from icesql.spark.write.data_files import SMALL_BYTES, SMALL_VALUES, TOO_LARGE
from icesql.spec.types import GeographyType, GeometryType, TimeType, Type, VariantType, children

FEW_VALUES = 4_000_000
"""So many are written by the driver in about the time in which tasks would have begun."""
_ROW_BYTES = 8  # of a row without columns, as Spark's optimiser counts
_NUMBER_IN_PARTITION = "(monotonically_increasing_id() & 8589934591)"
_NUMBER = "__icesql_number"  # beside the table's own columns
_PARTITION_BYTES = 128 << 20  # what Spark reads as one partition, by default
_UNKNOWN_BYTES = 1 << 60  # Spark takes what it knows nothing of for larger
_FEW_SOURCE_BYTES = 32 << 20  # a source of that size is worth a try, whatever the size of the table


def first_rows(frame: DataFrame, most: int | None) -> DataFrame:
    """What ``in_driver`` collects: one row more than ``most`` of each partition; all with ``None``.

    Rows are numbered and filtered: a limit, which would end a partition's work early, makes compiled scans much slower.
    """
    if most is None:
        return frame
    return frame.selectExpr("*", f"{_NUMBER_IN_PARTITION} AS {_NUMBER}").where(f"{_NUMBER} <= {most}")


def in_driver(first: DataFrame, most: int | None) -> pa.Table | None:
    """All rows of the frame that ``first_rows`` was asked for, ``None`` if some partition has more than ``most`` or they are large."""
    try:
        rows = collect_arrow(first)
    except Exception as error:
        if TOO_LARGE in str(error):
            return None
        raise
    if most is None:
        return rows
    return None if (pc.max(rows[_NUMBER]).as_py() or 0) >= most else rows.drop_columns(_NUMBER)


def most_in_driver(target: Target, columns: int, source: DataFrame | None = None) -> int | None:
    """How many rows with so many columns each partition of a job over the table, and a source, may bring to the driver.

    ``None``: all of them. 0 where types do not travel or many rows are likely, as the job would be for nothing then.
    """
    if not all(_travels(field.type) for field in target.metadata.schema.fields):
        return 0
    source_size = 0 if source is None else size_in_bytes(source)
    if _is_small(target, source, source_size):
        return None
    if _are_many_likely(target, source, source_size):
        return 0
    sizes = [total(target.snapshot, "total-files-size") or 0, source_size if source_size < _UNKNOWN_BYTES else 0]
    partitions = [size // _PARTITION_BYTES for size in sizes]
    most: int = FEW_VALUES // columns // max(target.spark.sparkContext.defaultParallelism, *partitions)
    return most


def _travels(type_: Type) -> bool:
    """Whether Arrow carries values of the type to the driver and back."""
    unfit = isinstance(type_, VariantType | GeometryType | GeographyType | TimeType)
    return not unfit and all(_travels(field.type) for field in children(type_))


def _is_small(target: Target, source: DataFrame | None, source_size: int) -> bool:
    """Whether the table, joined with the source row by row, has few values."""
    rows, size = total(target.snapshot, "total-records"), total(target.snapshot, "total-files-size")
    if rows is None or size is None or size > SMALL_BYTES:
        return False
    pairs = (rows + 1) * (1 if source is None else source_size // _ROW_BYTES + 1)
    return pairs * len(target.metadata.schema.fields) <= SMALL_VALUES


def _are_many_likely(target: Target, source: DataFrame | None, source_size: int) -> bool:
    if source is None or source_size >= _UNKNOWN_BYTES:
        return may_be_many(target.snapshot)
    return source_size > _FEW_SOURCE_BYTES and (may_be_many(target.snapshot, source) or is_whole_relation(source))


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows in the driver as the table's files take them.

    ``table``: the columns of ``schema``, which are the table's and, where rows keep them, those of their lineage; then partition values.
    """

    spark: SparkSession
    table: pa.Table
    schema: StructType

    def frame(self) -> DataFrame:
        """The rows without their partition values, as a local relation."""
        return arrow_frame(self.spark, self.table.select(range(len(self.schema))), self.schema)
