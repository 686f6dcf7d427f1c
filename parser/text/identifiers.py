"""Dotted names given as text of their own, as arguments of calls and procedures are."""

from __future__ import annotations

import re

from icesql.errors import SqlError
from icesql.parser.text.names import NameParts

_BLANK = r"(?:\s|--[^\n]*|/\*.*?\*/)*"
_PART = re.compile(rf"{_BLANK}(?:`((?:[^`]|``)+)`|(\w+)){_BLANK}", re.DOTALL)


def parse_name(text: str) -> NameParts:
    """``local.db.`my t``` -> ``("local", "db", "my t")``. Blanks and comments may stand around dots; a bare number is no name.

    Raises SqlError with the place.
    """
    parts: list[str] = []
    at = 0
    while True:
        match = _PART.match(text, at)
        if match is None or (match[2] is not None and match[2].isdigit()):
            raise SqlError(f"Cannot parse name: {text!r}", text=text, line=1, column=at + 1)
        parts.append(match[2] if match[1] is None else match[1].replace("``", "`"))
        at = match.end()
        if at == len(text):
            return tuple(parts)
        if text[at] != ".":
            raise SqlError(f"Cannot parse name: {text!r}", text=text, line=1, column=at + 1)
        at += 1
