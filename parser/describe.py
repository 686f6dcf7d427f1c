"""DESCRIBE."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.base_statement import Statement
from icesql.parser.cursor import Cursor
from icesql.parser.names import Span
from icesql.parser.namespaces import WORDS
from icesql.parser.references import references_between
from icesql.parser.tokens import Kind
from icesql.parser.utility_statements import DescribeFunction, DescribeNamespace, DescribeProcedure, DescribeQuery, DescribeTable


def describe(cursor: Cursor) -> Statement:
    """Read from DESC | DESCRIBE. A word such as FUNCTION is a table's name when nothing follows it."""
    cursor.expect_any("DESC", "DESCRIBE")
    named = cursor.peek().is_identifier
    if cursor.at("QUERY") and named:
        cursor.next()
        return _query(cursor)
    if cursor.token.key in ("SELECT", "WITH", "FROM", "VALUES", "MAP", "REDUCE", "(") and cursor.peek().kind is not Kind.END:
        return _query(cursor)
    if cursor.at("FUNCTION") and (named or cursor.peek().kind is Kind.STRING):
        cursor.next()
        return _function(cursor)
    if cursor.at("PROCEDURE") and named:
        cursor.next()
        return _ended(cursor, DescribeProcedure(text=cursor.text, procedure=cursor.table_name()))
    if cursor.token.key in WORDS and named:
        cursor.next()
        extended = cursor.at("EXTENDED") and cursor.peek().is_identifier and cursor.accept("EXTENDED")
        return _ended(cursor, DescribeNamespace(text=cursor.text, namespace=cursor.table_name(), extended=extended))
    return _table(cursor)


def _ended(cursor: Cursor, statement: Statement) -> Statement:
    cursor.expect_end()
    return statement


def _query(cursor: Cursor) -> DescribeQuery:
    query = clauses.rest(cursor)
    return DescribeQuery(text=cursor.text, query=query, references=references_between(cursor, query))


def _function(cursor: Cursor) -> Statement:
    extended = cursor.at("EXTENDED") and cursor.peek().is_identifier and cursor.accept("EXTENDED")
    return _ended(cursor, DescribeFunction(text=cursor.text, function=cursor.table_name(), extended=extended))


def _table(cursor: Cursor) -> Statement:
    if cursor.at("TABLE") and cursor.peek().is_identifier:
        cursor.next()
    extended = cursor.token.key in ("EXTENDED", "FORMATTED") and cursor.peek().is_identifier
    if extended:
        cursor.next()
    table = cursor.table_name()
    partition: Span | None = cursor.skip_balanced() if cursor.at("PARTITION", "(") and cursor.accept("PARTITION") else None
    column = cursor.name_parts() if cursor.token.is_identifier and not cursor.at("AS", "JSON") else None
    as_json = cursor.accept("AS", "JSON")
    found = DescribeTable(text=cursor.text, table=table, extended=extended, column=column, partition=partition, as_json=as_json)
    return _ended(cursor, found)
