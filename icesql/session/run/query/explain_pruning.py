"""EXPLAIN PRUNING: which manifests and files a query leaves unread, and by which predicate. Plans the query; runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.session.output.pruning_rows import pruning_rows
from icesql.session.output.results import ResultColumns
from icesql.session.run.queries import run_query
from icesql.spark.jvm.queries import plan_physically

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

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
    return STEPS.frame(session.spark, [row for planning in session.explained for row in pruning_rows(planning)])
