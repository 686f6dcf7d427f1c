"""Statements as one line of text each: fields that hold their default are left out, spans and names show the text they stand for."""

from __future__ import annotations

import dataclasses
from enum import Enum

from icesql.errors import SqlError
from icesql.parser.constants import Constant
from icesql.parser.statements import Explain, Statement, TableName
from icesql.parser.text.names import References, Span, TableReference, TimeTravel


def render(value: object, text: str = "") -> str:
    match value:
        case Statement():
            return _fields(value, value.text)
        case SqlError():
            return f"SqlError({str(value).partition(chr(10))[0]!r})"
        case TableReference():
            return _reference(value, text)
        case TableName():
            return ".".join(value.parts)
        case Span():
            return repr(value.of(text))
        case References():
            return "[" + ", ".join(_reference(table, text) for table in value.tables) + "]"
        case Constant():
            return f"{value.type}:{_plain(value.value)}"
        case Enum():
            return str(value.value)
        case tuple():
            return "(" + ", ".join(render(item, text) for item in value) + ")"
        case _ if dataclasses.is_dataclass(value) and str(type(value).__module__).startswith("icesql.parser"):
            return _fields(value, text)
        case _ if dataclasses.is_dataclass(value):
            return str(value)
    return repr(value)


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    return _plain(value.value) if isinstance(value, Constant) else str(value) if not isinstance(value, str) else repr(value)


def _reference(table: TableReference, text: str) -> str:
    shown = ".".join(table.parts) + ("" if table.place.value == "from" else f" ({table.place.value})")
    if table.alias is not None:
        shown += f" as {table.alias}"
    if isinstance(table.time_travel, TimeTravel):
        shown += f" at {table.time_travel.kind} {table.time_travel.expression.of(text)}"
    return shown + (f" with {dict(table.options)}" if table.options else "")


def _fields(value: object, text: str) -> str:
    shown: list[str] = []
    for field in dataclasses.fields(value):  # type: ignore[arg-type]
        held = getattr(value, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if field.name in ("text", "start", "end", "span") or held == default or (isinstance(held, References) and not held.tables):
            continue
        inner = text if not (isinstance(value, Explain) and field.name == "statement") else value.body.of(text)
        shown.append(f"{field.name}={render(held, inner)}")
    return f"{type(value).__name__}({', '.join(shown)})"
