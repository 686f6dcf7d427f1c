"""Tokens that belong together: dotted names, and what stands between brackets."""

from __future__ import annotations

from collections.abc import Sequence

from icesql.parser.names import NameParts
from icesql.parser.tokens import Kind, Token


def name_at(tokens: Sequence[Token], at: int) -> tuple[NameParts, int]:
    """The parts of the dotted name that begins at a token, and the index behind it; ``()`` and ``at`` where none does."""
    parts: list[str] = []
    end = at
    while tokens[end].is_identifier:
        parts.append(tokens[end].name)
        end += 1
        if tokens[end].key != "." or not tokens[end + 1].is_identifier:
            break
        end += 1
    return tuple(parts), end


def behind_brackets(tokens: Sequence[Token], at: int) -> int:
    """The index behind the bracket that closes the one at ``at``; that of the END token, or behind the last, where none does."""
    depth = 0
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.kind is Kind.END:
            return index
        depth += (token.key in ("(", "[", "{")) - (token.key in (")", "]", "}"))
        if depth == 0:
            return index + 1
    return len(tokens)
