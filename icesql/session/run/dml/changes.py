"""Statements that change rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.expr.tree import TRUE
from icesql.parser import statements as s
from icesql.parser.statements.families import RowStatement
from icesql.session.resolve.write_target import write_target
from icesql.session.run.dml.insert import run_insert, run_multi_insert
from icesql.session.run.transactions import commit
from icesql.session.sql_errors import no_partition_management

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_dml(session: SessionState, statement: RowStatement, args: Any = None) -> DataFrame:
    match statement:
        case s.Insert():
            return run_insert(session, statement, args)
        case s.MultiInsert():
            return run_multi_insert(session, statement, args)
        case s.TruncateTable():
            return _truncate(session, statement)
        case s.Delete() | s.Update() | s.Merge():
            from icesql.session.run.dml.row_level import run_row_level

            return run_row_level(session, statement, args)


def _truncate(session: SessionState, statement: s.TruncateTable) -> DataFrame:
    """A delete of every file, from metadata alone. It is never staged: ``spark.wap.id`` holds for rows that are written."""
    target = write_target(session, statement.target.parts, text=statement.text, offset=statement.target.start, options={}, verb="truncate")
    if target is None:
        return session.spark_sql(statement.text)
    if statement.partition is not None:
        raise no_partition_management(target.resolved.address.parts)
    commit(session, target.resolved.address, target.unstaged().applied(target.table.new_delete()).delete_from_row_filter(TRUE))
    return session.nothing
