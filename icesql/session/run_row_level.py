"""DELETE, UPDATE and MERGE: the statement's expressions, with views for our tables in them, go to the row-level engine; one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s
from icesql.session.run_query import BoundText, bound
from icesql.session.spark_errors import user_positions
from icesql.session.write_target import SessionSettings, WriteTarget, write_target
from icesql.spark.row_level.target import Target

if TYPE_CHECKING:
    from icesql.session.session import Session

_VERBS = {s.Delete: "delete from", s.Update: "modify", s.Merge: "modify"}


def run_row_level(session: Session, statement: s.Delete | s.Update | s.Merge, args: Any = None) -> Any:
    """Nothing is visible before the commit; an error leaves the table as it was."""
    name = statement.target
    target = write_target(
        session, name.parts, text=statement.text, offset=name.start, options=dict(statement.options), verb=_VERBS[type(statement)]
    )
    if target is None:
        from icesql.session.run_query import run_query

        return run_query(session, statement.text, statement.references, args)
    alias = statement.alias or name.parts[-1]
    session.temporary_views.refresh(statement.references)
    with bound(session, statement.text, statement.references, target=(name, target.found, alias) if statement.alias is None else None) as text:
        with session.parameters(args), user_positions(session.spark, text.rewritten(), statement.text):
            result = _changed(session, statement, target, alias, text)
        if result.builder is not None:
            _commit(session, target, result)
    return session.nothing


def _commit(session: Session, target: WriteTarget, result: Any) -> None:
    where = target.unstaged() if result.metadata_only else target
    builder = where.applied(result.builder)
    builder.set_all({key: str(value) for key, value in result.metrics.items()})
    session.commit(where, builder)


def _changed(session: Session, statement: s.Statement, target: WriteTarget, alias: str, text: BoundText) -> Any:
    ctes = getattr(statement, "ctes", None)
    row_target = Target(
        spark=session.spark,
        table=target.table,
        alias=alias,
        branch=target.branch,
        ctes="" if ctes is None else text.sql(ctes),
        options=target.options,
        session=SessionSettings(session),
        listener=session.frames.listener(target.table.metadata.head(target.branch)),
    )
    match statement:
        case s.Delete():
            from icesql.spark.row_level.delete import delete_rows

            return delete_rows(row_target, None if statement.condition is None else text.sql(statement.condition))
        case s.Update():
            from icesql.spark.row_level.update import update_rows

            assignments = [_assignment(session, assignment, text) for assignment in statement.assignments]
            return update_rows(row_target, assignments, None if statement.condition is None else text.sql(statement.condition))
        case s.Merge():
            return _merge(session, statement, target, row_target, text)
    raise AssertionError(type(statement).__name__)


def _assignment(session: Session, assignment: s.Assignment, text: BoundText) -> Any:
    from icesql.spark.row_level.assignments import Assignment

    return Assignment(column=assignment.column, value=None if assignment.is_default else text.sql(assignment.value))


def _merge(session: Session, statement: s.Merge, target: WriteTarget, row_target: Target, text: BoundText) -> Any:
    from icesql.spark.row_level.merge import Clause, merge_rows

    clauses = [
        Clause(
            kind=clause.kind.value,
            action=clause.action.value,
            condition=None if clause.condition is None else text.sql(clause.condition),
            assignments=tuple(_assignment(session, assignment, text) for assignment in clause.assignments),
        )
        for clause in statement.clauses
    ]
    return merge_rows(
        row_target,
        source=text.sql(statement.source),
        source_alias=statement.source_alias,
        condition=text.sql(statement.condition),
        clauses=clauses,
        schema_evolution=statement.schema_evolution,
    )
