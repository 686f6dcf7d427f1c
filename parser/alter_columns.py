"""ALTER TABLE ... columns: add, drop, rename, alter, change, replace."""

from __future__ import annotations

from dataclasses import replace

from icesql.parser import clauses
from icesql.parser.alter_statements import AddColumns, AlterColumns, AlterTable, ColumnChange, DropColumns, RenameColumn, ReplaceColumns
from icesql.parser.cursor import Cursor
from icesql.parser.folding import fold
from icesql.parser.names import TableName
from icesql.parser.tokens import Kind
from icesql.parser.types import TypeReader


def alter_columns(cursor: Cursor, table: TableName) -> AlterTable | None:
    """Read any stock column form; None if something else comes."""
    if cursor.accept("ADD", "COLUMN") or cursor.accept("ADD", "COLUMNS"):
        return _add(cursor, table)
    if cursor.accept("DROP", "COLUMN") or cursor.accept("DROP", "COLUMNS"):
        if_exists = clauses.if_exists(cursor)
        columns = clauses.name_list(cursor)
        cursor.expect_end()
        return DropColumns(text=cursor.text, table=table, columns=columns, if_exists=if_exists)
    if cursor.accept("RENAME", "COLUMN"):
        column = cursor.name_parts()
        cursor.expect("TO")
        new_name = cursor.identifier()
        cursor.expect_end()
        return RenameColumn(text=cursor.text, table=table, column=column, new_name=new_name)
    if cursor.accept("REPLACE", "COLUMNS"):
        return _replace(cursor, table)
    if cursor.at("ALTER") or cursor.at("CHANGE"):
        return _alter(cursor, table)
    return None


def _add(cursor: Cursor, table: TableName) -> AddColumns:
    bracketed = cursor.accept("(")
    columns = clauses.column_definitions(cursor, TypeReader(cursor), nested=True, placed=True)
    if bracketed:
        cursor.expect(")")
    cursor.expect_end()
    return AddColumns(text=cursor.text, table=table, columns=columns)


def _replace(cursor: Cursor, table: TableName) -> ReplaceColumns:
    cursor.expect("(")
    columns = clauses.column_definitions(cursor, TypeReader(cursor), nested=True, placed=True)
    cursor.expect(")")
    cursor.expect_end()
    for column in columns:
        if column.required:
            cursor.fail("NOT NULL is not supported in Hive-style REPLACE COLUMNS.")
        if column.position is not None:
            cursor.fail(f"Operation not allowed: Column position is not supported in Hive-style REPLACE COLUMNS: {column.name}")
    return ReplaceColumns(text=cursor.text, table=table, columns=columns)


def _alter(cursor: Cursor, table: TableName) -> AlterColumns:
    hive = cursor.next().key == "CHANGE"
    if not cursor.accept("COLUMN"):
        cursor.accept("COLUMNS")
    column = cursor.name_parts()
    if hive and cursor.token.is_identifier and cursor.peek().kind is Kind.WORD and not _begins_action(cursor):
        change = _hive_change(cursor, column)
        cursor.expect_end()
        return AlterColumns(text=cursor.text, table=table, changes=(change,))
    types = TypeReader(cursor)
    changes = [_action(cursor, types, column)]
    while cursor.accept(","):
        changes.append(_action(cursor, types, cursor.name_parts()))
    cursor.expect_end()
    return AlterColumns(text=cursor.text, table=table, changes=tuple(changes))


def _begins_action(cursor: Cursor) -> bool:
    following = cursor.peek()
    return (
        (cursor.at("TYPE") and following.is_identifier)
        or cursor.at("AFTER")
        or cursor.at("SET", "NOT")
        or cursor.at("SET", "DEFAULT")
        or cursor.at("DROP", "NOT")
        or cursor.at("DROP", "DEFAULT")
    )


def _action(cursor: Cursor, types: TypeReader, column: tuple[str, ...]) -> ColumnChange:
    change = ColumnChange(column=column)
    if cursor.accept("TYPE"):
        start = cursor.token.start
        type_ = types.read()
        return replace(change, type=type_, type_text=cursor.text[start : cursor.last_end])
    if cursor.accept("COMMENT"):
        return replace(change, comment=cursor.string())
    if cursor.accept("SET", "NOT", "NULL"):
        return replace(change, set_not_null=True)
    if cursor.accept("DROP", "NOT", "NULL"):
        return replace(change, drop_not_null=True)
    if cursor.accept("SET", "DEFAULT"):
        text = clauses.default_expression(cursor)
        return replace(change, default_text=text, default=fold(text))
    if cursor.accept("DROP", "DEFAULT"):
        return replace(change, drop_default=True)
    where = clauses.position(cursor)
    if where is None:
        cursor.fail("Operation not allowed: ALTER TABLE table ALTER COLUMN requires a TYPE, a SET/DROP, a COMMENT, or a FIRST/AFTER.")
    return replace(change, position=where)


def _hive_change(cursor: Cursor, column: tuple[str, ...]) -> ColumnChange:
    start = cursor.token
    definition = clauses.column_definition(cursor, TypeReader(cursor), placed=True)
    if definition.name.lower() != column[-1].lower():
        message = "Renaming column is not supported in Hive-style ALTER COLUMN, please run RENAME COLUMN instead."
        cursor.fail(f"Operation not allowed: {message}", start)
    if definition.required:
        message = "NOT NULL is not supported in Hive-style ALTER COLUMN, please run ALTER COLUMN ... SET/DROP NOT NULL instead."
        cursor.fail(f"Operation not allowed: {message}", start)
    return ColumnChange(
        column=column,
        type=definition.type,
        type_text=definition.type_text,
        comment=definition.comment,
        position=definition.position,
    )
