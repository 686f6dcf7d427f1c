"""SHOW."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from icesql.parser.base_statement import Statement
from icesql.parser.cursor import Cursor
from icesql.parser.names import TableName
from icesql.parser.tokens import Kind
from icesql.parser.utility_statements import (
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowCurrentNamespace,
    ShowFunctions,
    ShowNamespaces,
    ShowPartitions,
    ShowProcedures,
    ShowTableProperties,
    ShowTables,
    ShowViews,
)


def show(cursor: Cursor) -> Statement | None:
    """Read from SHOW; None for a form that is not about catalogs, namespaces, tables, functions or procedures."""
    cursor.expect("SHOW")
    for words, grammar in _FORMS:
        if cursor.accept(*words):
            found = grammar(cursor)
            cursor.expect_end()
            return found
    if cursor.token.kind is Kind.WORD and cursor.peek().key == "FUNCTIONS":
        kind = cursor.expect_any("ALL", "SYSTEM", "USER")
        cursor.expect("FUNCTIONS")
        found = _functions(cursor, kind)
        cursor.expect_end()
        return found
    return None


def _in_namespace(cursor: Cursor) -> TableName | None:
    return cursor.table_name() if cursor.accept_any("FROM", "IN") else None


def _pattern(cursor: Cursor) -> str | None:
    """``[LIKE] 'pattern'``."""
    if cursor.accept("LIKE") or cursor.token.kind is Kind.STRING:
        return cursor.string()
    return None


def _tables(cursor: Cursor) -> Statement:
    return ShowTables(text=cursor.text, namespace=_in_namespace(cursor), pattern=_pattern(cursor))


def _table_extended(cursor: Cursor) -> Statement:
    namespace = _in_namespace(cursor)
    cursor.expect("LIKE")
    pattern = cursor.string()
    partition = cursor.skip_balanced() if cursor.accept("PARTITION") else None
    return ShowTables(text=cursor.text, namespace=namespace, pattern=pattern, extended=True, partition=partition)


def _views(cursor: Cursor) -> Statement:
    return ShowViews(text=cursor.text, namespace=_in_namespace(cursor), pattern=_pattern(cursor))


def _namespaces(cursor: Cursor) -> Statement:
    return ShowNamespaces(text=cursor.text, parent=_in_namespace(cursor), pattern=_pattern(cursor))


def _catalogs(cursor: Cursor) -> Statement:
    return ShowCatalogs(text=cursor.text, pattern=_pattern(cursor))


def _current(cursor: Cursor) -> Statement:
    cursor.expect_any("NAMESPACE", "SCHEMA", "DATABASE")
    return ShowCurrentNamespace(text=cursor.text)


def _properties(cursor: Cursor) -> Statement:
    table, key = cursor.table_name(), None
    if cursor.accept("("):
        key = cursor.string() if cursor.token.kind is Kind.STRING else ".".join(cursor.name_parts())
        cursor.expect(")")
    return ShowTableProperties(text=cursor.text, table=table, key=key)


def _columns(cursor: Cursor) -> Statement:
    cursor.expect_any("FROM", "IN")
    return ShowColumns(text=cursor.text, table=cursor.table_name(), namespace=_in_namespace(cursor))


def _create_table(cursor: Cursor) -> Statement:
    return ShowCreateTable(text=cursor.text, table=cursor.table_name(), as_serde=cursor.accept("AS", "SERDE"))


def _partitions(cursor: Cursor) -> Statement:
    table = cursor.table_name()
    partition = cursor.skip_balanced() if cursor.accept("PARTITION") else None
    return ShowPartitions(text=cursor.text, table=table, partition=partition)


def _functions(cursor: Cursor, kind: str = "ALL") -> Statement:
    namespace = _in_namespace(cursor)
    pattern: str | None = None
    if cursor.accept("LIKE") or cursor.token.kind is Kind.STRING or cursor.token.is_identifier:
        if cursor.token.kind is Kind.STRING:
            pattern = cursor.string()
        else:  # an old form: the function's full name
            name = cursor.table_name()
            pattern = name.parts[-1]
            if namespace is None and len(name.parts) > 1:
                namespace = replace(name, parts=name.parts[:-1])
    return ShowFunctions(text=cursor.text, kind=kind, namespace=namespace, pattern=pattern)


def _procedures(cursor: Cursor) -> Statement:
    return ShowProcedures(text=cursor.text, namespace=_in_namespace(cursor), pattern=_pattern(cursor))


_FORMS: tuple[tuple[tuple[str, ...], Callable[[Cursor], Statement]], ...] = (
    (("TABLES",), _tables),
    (("TABLE", "EXTENDED"), _table_extended),
    (("VIEWS",), _views),
    (("NAMESPACES",), _namespaces),
    (("SCHEMAS",), _namespaces),
    (("DATABASES",), _namespaces),
    (("CATALOGS",), _catalogs),
    (("CURRENT",), _current),
    (("TBLPROPERTIES",), _properties),
    (("COLUMNS",), _columns),
    (("CREATE", "TABLE"), _create_table),
    (("PARTITIONS",), _partitions),
    (("FUNCTIONS",), _functions),
    (("PROCEDURES",), _procedures),
)
