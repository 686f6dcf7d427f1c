"""What a statement says, however it is laid out: two texts of one meaning give equal values."""

from __future__ import annotations

import dataclasses
from enum import Enum

from icesql.parser.constants import Constant
from icesql.parser.statements import Explain, Statement
from icesql.parser.text.names import References, Span, TableName, TimeTravel
from icesql.parser.text.tokens import tokenize

LAYOUT = frozenset({"text", "start", "end", "span", "clause_end", "alias_at", "type_text", "references"})


def meaning(value: object, text: str = "", *, expressions: bool = True) -> object:
    """Spans become the tokens they enclose; with ``expressions`` False only whether there is one."""
    if isinstance(value, Statement):
        text = value.text
    if isinstance(value, Explain):
        return ("Explain", value.mode, meaning(value.statement, expressions=expressions))
    if isinstance(value, Span):
        return tuple(token.key or token.text for token in tokenize(value.of(text))[:-1]) if expressions else "..."
    if isinstance(value, TableName):
        return value.parts
    if isinstance(value, tuple):
        return tuple(meaning(item, text, expressions=expressions) for item in value)
    if isinstance(value, Constant | Enum | References) or not dataclasses.is_dataclass(value):
        return " ".join(value.split()) if isinstance(value, str) and not expressions else value
    left_out = LAYOUT if expressions else LAYOUT | {"default_text", "default", "value", "is_default", "source_alias"}
    fields = [field.name for field in dataclasses.fields(value) if field.name not in left_out]
    return (type(value).__name__, *((name, meaning(getattr(value, name), text, expressions=expressions)) for name in fields))


def tables(statement: Statement) -> list[object]:
    """The tables that a statement reads, with their aliases, options and time travel."""
    read: References = getattr(statement, "references", References())
    return [(table.parts, table.alias, table.options, _travel(table.time_travel)) for table in read.tables]


def _travel(travel: TimeTravel | None) -> object:
    return None if travel is None else (travel.kind, travel.value)
