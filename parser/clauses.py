"""Clauses that many statements share: property lists, columns, positions, partitions, WITH."""

from __future__ import annotations

import re

from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import ColumnDefinition, Options, Position, Properties
from icesql.parser.folding import fold
from icesql.parser.names import NameParts, Span
from icesql.parser.tokens import Kind
from icesql.parser.types import TypeReader

_PLAIN_NUMBER = re.compile(r"(0|-?[1-9]\d*)|-?(0\.\d*[1-9]\d*|[1-9]\d*\.\d+)|0\.0+")
"""Numbers that Spark shows as they were written."""


def properties(cursor: Cursor) -> Properties:
    """``('k' = 'v', a.b = 5, c true)``; values as text.

    Raises SqlError for a key without a value or given twice.
    """
    pairs: list[tuple[str, str]] = []
    missing: list[str] = []
    cursor.expect("(")
    while not cursor.at(")") or not (pairs or missing):
        if pairs or missing:
            cursor.expect(",")
        key = _property_key(cursor)
        if key in (known for known, _ in pairs):
            cursor.fail(f"[DUPLICATE_KEY] Found duplicate keys `{key}`. SQLSTATE: 23505")
        value = _property_value(cursor)
        if value is None:
            missing.append(key)
        else:
            pairs.append((key, value))
    cursor.expect(")")
    if missing:
        cursor.fail(f"Operation not allowed: Values must be specified for key(s): [{','.join(missing)}].")
    return tuple(pairs)


def write_options(cursor: Cursor) -> Properties:
    """``WITH ('k' = 'v')`` behind the table that an INSERT writes; ``()`` where there is none."""
    return properties(cursor) if cursor.at("WITH", "(") and cursor.accept("WITH") else ()


def options(cursor: Cursor) -> Options:
    """``('k' = 'v', a.b = 1 + 1)``: as ``properties``, but values may be any expressions, and of a key given twice the last one holds."""
    found: dict[str, str | Span] = {}
    cursor.expect("(")
    while not found or cursor.accept(","):
        key = _property_key(cursor)
        cursor.accept_any("=", "==")
        if cursor.at_any(",", ")"):
            cursor.fail(f"Operation not allowed: A value must be specified for the key: {key}.")
        found[key] = _option_value(cursor)
    cursor.expect(")")
    return tuple(found.items())


def _option_value(cursor: Cursor) -> str | Span:
    """The text of a plain constant, else where the expression stands."""
    start = cursor.position
    sign = "-" if cursor.peek().kind is Kind.NUMBER and cursor.accept("-") else ""
    token = cursor.token
    value: str | None = None
    if token.kind is Kind.STRING:
        value = cursor.string()
    elif token.kind is Kind.NUMBER and _PLAIN_NUMBER.fullmatch(sign + token.text):
        value = sign + cursor.next().text
    elif token.key in ("TRUE", "FALSE") and not sign:
        value = cursor.next().key.lower()
    if value is not None and cursor.at_any(",", ")"):
        return value
    cursor.position = start
    return cursor.expression_until(",")


def property_keys(cursor: Cursor) -> tuple[str, ...]:
    """``('k', a.b)``."""
    keys: list[str] = []
    cursor.expect("(")
    while not cursor.at(")") or not keys:
        if keys:
            cursor.expect(",")
        key = _property_key(cursor)
        if key in keys:
            cursor.fail(f"[DUPLICATE_KEY] Found duplicate keys `{key}`. SQLSTATE: 23505")
        keys.append(key)
        if cursor.at("="):
            cursor.fail(f"Operation not allowed: Values should not be specified for key(s): [{keys[-1]}].")
    cursor.expect(")")
    return tuple(keys)


def _property_key(cursor: Cursor) -> str:
    """One string, not several side by side: the next may be the value, as ``=`` may be left out."""
    return cursor.next().string if cursor.token.kind is Kind.STRING else ".".join(cursor.name_parts())


def _property_value(cursor: Cursor) -> str | None:
    equals = cursor.accept_any("=", "==") is not None
    token = cursor.token
    if token.kind is Kind.STRING:
        return cursor.string()
    if token.kind is Kind.NUMBER:
        if not cursor.token.text.replace(".", "", 1).isdigit():
            cursor.no_alternative()
        return cursor.next().text
    if token.key in ("TRUE", "FALSE"):
        return cursor.next().key.lower()
    return cursor.no_alternative() if equals else None


def position(cursor: Cursor) -> Position | None:
    if cursor.accept("FIRST"):
        return Position()
    return Position(after=cursor.identifier()) if cursor.accept("AFTER") else None


_COLUMN_CONSTRAINTS = (("PRIMARY", "KEY"), ("UNIQUE",), ("CHECK", "("), ("REFERENCES",))
_TABLE_CONSTRAINTS = (("PRIMARY", "KEY"), ("FOREIGN", "KEY"), ("UNIQUE", "("), ("CHECK", "("))


