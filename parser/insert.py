"""INSERT INTO | OVERWRITE, and FROM ... INSERT ... INSERT ..."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.base_statement import Statement
from icesql.parser.cursor import Cursor
from icesql.parser.dml_statements import Insert, InsertMode, MultiInsert, PartitionValue
from icesql.parser.names import NameParts, Span
from icesql.parser.references import references_between
from icesql.parser.tokens import Kind, Token


def insert(cursor: Cursor, ctes: Span | None) -> Insert | None:
    """Read from INSERT; None for INSERT OVERWRITE DIRECTORY, which is Spark's own."""
    found, _ = _insert(cursor, (ctes,), stop_at_insert=False)
    return found


def insert_from(cursor: Cursor, ctes: Span | None) -> Statement | None:
    """``FROM x INSERT INTO a SELECT ... INSERT INTO b SELECT ...``; None when no INSERT follows the FROM clause."""
    start = cursor.token.start
    _skip_to_insert(cursor)
    if not _at_insert(cursor):
        return None
    source = Span(start, cursor.last_end)
    inserts: list[Insert] = []
    while _at_insert(cursor):
        found, _ = _insert(cursor, (ctes, source), stop_at_insert=True)
        if found is None:
            return None
        inserts.append(found)
    cursor.expect_end()
    return inserts[0] if len(inserts) == 1 else MultiInsert(text=cursor.text, inserts=tuple(inserts))


def _at_insert(cursor: Cursor) -> bool:
    return cursor.at("INSERT", "INTO") or cursor.at("INSERT", "OVERWRITE")


def _skip_to_insert(cursor: Cursor) -> None:
    while not cursor.at_end and not cursor.at(";") and not _at_insert(cursor):
        if cursor.at("(") or cursor.at("["):
            cursor.skip_balanced()
        else:
            cursor.next()


def _insert(cursor: Cursor, before: tuple[Span | None, ...], *, stop_at_insert: bool) -> tuple[Insert | None, Token]:
    first = cursor.token
    cursor.expect("INSERT")
    mode = InsertMode.OVERWRITE if cursor.expect_any("INTO", "OVERWRITE") == "OVERWRITE" else InsertMode.APPEND
    if mode is InsertMode.OVERWRITE and (cursor.at("DIRECTORY") or cursor.at("LOCAL", "DIRECTORY")):
        return None, first
    cursor.accept("TABLE")
    target = cursor.table_name()
    options = clauses.write_options(cursor)
    partition = _partition(cursor)
    if_not_exists = clauses.if_not_exists(cursor)
    by_name = cursor.accept("BY", "NAME")
    columns = () if by_name else _columns(cursor)
    where = None
    if cursor.at("REPLACE", "WHERE"):
        if mode is InsertMode.OVERWRITE or columns or by_name or partition:
            cursor.no_alternative()
        cursor.expect("REPLACE", "WHERE")
        mode, where = InsertMode.REPLACE_WHERE, _replaced_rows(cursor)
    body = _body(cursor, stop_at_insert)
    pieces = tuple(piece for piece in (*before, body) if piece is not None)
    found = Insert(
        text=cursor.text,
        target=target,
        mode=mode,
        by_name=by_name,
        columns=columns,
        partition=partition,
        if_not_exists=if_not_exists,
        options=options,
        where=where,
        query=pieces,
        references=references_between(cursor, *pieces, where),
    )
    return found, first


def _partition(cursor: Cursor) -> tuple[PartitionValue, ...]:
    """``PARTITION (p = 1, q)``."""
    if not cursor.at("PARTITION", "("):
        return ()
    cursor.expect("PARTITION", "(")
    values: list[PartitionValue] = []
    while not cursor.at(")") or not values:
        if values:
            cursor.expect(",")
        column = ".".join(cursor.name_parts())
        value = _constant(cursor) if cursor.accept("=") else None
        values.append(PartitionValue(column=column, value=value))
    cursor.expect(")")
    return tuple(values)


def _constant(cursor: Cursor) -> Span:
    """A number, strings side by side, ``NULL``, ``DATE '...'`` and the like, or a parameter: no calls, no operators."""
    start = cursor.token.start
    cursor.accept_any("-", "?", ":")
    while cursor.token.kind in (Kind.STRING, Kind.NUMBER, Kind.WORD):
        cursor.next()
    if cursor.last_end <= start or not cursor.at_any(",", ")"):
        cursor.no_alternative()
    return Span(start, cursor.last_end)


def _columns(cursor: Cursor) -> tuple[NameParts, ...]:
    """``(a, b)`` if that is what comes; a bracketed query is not."""
    if not cursor.at("("):
        return ()
    at = 1
    while cursor.peek(at).is_identifier or cursor.peek(at).key in (",", "."):
        at += 1
    following = cursor.peek(at + 1)
    if cursor.peek(at).key != ")" or at == 1 or following.kind is Kind.END or following.key in (";", "UNION", "EXCEPT", "INTERSECT"):
        return ()
    return clauses.name_list(cursor)


_QUERY_STARTS = ("SELECT", "VALUES", "TABLE", "FROM", "WITH", "MAP", "REDUCE")


def _replaced_rows(cursor: Cursor) -> Span:
    """The condition of REPLACE WHERE: up to the query."""
    start = cursor.token.start
    end = cursor.expression_until(*_QUERY_STARTS).end
    while cursor.at("FROM") and cursor.tokens[cursor.position - 1].key == "DISTINCT":
        cursor.next()
        end = cursor.expression_until(*_QUERY_STARTS).end
    return Span(start, end)


def _body(cursor: Cursor, stop_at_insert: bool) -> Span:
    if cursor.token.key not in (*_QUERY_STARTS, "("):
        cursor.no_alternative()
    if not stop_at_insert:
        return clauses.rest(cursor)
    start = cursor.token.start
    cursor.next() if not cursor.at("(") else cursor.skip_balanced()
    _skip_to_insert(cursor)
    return Span(start, cursor.last_end)
