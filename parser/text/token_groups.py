"""Tokens that belong together: dotted names, what stands between brackets, and what between commas."""

from __future__ import annotations

from collections.abc import Container, Sequence

from icesql.parser.text.names import NameParts
from icesql.parser.text.tokens import Kind, Token

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


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


def items(tokens: Sequence[Token], at: int = 0, stops: Container[str] = ()) -> list[list[Token]]:
    """The tokens between commas that stand in no bracket, from ``at`` on up to one of ``stops``, a closing bracket or the end."""
    found: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[at:]:
        if token.kind is Kind.END or (depth == 0 and (token.key in stops or token.key in _CLOSING)):
            break
        depth += (token.key in _OPENING) - (token.key in _CLOSING)
        if depth == 0 and token.key == ",":
            found.append([])
        else:
            found[-1].append(token)
    return found


def behind_brackets(tokens: Sequence[Token], at: int) -> int:
    """The index behind the bracket that closes the one at ``at``; that of the END token, or behind the last, where none does."""
    depth = 0
    for index in range(at, len(tokens)):
        token = tokens[index]
        if token.kind is Kind.END:
            return index
        depth += (token.key in _OPENING) - (token.key in _CLOSING)
        if depth == 0:
            return index + 1
    return len(tokens)