def column_definition(cursor: Cursor, types: TypeReader, *, nested: bool = False, placed: bool = False) -> ColumnDefinition:
    """``name type`` and its options in any order, each once. ``nested``: the name may be dotted; ``placed``: FIRST | AFTER may follow."""
    start = cursor.token.start
    path = cursor.name_parts() if nested else (cursor.identifier(),)
    cursor.accept(":")
    type_start = cursor.token.start
    type_ = types.read()
    type_text = cursor.text[type_start : cursor.last_end]
    found: dict[str, object] = {}
    while (option := _column_option(cursor, placed)) is not None:
        key, value = option
        if key in found:
            cursor.fail(f"Column option {key} is specified more than once for column {'.'.join(path)}")
        found[key] = value
    default_text = found.get("DEFAULT")
    return ColumnDefinition(
        path=path,
        type=type_,
        type_text=type_text,
        required="NOT NULL" in found,
        comment=_text(found.get("COMMENT")),
        default_text=_text(default_text),
        default=fold(default_text) if isinstance(default_text, str) else None,
        generated_text=_text(found.get("GENERATED")),
        position=found["POSITION"] if isinstance(found.get("POSITION"), Position) else None,  # type: ignore[arg-type]
        start=start,
        end=cursor.last_end,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _column_option(cursor: Cursor, placed: bool) -> tuple[str, object] | None:
    if cursor.accept("NOT", "NULL"):
        return "NOT NULL", True
    if cursor.accept("COMMENT"):
        return "COMMENT", cursor.string()
    if cursor.accept("DEFAULT"):
        return "DEFAULT", default_expression(cursor)
    if cursor.accept("GENERATED"):
        return "GENERATED", _generated(cursor)
    if placed and (where := position(cursor)) is not None:
        return "POSITION", where
    _refuse_constraint(cursor, *_COLUMN_CONSTRAINTS)
    return None


def refuse_table_constraint(cursor: Cursor) -> None:
    """Where a column's definition may begin, but for the first."""
    _refuse_constraint(cursor, *_TABLE_CONSTRAINTS)


def _refuse_constraint(cursor: Cursor, *begins: tuple[str, ...]) -> None:
    """Iceberg's tables have none."""
    if any(cursor.at(*words) for words in begins):
        feature = "The feature is not supported: Table does not support table constraint"
        cursor.fail(f"[UNSUPPORTED_FEATURE.TABLE_OPERATION] {feature}. SQLSTATE: 0A000")


def default_expression(cursor: Cursor) -> str:
    """The text of a DEFAULT expression: up to the next column option, comma or bracket."""
    first, start, depth = cursor.position, cursor.token.start, 0
    while not cursor.at_end and not (depth == 0 and _ends_default(cursor, first)):
        depth += (cursor.token.key in ("(", "[")) - (cursor.token.key in (")", "]"))
        cursor.next()
    if cursor.position == first:
        cursor.no_alternative()
    return cursor.text[start : cursor.last_end]


def _ends_default(cursor: Cursor, first: int) -> bool:
    if cursor.at_any(",", ")", ";", "COMMENT", "GENERATED", "FIRST", "AFTER", "CHECK", "PRIMARY", "UNIQUE", "REFERENCES", "CONSTRAINT"):
        return True
    previous = cursor.tokens[cursor.position - 1].key
    return cursor.at("NOT", "NULL") and cursor.position > first and previous != "IS"


def _generated(cursor: Cursor) -> str:
    start = cursor.tokens[cursor.position - 1].start
    cursor.expect_any("ALWAYS", "BY")
    cursor.accept("DEFAULT")
    cursor.expect("AS")
    if cursor.accept("IDENTITY"):
        if cursor.at("("):
            cursor.skip_balanced()
    else:
        cursor.skip_balanced()
    return cursor.text[start : cursor.last_end]


def column_definitions(cursor: Cursor, types: TypeReader, *, nested: bool = False, placed: bool = False) -> tuple[ColumnDefinition, ...]:
    """A comma list of definitions, up to the closing bracket or the end."""
    found = [column_definition(cursor, types, nested=nested, placed=placed)]
    while cursor.accept(","):
        refuse_table_constraint(cursor)
        found.append(column_definition(cursor, types, nested=nested, placed=placed))
    return tuple(found)


def name_list(cursor: Cursor) -> tuple[NameParts, ...]:
    """``a, b.c`` or ``(a, b.c)``."""
    bracketed = cursor.accept("(")
    names = [cursor.name_parts()]
    while cursor.accept(","):
        names.append(cursor.name_parts())
    if bracketed:
        cursor.expect(")")
    return tuple(names)


def if_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "EXISTS")


def if_not_exists(cursor: Cursor) -> bool:
    return cursor.accept("IF", "NOT", "EXISTS")


def with_clause(cursor: Cursor) -> Span | None:
    """``WITH [RECURSIVE] a [(c, ...)] AS (...), ...`` read whole, or None if no common table expression begins here."""
    if not cursor.at("WITH") or cursor.peek().key == "(":
        return None
    start = cursor.next().start
    cursor.accept("RECURSIVE")
    while True:
        cursor.identifier()
        if cursor.at("("):
            cursor.skip_balanced()
        if cursor.accept("MAX", "RECURSION", "LEVEL"):
            cursor.next()
        cursor.accept("AS")
        cursor.skip_balanced()
        if not cursor.accept(","):
            return Span(start, cursor.last_end)


_NOT_ALIASES = frozenset({"SET", "WHERE", "USING", "ON", "WHEN", "SELECT", "VALUES", "FROM"})


def table_alias(cursor: Cursor) -> str | None:
    """``[AS] name``; a list of column names behind it is refused where rows are changed."""
    if not cursor.accept("AS") and (not cursor.token.is_identifier or cursor.token.key in _NOT_ALIASES):
        return None
    alias = cursor.identifier()
    if cursor.at("("):
        cursor.fail(f"Columns aliases are not allowed here: {alias}")
    return alias


def rest(cursor: Cursor) -> Span:
    """Everything up to the end (a closing ``;`` left out); at least one token."""
    start = cursor.token.start
    if cursor.at_end or cursor.at(";"):
        cursor.no_alternative()
    cursor.position = len(cursor.tokens) - 1
    last = cursor.position - 1
    while cursor.tokens[last].key == ";":
        last -= 1
    return Span(start, cursor.tokens[last].end)
