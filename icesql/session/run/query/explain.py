"""EXPLAIN: Spark's plans of queries over our tables, and EXPLAIN PRUNING, which says what each predicate removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError, NotFoundError, ValidationError
from icesql.parser import statements as s
from icesql.parser.text.edits import Edit, rewrite
from icesql.parser.text.names import References
from icesql.session.output.results import ResultColumns
from icesql.session.resolve.resolver import find_view, place, required
from icesql.session.resolve.time_travel import current
from icesql.session.rewrite.bound_text import bound
from icesql.session.spark_errors import within

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

PLAN = ResultColumns("plan string")


def run_explain(session: SessionState, statement: s.Explain, args: Any = None) -> DataFrame:
    """Nothing is executed, whatever is explained. A statement that cannot be planned is explained by its error, as in Spark."""
    if statement.mode == "PRUNING":
        from icesql.session.run.query.explain_pruning import explain_pruning

        return explain_pruning(session, statement, args)
    try:
        with within(session.spark, statement.text, statement.body.start):
            return _explain(session, statement, args)
    except (NotFoundError, InvalidArgumentError, ValidationError) as error:
        lines = f"Error occurred during query planning: \n{error}".splitlines()
        return PLAN.frame(session.spark, [(line,) for line in lines])


def _explain(session: SessionState, statement: s.Explain, args: Any) -> DataFrame:
    inner = statement.statement
    if isinstance(inner, s.Query | s.DescribeQuery):
        return _explain_query(session, statement, inner.references, args)
    if isinstance(inner, s.Call):
        return _explain_call(session, statement, inner, args)
    query = _query_of(inner)
    if query is not None:
        return _explain_change(session, statement, inner, query, args)
    named = _named_by(session, inner)
    if named is None:
        return session.spark_sql(statement.text, args)
    kind = "AlterTable" if isinstance(inner, s.AlterTable) else type(inner).__name__
    return PLAN.frame(session.spark, [(f"== Physical Plan ==\n{kind} {named}\n\n",)])


def _explain_query(session: SessionState, statement: s.Explain, references: References, args: Any) -> DataFrame:
    body = statement.body.of(statement.text)
    session.temporary_views.refresh(references)
    with bound(session, body, references) as query:
        done = rewrite(statement.text, [Edit(statement.body.start, statement.body.end, query.rewritten().text)])
        return session.spark_sql(done.text, args)


def _query_of(statement: s.Statement) -> References | None:
    """The references of a statement whose rows can be planned; ``None`` for all others."""
    if isinstance(statement, s.Insert | s.Delete | s.Update | s.Merge) or (isinstance(statement, s.CreateTable) and statement.query):
        return statement.references
    return None


def _named_by(session: SessionState, inner: Any) -> str | None:
    """What of ours a command is about; ``None`` for what is Spark's. Raises NotFoundError for a table that the command needs."""
    for attribute in ("namespace", "parent", "name"):
        name = getattr(inner, attribute, None)
        if isinstance(name, s.TableName):
            where = session.names.namespace(name.parts)
            return None if where is None else ".".join((where[0].name, *where[1]))
    subject: Any = getattr(inner, "table", None) or getattr(inner, "target", None) or getattr(inner, "view", None)
    if not isinstance(subject, s.TableName) or (address := place(session, subject.parts)) is None:
        return None
    if isinstance(inner, s.AlterTable | s.DescribeTable | s.TruncateTable) and find_view(address) is None:
        required(session, subject.parts, text=inner.text, offset=subject.start)
    return address.dotted


def _explain_change(session: SessionState, statement: s.Explain, inner: Any, references: References, args: Any) -> DataFrame:
    """The plan of the rows that the change would read, under a line that names the change."""
    target = getattr(inner, "target", None) or inner.table
    if session.names.address(target.parts) is None:
        return session.spark_sql(statement.text, args)
    mode = f"EXPLAIN {statement.mode} " if statement.mode else "EXPLAIN "
    spans = inner.query if isinstance(inner, s.Insert | s.CreateTable) else None
    with bound(session, inner.text, references) as query:
        if spans:
            plan = session.spark_sql(mode + query.sql(*spans), args).collect()[0][0]
        else:
            resolved = required(session, target.parts, text=inner.text, offset=target.start)
            condition = getattr(inner, "condition", None)
            plan = _plan_of_target(session, mode, resolved, inner, query, condition, args)
    kind = type(inner).__name__
    return PLAN.frame(session.spark, [(f"{kind} {'.'.join(session.names.address(target.parts).parts)}\n{plan}",)])  # type: ignore[union-attr]


def _plan_of_target(session: SessionState, mode: str, resolved: Any, inner: Any, query: Any, condition: Any, args: Any) -> str:

    view = "_ice_explained"
    session.plans.scan(resolved, current(resolved.table.metadata), {}).frame.createOrReplaceTempView(view)
    try:
        alias = inner.alias or resolved.address.identifier[-1]
        if isinstance(inner, s.Merge):
            text = f"SELECT * FROM {view} AS `{alias}` JOIN {query.sql(inner.source)} ON {query.sql(condition)}"
        else:
            text = f"SELECT * FROM {view} AS `{alias}`" + (f" WHERE {query.sql(condition)}" if condition is not None else "")
        return str(session.spark_sql(mode + text, args).collect()[0][0])
    finally:
        session.drop_views([view])


def _explain_call(session: SessionState, statement: s.Explain, call: s.Call, args: Any) -> DataFrame:
    """The call as it would run, arguments bound: checked, not executed."""
    from icesql.session.run.call import bind_call

    catalog, procedure, arguments = bind_call(session, call, args)
    shown = ", ".join("null" if value is None else str(value) for value in (arguments[p.name] for p in procedure.parameters))
    return PLAN.frame(session.spark, [(f"== Physical Plan ==\nCall {catalog}.system.{procedure.name}({shown})\n\n",)])
