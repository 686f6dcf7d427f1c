"""EXPLAIN PRUNING: which manifests and files a query leaves unread, and by which predicate. Plans the query; runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.session.output.results import ResultColumns
from icesql.session.run.query.query import run_query
from icesql.spark.jvm.queries import plan_physically

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.table.scan.report import ScanReport

STEPS = ResultColumns("table string!", "step string!", "predicate string", "manifests bigint", "files bigint", "bytes bigint")


def explain_pruning(session: SessionState, statement: s.Explain, args: Any = None) -> DataFrame:
    """One row a step: what there is, what each predicate removed, what is left. Raises UnsupportedError for what is no query."""
    if not isinstance(statement.statement, s.Query):
        raise UnsupportedError("Cannot explain pruning: only queries are: EXPLAIN PRUNING SELECT ...")
    body = statement.body.of(statement.text)
    frame = run_query(session, body, statement.statement.references, args)
    session.plans.reports.clear()
    plan_physically(frame)
    session.explained = tuple(session.plans.reports)
    return STEPS.frame(session.spark, [row for planning in session.explained for row in _steps(planning.report, planning.total_bytes)])


def _steps(report: ScanReport, total_bytes: int | None) -> Iterator[tuple[Any, ...]]:
    name = report.table_name
    yield name, "in the snapshot", None, report.manifests_total, report.files_total, total_bytes
    for skipped in report.manifests_skipped:
        yield name, "manifests skipped by partition summaries", skipped.predicate, -skipped.count, None, None
    if report.files_in_skipped_manifests:
        yield name, "files in skipped manifests", None, None, -report.files_in_skipped_manifests, None
    for skipped in report.files_skipped_by_partition:
        yield name, "files skipped by partition", skipped.predicate, None, -skipped.count, -skipped.bytes
    for skipped in report.files_skipped_by_metrics:
        yield name, "files skipped by column metrics", skipped.predicate, None, -skipped.count, -skipped.bytes
    yield name, f"read {report.reader}".rstrip(), report.filter, report.manifests_scanned, report.files_planned, report.bytes_planned
