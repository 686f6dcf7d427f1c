"""SET, RESET, REFRESH, CACHE, UNCACHE, ANALYZE, transactions, and commands that v2 tables refuse."""

from __future__ import annotations

import re

from icesql.parser import clauses
from icesql.parser.base_statement import Statement
from icesql.parser.cursor import Cursor
from icesql.parser.references import references_between
from icesql.parser.tokens import Kind
from icesql.parser.utility_statements import (
    AnalyzeTable,
    BeginTransaction,
    CacheTable,
    CommitTransaction,
    ExecuteImmediate,
    RefreshTable,
    RefusedTableCommand,
    ResetConfiguration,
    RollbackTransaction,
    SetConfiguration,
    UncacheTable,
)

_SET_PAIR = re.compile(r"(`(?:[^`]|``)+`|[\w.:\-/]+)\s*(?:=\s*(.*))?", re.DOTALL)
_NOT_CONFIGURATION = ("TIME", "VAR", "VARIABLE", "ROLE", "CATALOG")


def set_configuration(cursor: Cursor) -> SetConfiguration | None:
    """``SET``, ``SET -v``, ``SET key``, ``SET key = value``: the value is the raw text behind ``=``.

    None for variables, time zones and roles.
    """
    cursor.expect("SET")
    if cursor.at_end or cursor.at(";"):
        return SetConfiguration(text=cursor.text)
    if cursor.token.key in _NOT_CONFIGURATION and cursor.peek().key not in ("=", ".") and not _ends(cursor, 1):
        return None
    body = clauses.rest(cursor).of(cursor.text)
    if body.lower() == "-v":
        return SetConfiguration(text=cursor.text, verbose=True)
    match = _SET_PAIR.fullmatch(body)
    if match is None:
        return None
    key = match[1][1:-1].replace("``", "`") if match[1].startswith("`") else match[1]
    value = match[2]
    if value is not None and len(value) > 1 and value.startswith("`") and value.endswith("`"):
        value = value[1:-1].replace("``", "`")
    return SetConfiguration(text=cursor.text, key=key, value=None if value is None else value.strip())


def _ends(cursor: Cursor, ahead: int) -> bool:
    token = cursor.peek(ahead)
    return token.kind is Kind.END or token.key == ";"


def reset_configuration(cursor: Cursor) -> ResetConfiguration:
    cursor.expect("RESET")
    if cursor.at_end or cursor.at(";"):
        return ResetConfiguration(text=cursor.text)
    key = clauses.rest(cursor).of(cursor.text)
    return ResetConfiguration(text=cursor.text, key=key[1:-1].replace("``", "`") if key.startswith("`") else key)


def refresh(cursor: Cursor) -> RefreshTable | None:
    """REFRESH [TABLE] t; None for functions and paths."""
    cursor.expect("REFRESH")
    if cursor.at("FUNCTION") or cursor.token.kind is Kind.STRING or not cursor.accept("TABLE"):
        return None
    table = cursor.table_name()
    cursor.expect_end()
    return RefreshTable(text=cursor.text, table=table)


def cache_table(cursor: Cursor) -> CacheTable:
    cursor.expect("CACHE")
    lazy = cursor.accept("LAZY")
    cursor.expect("TABLE")
    table = cursor.table_name()
    options = clauses.properties(cursor) if cursor.accept("OPTIONS") else ()
    cursor.accept("AS")
    query = None if cursor.at_end or cursor.at(";") else clauses.rest(cursor)
    references = references_between(cursor, query)
    return CacheTable(text=cursor.text, table=table, lazy=lazy, options=options, query=query, references=references)


def uncache_table(cursor: Cursor) -> UncacheTable:
    cursor.expect("UNCACHE", "TABLE")
    if_exists = clauses.if_exists(cursor)
    table = cursor.table_name()
    cursor.expect_end()
    return UncacheTable(text=cursor.text, table=table, if_exists=if_exists)


def analyze(cursor: Cursor) -> AnalyzeTable:
    cursor.expect("ANALYZE")
    if cursor.accept("TABLES"):
        tables_in = cursor.table_name() if cursor.accept_any("FROM", "IN") else None
        found = AnalyzeTable(text=cursor.text, tables_in=tables_in)
    else:
        cursor.expect("TABLE")
        found = AnalyzeTable(text=cursor.text, table=cursor.table_name())
    if cursor.accept("PARTITION"):
        cursor.skip_balanced()
    cursor.expect("COMPUTE", "STATISTICS")
    if not (cursor.at_end or cursor.at(";")):
        clauses.rest(cursor)
    return found


def refused_command(cursor: Cursor) -> RefusedTableCommand | None:
    """LOAD DATA ... INTO TABLE t, MSCK REPAIR TABLE t, REPAIR TABLE t."""
    form = "LOAD DATA" if cursor.at("LOAD") else "MSCK REPAIR TABLE"
    while not cursor.at_end and not cursor.at("TABLE"):
        cursor.next()
    if not cursor.accept("TABLE"):
        return None
    table = cursor.table_name()
    return RefusedTableCommand(text=cursor.text, table=table, form=form)


def execute_immediate(cursor: Cursor) -> ExecuteImmediate | None:
    """EXECUTE IMMEDIATE 'sql' [INTO ...] [USING ...]."""
    cursor.expect("EXECUTE", "IMMEDIATE")
    sql = cursor.string() if cursor.token.kind is Kind.STRING else None
    if sql is None or not (cursor.at_end or cursor.at(";") or cursor.at("INTO") or cursor.at("USING")):
        sql = None
        cursor.expression_until("INTO", "USING")
    tail = None if cursor.at_end or cursor.at(";") else clauses.rest(cursor)
    return ExecuteImmediate(text=cursor.text, sql=sql, rest=tail)


def transaction(cursor: Cursor) -> Statement | None:
    """BEGIN, START TRANSACTION, COMMIT, ROLLBACK as whole statements; None otherwise."""
    first = cursor.next().key
    if first == "START" and not cursor.at("TRANSACTION"):
        return None
    cursor.accept_any("WORK", "TRANSACTION")
    cursor.accept(";")
    if not cursor.at_end:
        return None
    kinds: dict[str, type[Statement]] = {
        "BEGIN": BeginTransaction,
        "START": BeginTransaction,
        "COMMIT": CommitTransaction,
        "ROLLBACK": RollbackTransaction,
    }
    return kinds[first](text=cursor.text)
