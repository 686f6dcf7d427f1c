"""SQL text to one frozen statement."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from icesql.errors import SqlError
from icesql.parser import alter_table, clauses, namespaces
from icesql.parser.base_statement import Statement
from icesql.parser.call import call
from icesql.parser.create_table import create_table
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import DropTable
from icesql.parser.describe import describe
from icesql.parser.insert import insert, insert_from
from icesql.parser.merge import merge
from icesql.parser.references import references
from icesql.parser.row_changes import delete, truncate, update
from icesql.parser.script import ScriptStatement, relocate
from icesql.parser.session_statements import (
    analyze,
    cache_table,
    execute_immediate,
    refresh,
    refused_command,
    reset_configuration,
    set_configuration,
    transaction,
    uncache_table,
)
from icesql.parser.show import show
from icesql.parser.utility_statements import Explain, Other, Query
from icesql.parser.views import alter_view, create_view, drop_view

_CACHED_SIZE = 20_000  # characters
_EXPLAIN_MODES = ("EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL", "PRUNING")
_MAX_EXPLAINS = 8


def parse(text: str, *, timestamp_ntz: bool = False) -> Statement:
    """The statement that ``text`` is; what no grammar of ours knows is ``Other``, for Spark to judge.

    ``timestamp_ntz``: the type ``TIMESTAMP`` means one without time zone (``spark.sql.timestampType``).

    Raises SqlError, with line, column and the text underlined, for unclosed strings and comments and for statements that only this engine
    knows (Iceberg's extensions of ALTER TABLE, CALL, EXPLAIN PRUNING). A statement of Spark's own that goes wrong is
    ``Other(error=...)``: it may be right for a table that is not ours.
    """
    return _parse_cached(text, timestamp_ntz) if len(text) <= _CACHED_SIZE else _parse(text, timestamp_ntz)


def parse_script_statement(statement: ScriptStatement, script: str) -> Statement:
    """``parse(statement.text)`` whose errors point into the script."""
    try:
        return parse(statement.text)
    except SqlError as error:
        raise relocate(error, statement, script) from None


def _parse(text: str, timestamp_ntz: bool = False, explains: int = 0) -> Statement:
    cursor = Cursor(text, timestamp_ntz=timestamp_ntz)
    if cursor.at("CALL"):
        return call(cursor)
    if cursor.at("EXPLAIN"):
        return _explain(cursor, explains)
    if cursor.at("ALTER", "TABLE"):
        return _alter_table(cursor)
    return _stock(cursor, _grammar(cursor))


_parse_cached = lru_cache(maxsize=256)(_parse)


def _stock(cursor: Cursor, grammar: Callable[[Cursor], Statement | None] | None) -> Statement:
    if grammar is None:
        return _other(cursor)
    try:
        found = grammar(cursor)
    except SqlError as error:
        return _other(cursor, error)
    return found if found is not None else _other(cursor)


def _other(cursor: Cursor, error: SqlError | None = None) -> Other:
    return Other(text=cursor.text, references=references(cursor.text), error=error)


def _explain(cursor: Cursor, explains: int) -> Statement:
    cursor.expect("EXPLAIN")
    mode = cursor.next().key if cursor.token.key in _EXPLAIN_MODES else None
    body = clauses.rest(cursor)
    if explains >= _MAX_EXPLAINS:
        cursor.fail_at("Cannot explain statement: EXPLAIN is nested too deeply", body)
    return Explain(text=cursor.text, mode=mode, body=body, statement=_parse(body.of(cursor.text), cursor.timestamp_ntz, explains + 1))


def _alter_table(cursor: Cursor) -> Statement:
    cursor.expect("ALTER", "TABLE")
    try:
        table = cursor.table_name()
    except SqlError as error:
        return _other(cursor, error)
    if alter_table.is_extension(cursor):
        return alter_table.extension(cursor, table)
    return _stock(cursor, lambda at: alter_table.stock(at, table))


def _drop_table(cursor: Cursor) -> DropTable:
    cursor.expect("DROP", "TABLE")
    if_exists = clauses.if_exists(cursor)
    table = cursor.table_name()
    purge = cursor.accept("PURGE")
    cursor.expect_end()
    return DropTable(text=cursor.text, table=table, if_exists=if_exists, purge=purge)


def _query(cursor: Cursor) -> Query:
    return Query(text=cursor.text, references=references(cursor.text))


def _from(cursor: Cursor) -> Statement:
    return insert_from(cursor, None) or _query(cursor)


def _with(cursor: Cursor) -> Statement | None:
    """A WITH clause may stand before a query and before every statement that changes rows."""
    ctes = clauses.with_clause(cursor)
    if cursor.at("INSERT"):
        return insert(cursor, ctes)
    if cursor.at("DELETE"):
        return delete(cursor, ctes)
    if cursor.at("UPDATE"):
        return update(cursor, ctes)
    if cursor.at("MERGE"):
        return merge(cursor, ctes)
    if cursor.at("FROM"):
        return insert_from(cursor, ctes) or _query(cursor)
    return _query(cursor)


def _create(cursor: Cursor) -> Statement | None:
    ahead = 1
    while cursor.peek(ahead).key in ("OR", "REPLACE", "EXTERNAL", "GLOBAL", "TEMPORARY", "TEMP"):
        ahead += 1
    kind = cursor.peek(ahead).key
    if kind == "TABLE":
        return create_table(cursor)
    if kind == "VIEW":
        return create_view(cursor)
    return namespaces.create_namespace(cursor) if kind in namespaces.WORDS and ahead == 1 else None


def _set(cursor: Cursor) -> Statement | None:
    if cursor.at("SET", "CATALOG") and cursor.peek(2).key != "=":
        return namespaces.set_catalog(cursor)
    return set_configuration(cursor)


def _insert(cursor: Cursor) -> Statement | None:
    return insert(cursor, None)


def _delete(cursor: Cursor) -> Statement:
    return delete(cursor, None)


def _update(cursor: Cursor) -> Statement:
    return update(cursor, None)


def _merge(cursor: Cursor) -> Statement:
    return merge(cursor, None)


_BY_WORD: dict[str, Callable[[Cursor], Statement | None]] = {
    "SELECT": _query,
    "VALUES": _query,
    "TABLE": _query,
    "(": _query,
    "MAP": _query,
    "REDUCE": _query,
    "WITH": _with,
    "FROM": _from,
    "INSERT": _insert,
    "DELETE": _delete,
    "UPDATE": _update,
    "MERGE": _merge,
    "TRUNCATE": truncate,
    "CREATE": _create,
    "REPLACE": create_table,
    "SHOW": show,
    "DESC": describe,
    "DESCRIBE": describe,
    "USE": namespaces.use,
    "SET": _set,
    "RESET": reset_configuration,
    "REFRESH": refresh,
    "CACHE": cache_table,
    "UNCACHE": uncache_table,
    "ANALYZE": analyze,
    "EXECUTE": execute_immediate,
    "LOAD": refused_command,
    "MSCK": refused_command,
    "REPAIR": refused_command,
    "BEGIN": transaction,
    "START": transaction,
    "COMMIT": transaction,
    "ROLLBACK": transaction,
}


def _grammar(cursor: Cursor) -> Callable[[Cursor], Statement | None] | None:
    word, following = cursor.token.key, cursor.peek().key
    if word == "DROP":
        if following == "TABLE":
            return _drop_table
        if following == "VIEW":
            return drop_view
        return namespaces.drop_namespace if following in namespaces.WORDS else None
    if word == "ALTER":
        if following == "VIEW":
            return alter_view
        return namespaces.alter_namespace if following in namespaces.WORDS else None
    if word == "COMMENT":
        return namespaces.comment_on if following == "ON" else None
    return _BY_WORD.get(word)
