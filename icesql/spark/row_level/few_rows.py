"""Few changed rows: what is found comes to the driver at once, where a second Spark job would cost more than the rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame

from icesql.spark.columns import quoted
from icesql.spark.local_rows import arrow_frame, collect_arrow, size_in_bytes
from icesql.spark.row_level.target import Target
from icesql.spark.write import SMALL_BYTES, SMALL_VALUES, TOO_LARGE
from icesql.spec.types import GeographyType, GeometryType, TimeType, Type, VariantType, children

_ROW_BYTES = 8  # of a row without columns, as Spark's optimiser counts
_NUMBER_IN_PARTITION = "(monotonically_increasing_id() & 8589934591)"
_VALUES = "__values"


def is_small(target: Target, source: DataFrame | None = None) -> bool:
    """Whether the table, joined with the source row by row, has few values, of types that Arrow carries to the driver and back."""
    summary = target.snapshot.summary if target.snapshot else {}
    rows, size = summary.get("total-records", ""), summary.get("total-files-size", "")
    if not (rows.isdigit() and size.isdigit()) or int(size) > SMALL_BYTES:
        return False
    pairs = int(rows) + 1
    if source is not None:
        pairs *= size_in_bytes(source) // _ROW_BYTES + 1
    return pairs * len(target.metadata.schema.fields) <= SMALL_VALUES and all_travel(target)


def all_travel(target: Target) -> bool:
    """Whether Arrow carries values of all the table's types to the driver and back."""
    return all(_travels(field.type) for field in target.metadata.schema.fields)


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


def first_in_driver(frame: DataFrame, keys: Sequence[str]) -> tuple[pa.Table, DataFrame | None]:
    """(the columns ``keys`` of all rows, the whole rows as a local relation), the latter ``None`` if they are many or large.

    One Spark job: only the first rows of each partition bring their other columns along. A second one where these are too large.
    """
    others = [name for name in frame.columns if name not in keys]
    cores = frame.sparkSession.sparkContext.defaultParallelism
    first = SMALL_VALUES // len(frame.columns) // cores
    struct = ", ".join(quoted(name) for name in others)
    chosen = f"CASE WHEN {_NUMBER_IN_PARTITION} < {first} THEN struct({struct}) END AS {_VALUES}"
    try:
        rows = collect_arrow(frame.selectExpr(*map(quoted, keys), chosen))
    except Exception as error:
        if TOO_LARGE in str(error):
            return collect_arrow(frame.select(*map(quoted, keys))), None
        raise
    found, values = rows.select(list(keys)), rows[_VALUES].combine_chunks()
    if values.null_count:
        return found, None
    columns = {**{name: found[name] for name in keys}, **dict(zip(others, values.flatten(), strict=True))}
    return found, arrow_frame(frame.sparkSession, pa.table([columns[name] for name in frame.columns], frame.columns), frame.schema)
