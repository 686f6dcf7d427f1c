"""MERGE INTO."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.cursor import Cursor
from icesql.parser.dml_statements import Assignment, Merge, MergeAction, MergeClause, MergeKind
from icesql.parser.names import NameParts, Place, Span
from icesql.parser.references import references_between
from icesql.parser.relations import read_relation
from icesql.parser.row_changes import assignments

_ORDER = (MergeKind.MATCHED, MergeKind.NOT_MATCHED, MergeKind.NOT_MATCHED_BY_SOURCE)
_NAMES = {
    MergeKind.MATCHED: "MATCHED",
    MergeKind.NOT_MATCHED: "NOT MATCHED",
    MergeKind.NOT_MATCHED_BY_SOURCE: "NOT MATCHED BY SOURCE",
}
_ERROR_NAMES = {
    MergeKind.MATCHED: "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    MergeKind.NOT_MATCHED: "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION",
    MergeKind.NOT_MATCHED_BY_SOURCE: "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION",
}


def merge(cursor: Cursor, ctes: Span | None) -> Merge:
    """Read from MERGE. Clauses come in Spark's order: MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE."""
    cursor.expect("MERGE")
    schema_evolution = cursor.accept("WITH", "SCHEMA", "EVOLUTION")
    cursor.expect("INTO")
    target = cursor.table_name()
    alias = clauses.table_alias(cursor)
    cursor.expect("USING")
    source, source_alias = _source(cursor)
    cursor.expect("ON")
    condition = cursor.expression_until("WHEN")
    found = _clauses(cursor)
    cursor.expect_end()
    return Merge(
        text=cursor.text,
        target=target,
        alias=alias,
        schema_evolution=schema_evolution,
        source=source,
        source_alias=source_alias,
        condition=condition,
        clauses=found,
        ctes=ctes,
        references=references_between(cursor, ctes, source, condition, *(clause.span for clause in found)),
    )


def _source(cursor: Cursor) -> tuple[Span, str | None]:
    start = cursor.token.start
    if cursor.at("("):
        cursor.skip_balanced()
        alias = clauses.table_alias(cursor)
        return Span(start, cursor.last_end), alias
    if not cursor.token.is_identifier:
        cursor.no_alternative()
    found = read_relation(cursor.text, cursor.tokens, cursor.position, place=Place.FROM)
    cursor.position = found.position
    if found.reference is None:
        cursor.skip_balanced()
        alias = clauses.table_alias(cursor)
        return Span(start, cursor.last_end), alias
    if found.reference.time_travel is not None or found.reference.options:
        cursor.fail("mismatched input: the source of a MERGE is a table or a query in brackets")
    return Span(start, cursor.last_end), found.reference.alias


def _clauses(cursor: Cursor) -> tuple[MergeClause, ...]:
    found: list[MergeClause] = []
    while cursor.at("WHEN"):
        token = cursor.token
        clause = _clause(cursor)
        if found and _ORDER.index(clause.kind) < _ORDER.index(found[-1].kind):
            cursor.fail(f"mismatched input 'WHEN': a {_NAMES[clause.kind]} clause may not follow {_NAMES[found[-1].kind]}", token)
        found.append(clause)
    if not found:
        cursor.fail("[MERGE_WITHOUT_WHEN] There must be at least one WHEN clause in a MERGE statement.")
    _check_conditions(cursor, found)
    return tuple(found)


def _check_conditions(cursor: Cursor, found: list[MergeClause]) -> None:
    for kind in _ORDER:
        of_kind = [clause for clause in found if clause.kind is kind]
        for clause in of_kind[:-1]:
            if clause.condition is None:
                name = _NAMES[kind].replace("NOT MATCHED", "NOT MATCHED BY TARGET") if kind is MergeKind.NOT_MATCHED else _NAMES[kind]
                message = (
                    f"When there are more than one {name} clauses in a MERGE statement, only the last {name} clause can omit the condition."
                )
                cursor.fail_at(f"[{_ERROR_NAMES[kind]}] {message}", clause.span)


def _clause(cursor: Cursor) -> MergeClause:
    start = cursor.token.start
    cursor.expect("WHEN")
    kind = _kind(cursor)
    condition = cursor.expression_until("THEN") if cursor.accept("AND") else None
    cursor.expect("THEN")
    action, assigned = _insert(cursor) if kind is MergeKind.NOT_MATCHED else _change(cursor, kind)
    return MergeClause(kind=kind, action=action, condition=condition, assignments=assigned, span=Span(start, cursor.last_end))


def _kind(cursor: Cursor) -> MergeKind:
    if cursor.accept("MATCHED"):
        return MergeKind.MATCHED
    cursor.expect("NOT", "MATCHED")
    if cursor.accept("BY", "SOURCE"):
        return MergeKind.NOT_MATCHED_BY_SOURCE
    cursor.accept("BY", "TARGET")
    return MergeKind.NOT_MATCHED


def _change(cursor: Cursor, kind: MergeKind) -> tuple[MergeAction, tuple[Assignment, ...]]:
    if cursor.accept("DELETE"):
        return MergeAction.DELETE, ()
    if not cursor.at("UPDATE"):
        cursor.mismatch("DELETE", "UPDATE")
    cursor.expect("UPDATE", "SET")
    if cursor.at("*") and kind is MergeKind.MATCHED:
        cursor.next()
        return MergeAction.UPDATE_ALL, ()
    return MergeAction.UPDATE, assignments(cursor, "WHEN")


def _insert(cursor: Cursor) -> tuple[MergeAction, tuple[Assignment, ...]]:
    cursor.expect("INSERT")
    if cursor.accept("*"):
        return MergeAction.INSERT_ALL, ()
    columns = _insert_columns(cursor)
    cursor.expect("VALUES")
    opening = cursor.token
    cursor.expect("(")
    values = [cursor.expression_until(",")]
    while cursor.accept(","):
        values.append(cursor.expression_until(","))
    cursor.expect(")")
    if len(values) != len(columns):
        cursor.fail("The number of inserted values cannot match the fields.", opening)
    pairs = zip(columns, values, strict=True)
    return MergeAction.INSERT, tuple(_pair(cursor, name, key, value) for (name, key), value in pairs)


def _insert_columns(cursor: Cursor) -> list[tuple[NameParts, Span]]:
    cursor.expect("(")
    columns: list[tuple[NameParts, Span]] = []
    while not columns or cursor.accept(","):
        start = cursor.token.start
        parts = cursor.name_parts()
        columns.append((parts, Span(start, cursor.last_end)))
    cursor.expect(")")
    return columns


def _pair(cursor: Cursor, name: NameParts, key: Span, value: Span) -> Assignment:
    return Assignment(column=name, key=key, value=value, is_default=value.of(cursor.text).upper() == "DEFAULT")
