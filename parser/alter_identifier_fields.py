"""ALTER TABLE ... SET | DROP IDENTIFIER FIELDS."""

from __future__ import annotations

from icesql.parser.alter_statements import AlterTable, DropIdentifierFields, SetIdentifierFields
from icesql.parser.cursor import Cursor
from icesql.parser.names import NameParts, TableName


def alter_identifier_fields(cursor: Cursor, table: TableName) -> AlterTable | None:
    """Read either form; None if something else comes."""
    if cursor.accept("SET", "IDENTIFIER", "FIELDS"):
        return SetIdentifierFields(text=cursor.text, table=table, fields=_fields(cursor))
    if cursor.accept("DROP", "IDENTIFIER", "FIELDS"):
        return DropIdentifierFields(text=cursor.text, table=table, fields=_fields(cursor))
    return None


def _fields(cursor: Cursor) -> tuple[NameParts, ...]:
    fields = [cursor.name_parts()]
    while cursor.accept(","):
        fields.append(cursor.name_parts())
    cursor.expect_end()
    return tuple(fields)
