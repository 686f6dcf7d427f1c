"""MERGE INTO: the clauses written out in full, for the row-level engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icesql.errors import SqlError, ValidationError, nearest
from icesql.parser import statements as s
from icesql.parser.text.edits import quote
from icesql.parser.text.tokens import tokenize
from icesql.session.resolve.write_target import WriteTarget
from icesql.session.rewrite.bound_text import BoundText
from icesql.session.rewrite.merge_scope import qualified
from icesql.session.run.dml.assignments import Qualifiers, assignment_of
from icesql.session.sql_errors import table_not_found
from icesql.spark.jvm.types import from_spark, to_spark_type
from icesql.spark.row_level.assignments import Assignment
from icesql.spark.row_level.field_order import NULL, in_order_of
from icesql.spark.row_level.merge import merge_rows
from icesql.spark.row_level.merge_clauses import Action, Clause, ClauseKind
from icesql.spark.row_level.target import Target
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import fold
from icesql.spec.properties import SPARK_WRITE_AUTO_SCHEMA_EVOLUTION
from icesql.spec.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_ACTIONS = {
    s.MergeAction.DELETE: Action.DELETE, s.MergeAction.UPDATE: Action.UPDATE, s.MergeAction.UPDATE_ALL: Action.UPDATE,
    s.MergeAction.INSERT: Action.INSERT, s.MergeAction.INSERT_ALL: Action.INSERT,
}  # fmt: skip
_PLACES = {
    s.MergeAction.DELETE: "DELETE", s.MergeAction.UPDATE: "UPDATE", s.MergeAction.UPDATE_ALL: "UPDATE",
    s.MergeAction.INSERT: "INSERT", s.MergeAction.INSERT_ALL: "INSERT",
}  # fmt: skip
_NESTED_COERCION = "spark.sql.mergeNestedTypeCoercion.enabled"
_OMITTED = {
    s.MergeKind.MATCHED: "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    s.MergeKind.NOT_MATCHED: "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION",
    s.MergeKind.NOT_MATCHED_BY_SOURCE: "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
}


def merge(session: SessionState, statement: s.Merge, target: WriteTarget, row_target: Target, text: BoundText) -> Any:
    """The row-level result. Raises SqlError, ValidationError and Spark's errors before anything is written."""
    _check_clauses(statement.clauses)
    _check_conditions(statement)
    source, alias = text.sql(statement.source), _source_alias(statement)
    with_ctes = f"{row_target.ctes} " if row_target.ctes else ""
    frame = session.spark_sql(f"{with_ctes}SELECT * FROM {source}")
    evolves = statement.schema_evolution and _may_evolve(target)
    if evolves:
        _evolve(session, target, statement, frame, _same_named(statement, alias, row_target.key))
    names = Qualifiers(target, row_target.alias, is_alias=statement.alias is not None, rows=row_target)
    clauses = [_clause(clause, names, text, alias, frame.columns, keeps_missing=evolves) for clause in statement.clauses]
    if evolves and session.conf(_NESTED_COERCION, "false") == "true":
        clauses = [_filled(clause, names, frame.schema, source=alias, target=row_target.alias) for clause in clauses]
    clauses = [_on_its_side(clause, names.schema, frame.columns, source=alias, target=row_target.alias) for clause in clauses]
    return merge_rows(row_target, source, alias, text.sql(statement.condition), clauses, source_rows=frame)


def _check_clauses(clauses: Sequence[s.MergeClause]) -> None:
    """Only the last clause of a kind may do without a condition."""
    for kind, code in _OMITTED.items():
        same = [clause for clause in clauses if clause.kind is kind]
        if any(clause.condition is None for clause in same[:-1]):
            raise SqlError(
                spark_message(
                    code,
                    f"When there are more than one {kind.value.upper()} clauses in a MERGE statement, only the last "
                    f"{kind.value.upper()} clause can omit the condition.",
                )
            )


def _check_conditions(statement: s.Merge) -> None:
    """Subqueries are for sources and assignments, not for conditions."""
    conditions = [("SEARCH", statement.condition), *((_PLACES[clause.action], clause.condition) for clause in statement.clauses)]
    for place, span in conditions:
        text = "" if span is None else span.of(statement.text)
        if any(token.key == "SELECT" for token in tokenize(text)):
            raise subquery_in_condition(place, text)


