"""ALTER TABLE ... ADD | DROP | REPLACE PARTITION FIELD."""

from __future__ import annotations

from dataclasses import replace

from icesql.parser.alter_statements import AddPartitionField, AlterTable, DropPartitionField, ReplacePartitionField
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import TransformTerm
from icesql.parser.names import TableName
from icesql.parser.transform_terms import transform_term


def alter_partition_fields(cursor: Cursor, table: TableName) -> AlterTable | None:
    """Read the three forms; None if something else comes."""
    if cursor.accept("ADD", "PARTITION", "FIELD"):
        field = _named_term(cursor)
        cursor.expect_end()
        return AddPartitionField(text=cursor.text, table=table, field=field)
    if cursor.accept("DROP", "PARTITION", "FIELD"):
        field = transform_term(cursor)
        cursor.expect_end()
        return DropPartitionField(text=cursor.text, table=table, field=field)
    if cursor.accept("REPLACE", "PARTITION", "FIELD"):
        old = transform_term(cursor)
        cursor.expect("WITH")
        new = _named_term(cursor)
        cursor.expect_end()
        return ReplacePartitionField(text=cursor.text, table=table, old=old, new=new)
    return None


def _named_term(cursor: Cursor) -> TransformTerm:
    term = transform_term(cursor)
    return replace(term, name=cursor.identifier()) if cursor.accept("AS") else term
