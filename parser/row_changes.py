"""DELETE, UPDATE, TRUNCATE."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.cursor import Cursor
from icesql.parser.dml_statements import Assignment, Delete, TruncateTable, Update
from icesql.parser.names import Span
from icesql.parser.references import references_between


def delete(cursor: Cursor, ctes: Span | None) -> Delete:
    """``DELETE FROM t [AS a] [WHERE condition]``."""
    cursor.expect("DELETE", "FROM")
    target = cursor.table_name()
    alias = clauses.table_alias(cursor)
    condition = _where(cursor)
    cursor.expect_end()
    references = references_between(cursor, ctes, condition)
    return Delete(text=cursor.text, target=target, alias=alias, condition=condition, ctes=ctes, references=references)


def update(cursor: Cursor, ctes: Span | None) -> Update:
    """``UPDATE t [AS a] SET c = e, ... [WHERE condition]``."""
    cursor.expect("UPDATE")
    target = cursor.table_name()
    alias = clauses.table_alias(cursor)
    cursor.expect("SET")
    assigned = assignments(cursor, "WHERE")
    condition = _where(cursor)
    cursor.expect_end()
    return Update(
        text=cursor.text,
        target=target,
        alias=alias,
        assignments=assigned,
        condition=condition,
        ctes=ctes,
        references=references_between(cursor, ctes, condition, *(assignment.value for assignment in assigned)),
    )


def truncate(cursor: Cursor) -> TruncateTable:
    """``TRUNCATE TABLE t [PARTITION (...)]``."""
    cursor.expect("TRUNCATE", "TABLE")
    target = cursor.table_name()
    partition = None
    if cursor.accept("PARTITION"):
        partition = cursor.skip_balanced()
    cursor.expect_end()
    return TruncateTable(text=cursor.text, target=target, partition=partition)


_AFTER_A_CONDITION = ("LIMIT", "ORDER", "GROUP", "HAVING", "UNION", "EXCEPT", "INTERSECT", "FROM", "WHERE", "RETURNING")
_AFTER_A_NAME = frozenset(
    {"=", "==", "!=", "<>", "<", ">", "<=", ">=", "<=>", ".", "IS", "IN", "LIKE", "BETWEEN", "NOT", "AND", "OR", ")", ","}
)


def _where(cursor: Cursor) -> Span | None:
    if not cursor.accept("WHERE"):
        return None
    return expression(cursor)


def expression(cursor: Cursor, *stops: str) -> Span:
    """One expression, which ends at ``stops`` and where another clause would begin (Spark has none behind a condition or an assignment)."""
    start, first = cursor.token.start, cursor.position
    while not (cursor.at_end or cursor.token.key in (";", ")", *stops)):
        if _is_plain_word(cursor):
            cursor.next()
        elif cursor.token.key in _AFTER_A_CONDITION:
            break
        else:
            cursor.expression_until(*stops, *_AFTER_A_CONDITION)
    return Span(start, cursor.last_end) if cursor.position > first else cursor.no_alternative()


def _is_plain_word(cursor: Cursor) -> bool:
    """Whether a word that may begin a clause is a column's name here, or the FROM of IS DISTINCT FROM."""
    if cursor.at("FROM") and cursor.tokens[cursor.position - 1].key == "DISTINCT":
        return True
    return cursor.token.key in _AFTER_A_CONDITION and cursor.peek().key in _AFTER_A_NAME


def assignments(cursor: Cursor, *stops: str) -> tuple[Assignment, ...]:
    """``a.b = e, c = DEFAULT`` up to one of ``stops``."""
    found = [_assignment(cursor, stops)]
    while cursor.accept(","):
        found.append(_assignment(cursor, stops))
    return tuple(found)


def _assignment(cursor: Cursor, stops: tuple[str, ...]) -> Assignment:
    start = cursor.token.start
    column = cursor.name_parts()
    key = Span(start, cursor.last_end)
    if not cursor.accept("=="):
        cursor.expect("=")
    value = expression(cursor, ",", *stops)
    return Assignment(column=column, key=key, value=value, is_default=value.of(cursor.text).upper() == "DEFAULT")
