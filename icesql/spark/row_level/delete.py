"""DELETE FROM: by metadata where strict evaluation proves it, else by the table's row-level mode."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from pyspark.sql import SparkSession

from icesql.expr.metrics import strict_metrics
from icesql.expr.tree import AlwaysFalse, AlwaysTrue, Expression
from icesql.spark.jvm.classes import CONSTANT_PROPAGATION, INFER_FILTERS
from icesql.spark.jvm.local_rows import is_local
from icesql.spark.row_level.affected_rows import POS, positions_by_file
from icesql.spark.row_level.changes import RowLevelResult, change, check_changes, check_settings
from icesql.spark.row_level.checks import require_deterministic
from icesql.spark.row_level.file_numbers import FILE_NUMBER
from icesql.spark.row_level.target import Target, exact_condition
from icesql.table.changes.delete_files import DeleteFiles
from icesql.table.scan.table_scan import TableScan

EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
CONCLUSIONS = (CONSTANT_PROPAGATION, INFER_FILTERS)


def delete_rows(target: Target, condition: str | None, *, before_rows: Callable[[], None] = lambda: None) -> RowLevelResult:
    """Delete the rows for which ``condition`` (SQL text, ``None`` for all) is true. Nothing is committed yet.

    ``before_rows`` is called where whole files are not enough, before rows are looked for; it may raise.
    Raises Spark's AnalysisException for a condition that does not fit, InvalidArgumentError for an unknown mode or isolation level.
    """
    try:
        return _delete(target, condition, before_rows)
    finally:
        target.close()


def _delete(target: Target, condition: str | None, before_rows: Callable[[], None]) -> RowLevelResult:
    frame = target.matching([FILE_NUMBER, POS], condition)
    if condition is not None:
        check_settings(target, "delete")
        require_deterministic(frame)
    alone = each_predicate_alone(target.spark) if condition is not None and repeats_a_name(condition) else nullcontext()
    with alone as is_changed:
        judged = target.matching([FILE_NUMBER, POS], condition) if is_changed else frame
        if condition is not None and target.snapshot is not None and is_local(judged):
            return RowLevelResult(builder=None)  # the optimiser proved that no row matches
        expression = exact_condition(target, condition, judged)
    if expression is not None and all_or_nothing(target, expression):
        return RowLevelResult(builder=metadata_delete(target, expression), metadata_only=True)
    before_rows()
    check_changes(target, "delete")
    deleted_positions = positions_by_file(frame, target.files, target.snapshot)
    return RowLevelResult(builder=change(target, "delete", deleted_positions, None))


@contextmanager
def each_predicate_alone(spark: SparkSession) -> Iterator[bool]:
    """Spark draws no conclusions from several predicates together (``a = 1 AND a = 2``) while the block runs, nor does the runtime where it
    decides what a DELETE is."""
    before = spark.conf.get(EXCLUDED_RULES, None)
    spark.conf.set(EXCLUDED_RULES, ",".join([*([before] if before else []), *CONCLUSIONS]))
    try:
        yield True
    finally:
        if before is None:
            spark.conf.unset(EXCLUDED_RULES)
        else:
            spark.conf.set(EXCLUDED_RULES, before)


def repeats_a_name(condition: str) -> bool:
    """False if no column is in two predicates of the condition. True where any word is there twice, be it in a text."""
    words = [word for word in re.findall(r"\w+", condition.lower()) if word not in ("and", "or", "not", "is", "null")]
    return len(set(words)) < len(words)


def metadata_delete(target: Target, expression: Expression) -> DeleteFiles:
    return DeleteFiles(target.table.operations, target.table.version).delete_from_row_filter(expression)


def all_or_nothing(target: Target, expression: Expression) -> bool:
    """True if of every file either all rows are proven to match or none can."""
    if target.snapshot is None or isinstance(expression, AlwaysTrue):
        return True
    if isinstance(expression, AlwaysFalse):
        return False
    scan = TableScan(target.table.io, target.metadata, expression, name=target.table.name, snapshot_id=target.snapshot_id)
    matches_all = strict_metrics(target.metadata.schema, expression)
    return all(isinstance(task.residual, AlwaysTrue) or matches_all(task.data_file) for task in scan.plan_files().tasks)
