"""UPDATE: rows that match go, and come again with new values."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from icesql.spark.columns import quoted
from icesql.spark.local_rows import is_local
from icesql.spark.row_level.assignments import Assignment, assigned_columns
from icesql.spark.row_level.changes import RowLevelResult, change
from icesql.spark.row_level.checks import require_deterministic
from icesql.spark.row_level.target import FILE, LAST_UPDATED, POS, ROW_ID, Target, collected_positions
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
    new_rows = updated_rows(target, assignments, condition)
    found = target.matching([FILE, POS], condition)
    require_deterministic(found)
    if target.snapshot is None or is_local(found):
        empty = OverwriteFiles(target.table.operations, target.table.version).validate_from_snapshot(target.snapshot_id)
        return RowLevelResult(builder=empty)
    gone = collected_positions(target, found)
    return RowLevelResult(builder=change(target, "update", gone, new_rows if gone else None))


def updated_rows(target: Target, assignments: Sequence[Assignment], condition: str | None) -> DataFrame:
    """The matching rows with their new values, checked against the table's types."""
    values = assigned_columns(target.metadata.schema, assignments, target.alias)
    hidden = [f"{quoted(target.alias)}.{quoted(name)} AS {quoted(name)}" for name in ((ROW_ID,) if target.keeps_lineage else ())]
    frame = target.matching([*values, *hidden], condition)
    if not target.keeps_lineage:
        return assigned_frame(target.spark, frame, target.metadata.schema, table_name=target.table.name, by_name=True, fill=False)
    with_both = frame.selectExpr("*", f"CAST(NULL AS BIGINT) AS {quoted(LAST_UPDATED)}")
    return assigned_frame(
        target.spark, with_both, lineage_schema(target.metadata.schema), table_name=target.table.name, by_name=True, fill=False
    )
