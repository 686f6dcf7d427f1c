"""DELETE, UPDATE and MERGE: the statement's expressions, with views for our tables in them, go to the row-level engine; one commit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from icesql.errors import UnsupportedError
from icesql.io.deletes.files import check_delete_format
from icesql.parser import statements as s
from icesql.parser.statements.families import RowLevelStatement
from icesql.parser.text.token_groups import is_null
from icesql.session.resolve.write_target import SessionSettings, WriteTarget, target_of, write_target
from icesql.session.rewrite.bound_text import BoundText, bound
from icesql.session.rewrite.refused_expressions import refuse_expressions
from icesql.session.run.dml.assignments import Qualifiers, assignment_of
from icesql.session.run.dml.merge import merge
from icesql.session.run.transactions import commit
from icesql.session.sql_errors import MissingTableError
from icesql.session.views.targets import stored_target, temporary_target
from icesql.spark.row_level.target import Target
from icesql.spec.properties import ROW_LEVEL_MODES
from icesql.table.scan.planning_modes import check_modes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_OPERATIONS = {s.Delete: "DELETE FROM TABLE", s.Update: "UPDATE TABLE", s.Merge: "MERGE INTO TABLE"}
_VERBS = {s.Delete: "delete from", s.Update: "modify", s.Merge: "modify"}


def run_row_level(session: SessionState, statement: RowLevelStatement, args: Any = None) -> DataFrame:
    """Nothing is visible before the commit; an error leaves the table as it was."""
    name = statement.target
    target, is_view = _target(session, statement)
    if target is None:
        from icesql.session.run.queries import run_query

        return run_query(session, statement.text, statement.references, args)
    properties = target.table.metadata.properties
    if not isinstance(statement, s.Delete) or statement.condition is None:
        check_modes(properties, session.conf)
        check_delete_format(properties)
    refuse_expressions(statement, properties.get(ROW_LEVEL_MODES[type(statement).__name__.lower()], "copy-on-write").lower())
    alias = statement.alias or name.parts[-1]
    session.temporary_views.refresh(statement.references)
    with bound(
        session, statement.text, statement.references, target=(name, target.resolved, alias) if statement.alias is None else None
    ) as text:
        result = _changed(session, statement, target, alias, text, whole_files=is_view)
        if result.builder is not None:
            _commit(session, target, result)
    return session.nothing


def _target(session: SessionState, statement: RowLevelStatement) -> tuple[WriteTarget | None, bool]:
    """What is changed, and whether it is changed through a view. ``None``: it is Spark's."""
    name, verb = statement.target, _VERBS[type(statement)]
    through = temporary_target(session, name.parts)
    if through is None:
        try:
            return write_target(session, name.parts, text=statement.text, offset=name.start, options={}, verb=verb), False
        except MissingTableError:
            through = stored_target(session, name.parts)
            if through is None:
                raise
    if through.table is None or not isinstance(statement, s.Delete):
        raise through.refusal(_OPERATIONS[type(statement)])
    return target_of(session, through.table, {}, verb=verb), True


def _commit(session: SessionState, target: WriteTarget, result: Any) -> None:
    where = target.unstaged() if result.metadata_only else target
    builder = where.applied(result.builder)
    builder.set_all({key: str(value) for key, value in result.metrics.items()})
    commit(session, where.resolved.address, builder)


def _changed(
    session: SessionState, statement: RowLevelStatement, target: WriteTarget, alias: str, text: BoundText, *, whole_files: bool
) -> Any:
    ctes = statement.ctes
    row_target = Target(
        spark=session.spark,
        table=target.table,
        alias=alias,
        branch=target.branch,
        ctes="" if ctes is None else text.sql(ctes),
        options=target.options,
        session=SessionSettings(session),
        listener=session.plans.add_report,
    )
    match statement:
        case s.Delete():
            from icesql.spark.row_level.delete import delete_rows

            condition = None if statement.condition is None else _truth(text.sql(statement.condition))
            return delete_rows(row_target, condition, before_rows=partial(_check_rows, session, target, statement, whole_files))
        case s.Update():
            from icesql.spark.row_level.update import update_rows

            names = Qualifiers(target, alias, is_alias=statement.alias is not None, rows=row_target)
            assignments = [assignment_of(names, assignment, text) for assignment in statement.assignments]
            return update_rows(row_target, assignments, None if statement.condition is None else _truth(text.sql(statement.condition)))
        case s.Merge():
            return merge(session, statement, target, row_target, text)


def _check_rows(session: SessionState, target: WriteTarget, statement: s.Delete, whole_files: bool) -> None:
    """Raises for what only a DELETE of rows asks: a planning mode and a format that are known, and a table rather than a view of one."""
    check_modes(target.table.metadata.properties, session.conf)
    check_delete_format(target.table.metadata.properties)
    if whole_files and statement.condition is not None:
        raise UnsupportedError(f"Cannot delete from table {target.resolved.dotted} where {statement.condition.of(statement.text)}")


def _truth(condition: str) -> str:
    """A bare ``NULL`` is of no type, which Spark does not take for a condition; it is never true."""
    return "CAST(NULL AS BOOLEAN)" if is_null(condition) else condition
