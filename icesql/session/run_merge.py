"""MERGE INTO: the clauses written out in full, for the row-level engine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icesql.errors import SqlError, ValidationError, nearest
from icesql.parser import statements as s
from icesql.parser.tokens import tokenize
from icesql.session.merge_scope import qualified
from icesql.session.rewriting import quote
from icesql.session.run_query import BoundText
from icesql.session.run_row_level import Qualifiers, assignment_of
from icesql.session.write_target import WriteTarget
from icesql.spark.row_level.assignments import Assignment
from icesql.spark.row_level.merge import Action, Clause, Kind, merge_rows
from icesql.spark.row_level.target import Target
from icesql.spec.schema import Schema

if TYPE_CHECKING:
    from icesql.session.session import Session

_ACTIONS = {
    s.MergeAction.DELETE: Action.DELETE, s.MergeAction.UPDATE: Action.UPDATE, s.MergeAction.UPDATE_ALL: Action.UPDATE,
    s.MergeAction.INSERT: Action.INSERT, s.MergeAction.INSERT_ALL: Action.INSERT,
}  # fmt: skip
_PLACES = {
    s.MergeAction.DELETE: "DELETE", s.MergeAction.UPDATE: "UPDATE", s.MergeAction.UPDATE_ALL: "UPDATE",
    s.MergeAction.INSERT: "INSERT", s.MergeAction.INSERT_ALL: "INSERT",
}  # fmt: skip
_AUTO_EVOLUTION = "write.spark.auto-schema-evolution.enabled"
_OMITTED = {
    s.MergeKind.MATCHED: "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    s.MergeKind.NOT_MATCHED: "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION",
    s.MergeKind.NOT_MATCHED_BY_SOURCE: "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
}


def merge(session: Session, statement: s.Merge, target: WriteTarget, row_target: Target, text: BoundText) -> Any:
    """The row-level result. Raises SqlError, ValidationError and Spark's errors before anything is written."""
    _check_clauses(statement.clauses)
    _check_conditions(statement)
    source, alias = text.sql(statement.source), _source_alias(statement)
    with_ctes = f"{row_target.ctes} " if row_target.ctes else ""
    frame = session.spark_sql(f"{with_ctes}SELECT * FROM {source}")
    evolves = statement.schema_evolution and _may_evolve(target)
    if evolves:
        _evolve(target, statement, frame)
    names = Qualifiers(target, row_target.alias, is_alias=statement.alias is not None)
    clauses = [_clause(clause, names, text, alias, frame.columns, keeps_missing=evolves) for clause in statement.clauses]
    clauses = [_on_its_side(clause, names.schema, frame.columns, source=alias, target=row_target.alias) for clause in clauses]
    return merge_rows(row_target, source, alias, text.sql(statement.condition), clauses, source_rows=frame)


def _check_clauses(clauses: Sequence[s.MergeClause]) -> None:
    """Only the last clause of a kind may do without a condition."""
    for kind, code in _OMITTED.items():
        same = [clause for clause in clauses if clause.kind is kind]
        if any(clause.condition is None for clause in same[:-1]):
            raise SqlError(
                f"[{code}] When there are more than one {kind.value.upper()} clauses in a MERGE statement, only the last "
                f"{kind.value.upper()} clause can omit the condition. SQLSTATE: 42613"
            )


def _check_conditions(statement: s.Merge) -> None:
    """Subqueries are for sources and assignments, not for conditions."""
    conditions = [("SEARCH", statement.condition), *((_PLACES[clause.action], clause.condition) for clause in statement.clauses)]
    for place, span in conditions:
        text = "" if span is None else span.of(statement.text)
        if any(token.key == "SELECT" for token in tokenize(text)):
            raise SqlError(
                f"[UNSUPPORTED_MERGE_CONDITION.SUBQUERY] MERGE operation contains unsupported {place} condition. "
                f"Subqueries are not allowed: {text}. SQLSTATE: 42K0E"
            )


