"""Batches of rows on their way to Python tasks.

Spark ends a batch at a number of rows or of bytes (``spark.sql.execution.arrow.maxBytesPerBatch``), and to know the bytes it measures the
whole batch after each row, which takes as long as making it. Where no row is long the number of rows is limit enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import add

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, StringType, StructField, StructType, VariantType

from icesql.spec.case_folding import fold

MAX_BYTES_PER_BATCH = "spark.sql.execution.arrow.maxBytesPerBatch"
UNLIMITED = str(2**31 - 1)
LONG_ROW = "A row is too long for batches whose bytes are not measured"
MAX_ROW_BYTES = 32 << 10
"""10,000 rows of that length, Spark's default for a batch, take 320 MB."""
FIXED_BYTES = 16
"""What a value of a type of fixed length takes at most."""


@contextmanager
def unmeasured_batches(spark: SparkSession) -> Iterator[None]:
    """Jobs that this thread starts meanwhile end batches by rows alone, unless the session sets ``MAX_BYTES_PER_BATCH`` itself.

    For rows that ``short_rows`` has passed, or that are known to be short.
    """
    context = spark.sparkContext
    before = context.getLocalProperty(MAX_BYTES_PER_BATCH)
    context.setLocalProperty(MAX_BYTES_PER_BATCH, UNLIMITED)
    try:
        yield
    finally:  # None removes it
        context.setLocalProperty(MAX_BYTES_PER_BATCH, before)


def short_rows(columns: list[Column], fields: list[StructField]) -> list[Column] | None:
    """The columns, of which one raises ``LONG_ROW`` at a row of more than ``MAX_ROW_BYTES``; ``None`` where a row may be long and
    nothing tells cheaply how long it is: where there are lists, maps or variants.
    """
    fixed = 0
    lengths: list[Column] = []
    for column, field in zip(columns, fields, strict=True):
        size = _bytes_of(column, field.dataType)
        if size is None:
            return None
        fixed += size[0]
        lengths += size[1]
    left = MAX_ROW_BYTES - fixed
    if left < 0:
        return None
    if not lengths:
        return columns
    total = reduce(add, lengths)
    checked = next((i for i, field in enumerate(fields) if isinstance(field.dataType, (StringType, BinaryType))), 0)
    raised = F.raise_error(F.lit(LONG_ROW)).cast(fields[checked].dataType)
    passed = F.when(total > left, raised).otherwise(columns[checked]).alias(fields[checked].name)
    return [*columns[:checked], passed, *columns[checked + 1 :]]


def _bytes_of(column: Column, type_: DataType) -> tuple[int, list[Column]] | None:
    """(bytes that each value takes, lengths to be added to them) of a column; ``None`` if only a walk through each value would tell."""
    if isinstance(type_, (ArrayType, MapType, VariantType)):
        return None
    if isinstance(type_, (StringType, BinaryType)):
        return FIXED_BYTES, [F.coalesce(F.octet_length(column), F.lit(0)).cast("long")]
    if not isinstance(type_, StructType):
        return FIXED_BYTES, []
    if len({fold(name) for name in type_.names}) < len(type_.names):
        return None  # names that differ by case cannot be asked for
    fixed, lengths = FIXED_BYTES, []
    for field in type_.fields:
        inner = _bytes_of(column.getField(field.name), field.dataType)
        if inner is None:
            return None
        fixed += inner[0]
        lengths += inner[1]
    return fixed, lengths