def subquery_in_condition(place: str, text: str) -> SqlError:
    return SqlError(
        spark_message(
            "UNSUPPORTED_MERGE_CONDITION.SUBQUERY",
            f"MERGE operation contains unsupported {place} condition. Subqueries are not allowed: {text}.",
        )
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
    return target.table.metadata.properties.get(SPARK_WRITE_AUTO_SCHEMA_EVOLUTION, "true").lower() == "true"


def _same_named(statement: s.Merge, source: str, key: Callable[[str], str]) -> frozenset[tuple[str, ...]]:
    """The paths that are assigned the source's field of the same path (``n.f = s.n.f``): those may be new in the table."""
    paths = set()
    for assignment in (each for clause in statement.clauses for each in clause.assignments):
        tokens = tokenize(assignment.value.of(statement.text))[:-1]
        value = tuple(key(token.name) for token in tokens[::2] if token.is_identifier)
        if len(value) != (len(tokens) + 1) // 2 or any(token.key != "." for token in tokens[1::2]):
            continue
        path = tuple(map(key, assignment.column))
        if path in (value, value[1:] if value[0] == key(source) else value):
            paths.add(path)
    return frozenset(paths)


def _evolve(session: SessionState, target: WriteTarget, statement: s.Merge, frame: DataFrame, assigned: frozenset[tuple[str, ...]]) -> None:
    """Columns and nested fields of the source that a ``*`` or an assignment brings are added, and types widened, in a commit of
    their own. Raises NotFoundError for a branch, which has no schema of its own."""

    brings_all = any(clause.action in (s.MergeAction.UPDATE_ALL, s.MergeAction.INSERT_ALL) for clause in statement.clauses)
    key = session.name_key
    wanted = _brought(frame.schema, assigned, key, brings_all=brings_all)
    if not wanted.fields:
        return
    update = target.table.update_schema().case_sensitive(session.is_case_sensitive)
    update.union_by_name_with(from_spark(wanted))
    if update.schema().fields == target.table.metadata.schema.fields:
        return
    if not target.resolved.is_plain:
        raise table_not_found(statement.target.parts, text=statement.text, offset=statement.target.start)
    update.commit()


def _brought(
    struct: Any, assigned: frozenset[tuple[str, ...]], key: Callable[[str], str], above: tuple[str, ...] = (), *, brings_all: bool
) -> Any:
    """The fields of a Spark struct that are assigned, or are above one that is; of others all or none."""
    from pyspark.sql.types import StructField, StructType

    kept = []
    for field in struct.fields:
        path, type_ = (*above, key(field.name)), field.dataType
        is_assigned = path in assigned
        is_above = any(each[: len(path)] == path for each in assigned)
        if isinstance(type_, StructType) and not is_assigned and (is_above or brings_all):
            type_ = _brought(type_, assigned, key, path, brings_all=brings_all)
        if is_above or brings_all:
            kept.append(StructField(field.name, type_, True, field.metadata))
    return StructType(kept)


# -- clauses -----------------------------------------------------------------------------------------------------------
def _clause(
    clause: s.MergeClause, names: Qualifiers, text: BoundText, source: str, columns: Sequence[str], *, keeps_missing: bool
) -> Clause:
    if clause.action in (s.MergeAction.UPDATE_ALL, s.MergeAction.INSERT_ALL):
        assignments = tuple(_all_columns(names, source, columns, keeps_missing=keeps_missing))
    else:
        assignments = tuple(assignment_of(names, assignment, text) for assignment in clause.assignments)
    if clause.action is s.MergeAction.INSERT:
        _check_insert(assignments)
    return Clause(
        kind=ClauseKind(clause.kind.value),
        action=_ACTIONS[clause.action],
        condition=None if clause.condition is None else text.sql(clause.condition),
        assignments=assignments,
    )


def _all_columns(names: Qualifiers, source: str, columns: Sequence[str], *, keeps_missing: bool) -> Iterable[Assignment]:
    """``*``: every column of the table from the source's of the same name. Raises SqlError for one that the source has not."""
    known = {names.key(name): name for name in columns}
    for field in names.schema.fields:
        name = known.get(names.key(field.name))
        if name is not None:
            yield Assignment(column=(field.name,), value=f"{quote(source)}.{quote(name)}")
        elif not keeps_missing:
            raise SqlError(
                spark_message(
                    "UNRESOLVED_COLUMN.WITH_SUGGESTION",
                    f"A column, variable, or function parameter with name {quote(field.name)} "
                    f"cannot be resolved in the source."
                    f"{nearest(field.name, columns)}",
                )
            )


def _filled(clause: Clause, names: Qualifiers, given: Any, *, source: str, target: str) -> Clause:
    """The clause whose structs may lack fields: an UPDATE keeps the table's, an INSERT has nulls. Such structs are the source's columns."""

    fields = {names.key(field.name): field for field in names.schema.fields}
    columns = {f"{quote(source)}.{quote(field.name)}": field.dataType for field in given.fields}

    def filled(each: Assignment) -> Assignment:
        field = fields.get(names.key(each.column[0])) if len(each.column) == 1 else None
        if field is None or each.value not in columns:
            return each
        instead = f"{quote(target)}.{quote(field.name)}" if clause.action is Action.UPDATE else NULL
        return replace(each, value=in_order_of(each.value, columns[each.value], to_spark_type(field.type), instead=instead))

    return replace(clause, assignments=tuple(map(filled, clause.assignments)))


def _on_its_side(clause: Clause, schema: Schema, columns: Sequence[str], *, source: str, target: str) -> Clause:
    """The clause with its bare columns qualified: NOT MATCHED sees the source only, NOT MATCHED BY SOURCE the table only."""
    if clause.kind is ClauseKind.MATCHED:
        return clause
    alias = source if clause.kind is ClauseKind.NOT_MATCHED else target
    both = frozenset(fold(field.name) for field in schema.fields) & {fold(name) for name in columns}
    qualifiers = frozenset({fold(source), fold(target)})

    def on_side(text: str | None) -> str | None:
        return None if text is None else qualified(text, both, alias, qualifiers)

    assignments = tuple(replace(each, value=on_side(each.value)) for each in clause.assignments)
    return replace(clause, condition=on_side(clause.condition), assignments=assignments)


def _check_insert(assignments: Sequence[Assignment]) -> None:
    for assignment in assignments:
        if len(assignment.column) > 1:
            raise ValidationError(f"INSERT assignment keys cannot be nested fields: {'.'.join(assignment.column)}")
