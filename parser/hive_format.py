"""STORED AS and ROW FORMAT of CREATE TABLE: Iceberg keeps what they say as properties and does nothing else with it."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import Properties

_SERDE_FORMATS = ("textfile", "sequencefile", "rcfile")  # those that Spark lets stand beside ROW FORMAT SERDE


def stored_as(cursor: Cursor) -> Properties:
    """What stands behind STORED AS."""
    if cursor.accept("INPUTFORMAT"):
        input_format = cursor.string()
        cursor.expect("OUTPUTFORMAT")
        return (("hive.input-format", input_format), ("hive.output-format", cursor.string()))
    return (("hive.stored-as", cursor.identifier()),)


def row_format(cursor: Cursor) -> Properties:
    """What stands behind ROW FORMAT. Raises SqlError for other line terminators than the newline."""
    if cursor.accept("SERDE"):
        serde = ("hive.serde", cursor.string())
        given = clauses.properties(cursor) if cursor.accept("WITH", "SERDEPROPERTIES") else ()
        return (serde, *((f"option.{key}", value) for key, value in given))
    cursor.expect("DELIMITED")
    return tuple(_delimiters(cursor))


def _delimiters(cursor: Cursor) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if cursor.accept("FIELDS", "TERMINATED", "BY"):
        delimiter = cursor.string()
        found += [("option.field.delim", delimiter), ("option.serialization.format", delimiter)]
        if cursor.accept("ESCAPED", "BY"):
            found.append(("option.escape.delim", cursor.string()))
    if cursor.accept("COLLECTION", "ITEMS", "TERMINATED", "BY"):
        found.append(("option.colelction.delim", cursor.string()))  # spelled as Hive does
    if cursor.accept("MAP", "KEYS", "TERMINATED", "BY"):
        found.append(("option.mapkey.delim", cursor.string()))
    if cursor.accept("LINES", "TERMINATED", "BY"):
        token, delimiter = cursor.token, cursor.string()
        if delimiter != "\n":
            cursor.fail(f"Operation not allowed: LINES TERMINATED BY only supports newline '\\n' right now: {delimiter}.", token)
        found.append(("option.line.delim", delimiter))
    if cursor.accept("NULL", "DEFINED", "AS"):
        cursor.string()  # Spark does not hand it to catalogs
    return found


def check_together(cursor: Cursor, provider: str | None, stored: Properties, rows: Properties) -> None:
    """Raises SqlError for clauses that Spark does not let stand together."""
    if provider is not None and (stored or rows):
        form = f"STORED AS {dict(stored).get('hive.stored-as', '').upper()}" if stored else "ROW FORMAT"
        cursor.fail(f"[INVALID_STATEMENT_OR_CLAUSE] The statement or clause: CREATE TABLE ... USING ... {form.strip()} is not valid.")
    format_name = dict(stored).get("hive.stored-as", "").lower()
    if not rows or not format_name:
        return
    serde = rows[0][0] == "hive.serde"
    if format_name not in (_SERDE_FORMATS if serde else ("textfile",)):
        form, fitting = ("SERDE", "sequencefile, textfile, or rcfile") if serde else ("DELIMITED", "textfile")
        cursor.fail(f"Operation not allowed: ROW FORMAT {form} is only compatible with {fitting}, not {format_name}.")
