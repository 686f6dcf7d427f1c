"""Changes of small tables: all that is found comes to the driver at once, where a second Spark job would cost more than the rows."""

from __future__ import annotations

from pyspark.sql import DataFrame

from icesql.spark.local_rows import arrow_frame, collect_arrow, size_in_bytes
from icesql.spark.row_level.target import Target
from icesql.spark.write import SMALL_BYTES, SMALL_VALUES, TOO_LARGE
from icesql.spec.types import GeographyType, GeometryType, TimeType, Type, VariantType, children

_ROW_BYTES = 8  # of a row without columns, as Spark's optimiser counts


def is_small(target: Target, source: DataFrame | None = None) -> bool:
    """Whether the table, joined with the source row by row, has few values, of types that Arrow carries to the driver and back."""
    summary = target.snapshot.summary if target.snapshot else {}
    rows, size = summary.get("total-records", ""), summary.get("total-files-size", "")
    if not (rows.isdigit() and size.isdigit()) or int(size) > SMALL_BYTES:
        return False
    fields = target.metadata.schema.fields
    pairs = int(rows) + 1
    if source is not None:
        pairs *= size_in_bytes(source) // _ROW_BYTES + 1
    return pairs * len(fields) <= SMALL_VALUES and all(_travels(field.type) for field in fields)


def _travels(type_: Type) -> bool:
    unfit = isinstance(type_, VariantType | GeometryType | GeographyType | TimeType)
    return not unfit and all(_travels(field.type) for field in children(type_))


def in_driver(frame: DataFrame) -> DataFrame | None:
    """The frame's rows as a local relation, ``None`` if they are larger than the driver takes."""
    try:
        rows = collect_arrow(frame)
    except Exception as error:
        if TOO_LARGE in str(error):
            return None
        raise
    return arrow_frame(frame.sparkSession, rows, frame.schema)
