"""Which runner runs a statement: one match over all frozen statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s
from icesql.parser.statements.families import AnyStatement
from icesql.session.run import other as run_other
from icesql.session.run import queries as run_query
from icesql.session.run import set as run_set
from icesql.session.run.ddl import namespaces as run_namespaces
from icesql.session.run.ddl import tables as run_ddl
from icesql.session.run.ddl import views as run_views
from icesql.session.run.dml import changes as run_dml
from icesql.session.run.query import explain as run_explain
from icesql.session.run.show import tables as run_show
from icesql.session.run.transactions import check_can_wait, run_transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_statement(session: SessionState, statement: AnyStatement, args: Any = None) -> DataFrame:
    """The DataFrame of one statement. ``args`` are parameters for Spark to fill in."""
    if session.transaction_in_progress is not None:
        check_can_wait(session, statement)
    match statement:
        case s.Query():
            return run_query.run_query(session, statement.text, statement.references, args)
        case s.Insert() | s.MultiInsert() | s.Delete() | s.Update() | s.Merge() | s.TruncateTable():
            return run_dml.run_dml(session, statement, args)
        case s.CreateTable() | s.CreateTableLike() | s.DropTable() | s.AlterTable():
            return run_ddl.run_ddl(session, statement, args)
        case s.CreateView() | s.DropView() | s.AlterViewProperties() | s.RenameView() | s.AlterViewAs() | s.ShowViews():
            return run_views.run_views(session, statement, args)
        case (
            s.CreateNamespace()
            | s.DropNamespace()
            | s.AlterNamespace()
            | s.DescribeNamespace()
            | s.ShowNamespaces()
            | s.Use()
            | s.UseCatalog()
        ):
            return run_namespaces.run_namespaces(session, statement)
        case s.ShowCatalogs() | s.ShowCurrentNamespace():
            return run_namespaces.run_namespaces(session, statement)
        case s.CommentOn():
            return run_ddl.run_comment(session, statement)
        case s.Call():
            from icesql.session.run.call import run_call

            return run_call(session, statement, args)
        case s.Explain():
            return run_explain.run_explain(session, statement, args)
        case s.ExecuteImmediate():
            from icesql.session.run.query.immediate import run_immediate

            return run_immediate(session, statement)
        case s.SetConfiguration() | s.ResetConfiguration():
            return run_set.run_set(session, statement)
        case s.BeginTransaction() | s.CommitTransaction() | s.RollbackTransaction():
            return run_transaction(session, statement)
        case s.DescribeTable() | s.DescribeProcedure() | s.DescribeFunction() | s.DescribeQuery() | s.ShowProcedures() | s.ShowFunctions():
            return run_show.run_show(session, statement, args)
        case s.ShowTables() | s.ShowTableProperties() | s.ShowColumns() | s.ShowCreateTable() | s.ShowPartitions():
            return run_show.run_show(session, statement, args)
        case s.RefreshTable() | s.CacheTable() | s.UncacheTable() | s.AnalyzeTable() | s.RefusedTableCommand() | s.Other():
            return run_other.run_other(session, statement, args)
