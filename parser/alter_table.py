"""ALTER TABLE: Iceberg's extensions first, then Spark's own forms."""

from __future__ import annotations

from collections.abc import Callable

from icesql.parser import clauses
from icesql.parser.alter_columns import alter_columns
from icesql.parser.alter_identifier_fields import alter_identifier_fields
from icesql.parser.alter_partition_fields import alter_partition_fields
from icesql.parser.alter_refs import alter_refs
from icesql.parser.alter_statements import (
    AlterTable,
    RefusedAlter,
    RenameTable,
    SetDefaultCollation,
    SetTableLocation,
    SetTableProperties,
    UnsetTableProperties,
)
from icesql.parser.alter_write_order import alter_write_order
from icesql.parser.cursor import Cursor
from icesql.parser.names import Span, TableName

_EXTENSIONS: tuple[Callable[[Cursor, TableName], AlterTable | None], ...] = (
    alter_partition_fields,
    alter_write_order,
    alter_identifier_fields,
    alter_refs,
)


def is_extension(cursor: Cursor) -> bool:
    """Whether the cursor, behind the table's name, stands at a form that only Iceberg knows."""
    if cursor.at("WRITE") or cursor.at("SET", "IDENTIFIER") or cursor.at("DROP", "IDENTIFIER"):
        return True
    if any(cursor.at(verb, "PARTITION", "FIELD") for verb in ("ADD", "DROP", "REPLACE")):
        return True
    verbs = (("CREATE", "OR", "REPLACE"), ("CREATE",), ("REPLACE",), ("DROP",))
    return any(cursor.at(*verb, kind) for verb in verbs for kind in ("BRANCH", "TAG"))


def extension(cursor: Cursor, table: TableName) -> AlterTable:
    """Read one of the ten extension forms."""
    for grammar in _EXTENSIONS:
        found = grammar(cursor, table)
        if found is not None:
            return found
    return cursor.no_alternative()


def stock(cursor: Cursor, table: TableName) -> AlterTable:
    """Read one of Spark's forms."""
    found = alter_columns(cursor, table) or _properties(cursor, table) or _refused(cursor, table)
    return found if found is not None else cursor.no_alternative()


def _properties(cursor: Cursor, table: TableName) -> AlterTable | None:
    text = cursor.text
    found: AlterTable
    if cursor.accept("SET", "TBLPROPERTIES"):
        found = SetTableProperties(text=text, table=table, properties=clauses.properties(cursor))
    elif cursor.accept("UNSET", "TBLPROPERTIES"):
        if_exists = clauses.if_exists(cursor)
        found = UnsetTableProperties(text=text, table=table, keys=clauses.property_keys(cursor), if_exists=if_exists)
    elif cursor.accept("RENAME", "TO"):
        found = RenameTable(text=text, table=table, new_name=cursor.table_name())
    elif (partition := _partition_before(cursor, "SET", "LOCATION")) is not None or cursor.accept("SET", "LOCATION"):
        found = SetTableLocation(text=text, table=table, location=cursor.string(), partition=partition)
    elif cursor.accept("DEFAULT", "COLLATION"):
        found = SetDefaultCollation(text=text, table=table, collation=".".join(cursor.name_parts()))
    else:
        return None
    cursor.expect_end()
    return found


def _partition_before(cursor: Cursor, *keys: str) -> Span | None:
    """``PARTITION (...)`` followed by ``keys``, all read; else nothing is."""
    if not cursor.at("PARTITION", "("):
        return None
    mark, start = cursor.position, cursor.token.start
    cursor.next()
    span = Span(start, cursor.skip_balanced().end)
    if cursor.accept(*keys):
        return span
    cursor.position = mark
    return None


_REFUSED = (
    ("ADD", "PARTITION"),
    ("ADD", "IF", "NOT", "EXISTS", "PARTITION"),
    ("DROP", "PARTITION"),
    ("DROP", "IF", "EXISTS", "PARTITION"),
    ("PARTITION",),
    ("RECOVER", "PARTITIONS"),
    ("CLUSTER", "BY"),
    ("ADD", "CONSTRAINT"),
    ("ADD", "PRIMARY", "KEY"),
    ("ADD", "FOREIGN", "KEY"),
    ("ADD", "UNIQUE"),
    ("ADD", "CHECK"),
    ("DROP", "CONSTRAINT"),
    ("SET", "SERDE"),
    ("SET", "SERDEPROPERTIES"),
)
_FORM_NAMES = {"PARTITION": "RENAME PARTITION"}


def _refused(cursor: Cursor, table: TableName) -> RefusedAlter | None:
    for keys in _REFUSED:
        if cursor.accept(*keys):
            form = " ".join(key for key in keys if key not in ("IF", "NOT", "EXISTS"))
            if not (cursor.at_end or cursor.at(";")):
                clauses.rest(cursor)
            return RefusedAlter(text=cursor.text, table=table, form=_FORM_NAMES.get(form, form))
    return None