def _source_alias(statement: s.Merge) -> str:
    """The name by which expressions call the source; a query without an alias has none, so any will do."""
    if statement.source_alias is not None:
        return statement.source_alias
    span = statement.source
    inside = [r for r in statement.references.tables if r.start == span.start]
    if inside:
        return inside[0].alias or inside[0].parts[-1]
    names = [token.name for token in tokenize(span.of(statement.text)) if token.is_identifier]
    is_name = bool(names) and not span.of(statement.text).lstrip().startswith("(")
    return names[-1] if is_name else "__icesql_source"


# -- schema evolution --------------------------------------------------------------------------------------------------
def _may_evolve(target: WriteTarget) -> bool:
    return target.table.metadata.properties.get(_AUTO_EVOLUTION, "true").lower() == "true"


def _evolve(target: WriteTarget, statement: s.Merge, frame: Any) -> None:
    """Columns of the source that a ``*`` or an assignment brings are added, and types widened, in a commit of their own."""
    from pyspark.sql.types import StructField, StructType

    from icesql.spark.types import from_spark

    brings_all = any(clause.action in (s.MergeAction.UPDATE_ALL, s.MergeAction.INSERT_ALL) for clause in statement.clauses)
    assigned = {a.column[-1].lower() for clause in statement.clauses for a in clause.assignments}
    wanted = [StructField(f.name, f.dataType, True, f.metadata) for f in frame.schema.fields if brings_all or f.name.lower() in assigned]
    if not wanted:
        return
    update = target.table.update_schema().case_sensitive(False)
    update.union_by_name_with(from_spark(StructType(wanted)))
    if update.schema().fields != target.table.metadata.schema.fields:
        update.commit()


# -- clauses -----------------------------------------------------------------------------------------------------------
def _clause(
    clause: s.MergeClause, names: Qualifiers, text: BoundText, source: str, columns: Sequence[str], *, keeps_missing: bool
) -> Clause:
    if clause.action in (s.MergeAction.UPDATE_ALL, s.MergeAction.INSERT_ALL):
        assignments = tuple(_all_columns(names.schema, source, columns, keeps_missing=keeps_missing))
    else:
        assignments = tuple(assignment_of(names, assignment, text) for assignment in clause.assignments)
    if clause.action is s.MergeAction.INSERT:
        _check_insert(assignments)
    return Clause(
        kind=Kind(clause.kind.value),
        action=_ACTIONS[clause.action],
        condition=None if clause.condition is None else text.sql(clause.condition),
        assignments=assignments,
    )


def _all_columns(schema: Schema, source: str, columns: Sequence[str], *, keeps_missing: bool) -> Iterable[Assignment]:
    """``*``: every column of the table from the source's of the same name. Raises SqlError for one that the source has not."""
    by_lower = {name.lower(): name for name in columns}
    for field in schema.fields:
        name = by_lower.get(field.name.lower())
        if name is not None:
            yield Assignment(column=(field.name,), value=f"{quote(source)}.{quote(name)}")
        elif not keeps_missing:
            raise SqlError(
                f"[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name {quote(field.name)} "
                f"cannot be resolved in the source."
                f"{nearest(field.name, columns)} SQLSTATE: 42703"
            )


def _on_its_side(clause: Clause, schema: Schema, columns: Sequence[str], *, source: str, target: str) -> Clause:
    """The clause whose bare names mean the one side that its kind of row has."""
    if clause.kind is Kind.MATCHED:
        return clause
    alias = source if clause.kind is Kind.NOT_MATCHED else target
    both = frozenset(field.name.lower() for field in schema.fields) & {name.lower() for name in columns}
    qualifiers = frozenset({source.lower(), target.lower()})

    def on_side(text: str | None) -> str | None:
        return None if text is None else qualified(text, both, alias, qualifiers)

    assignments = tuple(replace(each, value=on_side(each.value)) for each in clause.assignments)
    return replace(clause, condition=on_side(clause.condition), assignments=assignments)


def _check_insert(assignments: Sequence[Assignment]) -> None:
    for assignment in assignments:
        if len(assignment.column) > 1:
            raise ValidationError(f"INSERT assignment keys cannot be nested fields: {'.'.join(assignment.column)}")
