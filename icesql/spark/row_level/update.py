"""UPDATE: rows that match are deleted, and added again with new values."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from icesql.spark.jvm.local_rows import is_local
from icesql.spark.jvm.plans import is_deterministic
from icesql.spark.read.columns import quoted
from icesql.spark.row_level.affected_rows import POS, AffectedRows, affected_rows, may_be_many
from icesql.spark.row_level.assignments import Assignment, assigned_columns
from icesql.spark.row_level.changes import MERGE_ON_READ, RowLevelResult, change, check_changes, mode_of
from icesql.spark.row_level.checks import require_deterministic
from icesql.spark.row_level.few_rows import NewRows, first_rows, in_driver, most_in_driver
from icesql.spark.row_level.file_numbers import FILE_NUMBER
from icesql.spark.row_level.target import LAST_UPDATED, ROW_ID, Target
from icesql.spark.write.distribution import with_partition_values
from icesql.spark.write.store_assignment import assigned_frame, lineage_schema
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, NestedField
from icesql.table.changes.overwrite import OverwriteFiles

_PLACES = [FILE_NUMBER, POS]
_PLACE_FIELDS = (NestedField(-1, FILE_NUMBER, IntegerType()), NestedField(-2, POS, LongType()))


def update_rows(target: Target, assignments: Sequence[Assignment], condition: str | None) -> RowLevelResult:
    """Set columns of the rows for which ``condition`` is true. Nothing is committed yet.

    Raises Spark's AnalysisException; ValidationError for assignments that conflict.
    """
    try:
        return _update(target, assignments, condition)
    finally:
        target.close()


def _update(target: Target, assignments: Sequence[Assignment], condition: str | None) -> RowLevelResult:
    check_changes(target, "update")
    values = assigned_columns(target.metadata.schema, assignments, target.alias, key=target.key)
    rows = target.matching([*_PLACES, *values, *_lineage(target)], condition)
    if not is_deterministic(rows):  # values may be up to chance
        require_deterministic(target.matching(_PLACES, condition))
    rows = _fitted(target, rows)
    if target.snapshot is None:
        return _nothing(target)
    most = _most_in_driver(target, rows)
    if most != 0:
        first = first_rows(_valued(target, rows), most)
        if is_local(first):
            return _nothing(target)
        few = in_driver(first, most)
        if few is not None:
            new = NewRows(target.spark, few.drop_columns(_PLACES), _without_places(rows))
            return _changed(target, AffectedRows(few.select(_PLACES), target.files), new)
    places = rows.select(*_PLACES)
    if is_local(places):
        return _nothing(target)
    return _changed(target, affected_rows(places, target.files, many=may_be_many(target.snapshot)), rows.drop(*_PLACES))


def _most_in_driver(target: Target, rows: DataFrame) -> int | None:
    """How many rows of a partition may come to the driver with their new values: ``None`` for all, 0 where only places should come."""
    most = most_in_driver(target, len(rows.columns))
    return most if most is None or mode_of(target, "update") == MERGE_ON_READ else 0


def _valued(target: Target, rows: DataFrame) -> DataFrame:
    """With partition values, where rows are written as they come."""
    if mode_of(target, "update") != MERGE_ON_READ:
        return rows
    return with_partition_values(target.spark, rows, target.metadata.schema, target.metadata.spec)


def _nothing(target: Target) -> RowLevelResult:
    empty = OverwriteFiles(target.table.operations, target.table.version).validate_from_snapshot(target.snapshot_id)
    return RowLevelResult(builder=empty)


def _changed(target: Target, matched: AffectedRows, new: DataFrame | NewRows) -> RowLevelResult:
    deleted_positions = matched.positions()[0]
    target.read.planner.narrow(deleted_positions.keys())  # the new rows are made of rows in these files
    return RowLevelResult(
        builder=change(
            target, "update", deleted_positions, new if deleted_positions else None, new_row_count=sum(map(len, deleted_positions.values()))
        )
    )


def _lineage(target: Target) -> list[str]:
    if not target.keeps_lineage:
        return []
    return [f"{quoted(target.alias)}.{quoted(ROW_ID)} AS {quoted(ROW_ID)}", f"CAST(NULL AS BIGINT) AS {quoted(LAST_UPDATED)}"]


def _fitted(target: Target, rows: DataFrame) -> DataFrame:
    """The places and the new values, these checked against the table's types."""
    table = lineage_schema(target.metadata.schema) if target.keeps_lineage else target.metadata.schema
    schema = Schema((*_PLACE_FIELDS, *table.fields))
    return assigned_frame(target.spark, rows, schema, table_name=target.table.name, by_name=True, fill=False)


def _without_places(rows: DataFrame) -> StructType:
    return StructType(rows.schema.fields[len(_PLACES) :])
