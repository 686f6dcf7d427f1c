"""DELETE, UPDATE and MERGE: the statement's expressions, with views for our tables in them, go to the row-level engine; one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s
from icesql.session.run_query import BoundText, bound
from icesql.session.spark_errors import user_positions
from icesql.session.write_target import SessionSettings, WriteTarget, write_target
from icesql.spark.defaults import sql_literal
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
    with bound(
        session, statement.text, statement.references, target=(name, target.found, alias) if statement.alias is None else None
    ) as text:
        with user_positions(session.spark, text.rewritten(), statement.text):
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

            return delete_rows(row_target, None if statement.condition is None else _truth(text.sql(statement.condition)))
        case s.Update():
            from icesql.spark.row_level.update import update_rows

            names = Qualifiers(target, alias, is_alias=statement.alias is not None, rows=row_target)
            assignments = [assignment_of(names, assignment, text) for assignment in statement.assignments]
            return update_rows(row_target, assignments, None if statement.condition is None else _truth(text.sql(statement.condition)))
        case s.Merge():
            from icesql.session.run_merge import merge

            return merge(session, statement, target, row_target, text)
    raise AssertionError(type(statement).__name__)


def _truth(condition: str) -> str:
    """A bare ``NULL`` is of no type, which Spark does not take for a condition; it is never true."""
    return "CAST(NULL AS BOOLEAN)" if condition.strip(" ()").upper() == "NULL" else condition


class Qualifiers:
    """The names by which assignment keys may call the target."""

    def __init__(self, target: WriteTarget, alias: str, *, is_alias: bool, rows: Target) -> None:
        self.schema, self.key = target.table.metadata.schema, rows.key
        self.is_case_sensitive = rows.is_case_sensitive
        full = tuple(self.key(part) for part in target.found.address.parts)
        self._known = {(self.key(alias),)} | (set() if is_alias else {full[start:] for start in range(len(full))})

    def column(self, parts: Sequence[str]) -> tuple[str, ...]:
        """The path below the table, its qualifier taken off. Longer qualifiers are tried first."""
        lowered = tuple(self.key(part) for part in parts)
        for length in range(len(parts) - 1, 0, -1):
            if lowered[:length] in self._known:
                return tuple(parts[length:])
        return tuple(parts)


def assignment_of(names: Qualifiers, assignment: s.Assignment, text: BoundText) -> Any:
    from icesql.spark.row_level.assignments import Assignment

    column = names.column(assignment.column)
    if not assignment.is_default:
        return Assignment(column=column, value=text.sql(assignment.value))
    field = names.schema.find(".".join(column), case_sensitive=names.is_case_sensitive)
    return Assignment(column=column, value="NULL" if field is None else sql_literal(field.type, field.write_default))
