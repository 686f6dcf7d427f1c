"""UPDATE: rows that match go, and come again with new values."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from icesql.spark.columns import quoted
from icesql.spark.local_rows import is_local
from icesql.spark.row_level.assignments import Assignment, assigned_columns
from icesql.spark.row_level.changes import RowLevelResult, change
from icesql.spark.row_level.checks import require_deterministic
from icesql.spark.row_level.few_rows import in_driver, is_small
from icesql.spark.row_level.file_numbers import FILE_NUMBER
from icesql.spark.row_level.found_rows import POS, positions_by_file
from icesql.spark.row_level.target import LAST_UPDATED, ROW_ID, Target
from icesql.spark.store_assignment import assigned_frame, lineage_schema
from icesql.table.overwrite import OverwriteFiles


def update_rows(target: Target, assignments: Sequence[Assignment], condition: str | None) -> RowLevelResult:
    """Set columns of the rows for which ``condition`` is true. Nothing is committed yet.

    Raises Spark's AnalysisException; ValidationError for assignments that conflict.
    """
    try:
        return _update(target, assignments, condition)
    finally:
        target.close()


def _update(target: Target, assignments: Sequence[Assignment], condition: str | None) -> RowLevelResult:
    found = target.matching([FILE_NUMBER, POS], condition)
    require_deterministic(found)
    values = assigned_columns(target.metadata.schema, assignments, target.alias, key=target.key)
    rows = target.matching([FILE_NUMBER, POS, *values, *_row_id(target)], condition)
    if target.snapshot is None or is_local(found):
        _fitted(target, rows)
        empty = OverwriteFiles(target.table.operations, target.table.version).validate_from_snapshot(target.snapshot_id)
        return RowLevelResult(builder=empty)
    if is_small(target) and (few := in_driver(rows)) is not None:
        return _changed(target, few, _fitted(target, few))
    return _changed(target, found, _fitted(target, rows))


def _changed(target: Target, found: DataFrame, new_rows: DataFrame) -> RowLevelResult:
    gone = positions_by_file(found, target.files, target.snapshot)
    target.read.planner.narrow(gone.keys())  # the new rows come from files in which some were found
    coming = sum(map(len, gone.values()))
    return RowLevelResult(builder=change(target, "update", gone, new_rows if gone else None, coming=coming))


def _row_id(target: Target) -> list[str]:
    return [f"{quoted(target.alias)}.{quoted(ROW_ID)} AS {quoted(ROW_ID)}"] if target.keeps_lineage else []


def _fitted(target: Target, rows: DataFrame) -> DataFrame:
    """The new values, checked against the table's types, without their places."""
    table, name = target.metadata.schema, target.table.name
    if not target.keeps_lineage:
        return assigned_frame(target.spark, rows.drop(FILE_NUMBER, POS), table, table_name=name, by_name=True, fill=False)
    with_both = rows.drop(FILE_NUMBER, POS).selectExpr("*", f"CAST(NULL AS BIGINT) AS {quoted(LAST_UPDATED)}")
    return assigned_frame(target.spark, with_both, lineage_schema(table), table_name=name, by_name=True, fill=False)
