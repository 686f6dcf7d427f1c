"""Tokens that belong together: dotted names, words in a row, what stands between brackets, and what between commas."""

from __future__ import annotations

from collections.abc import Container, Sequence

from icesql.parser.text.names import NameParts, Span
from icesql.parser.text.tokens import Kind, Token, tokenize

QUERY_WORDS = frozenset({"SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE", "("})
"""What a query begins with."""
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


def name_place(text: str, parts: Sequence[str], *, behind: int = 0) -> Span | None:
    """Where the dotted name first stands in the text, from ``behind`` on; ``None`` where it does not."""
    tokens = tokenize(text)
    at = 0
    while at < len(tokens):
        name, end = name_at(tokens, at)
        if name == tuple(parts) and tokens[at].start >= behind:
            return Span(tokens[at].start, tokens[end - 1].end)
        at = max(end, at + 1)
    return None


def items(tokens: Sequence[Token], at: int = 0, stops: Container[str] = ()) -> list[list[Token]]:
    """The tokens between commas that stand in no bracket, from ``at`` on up to one of ``stops``, a closing bracket or the end."""
    groups: list[list[Token]] = [[]]
    depth = 0
    for token in tokens[at:]:
        if token.kind is Kind.END or (depth == 0 and (token.key in stops or token.key in _CLOSING)):
            break
        depth += (token.key in _OPENING) - (token.key in _CLOSING)
        if depth == 0 and token.key == ",":
            groups.append([])
        else:
            groups[-1].append(token)
    return groups


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


def behind_words(tokens: Sequence[Token], at: int, *words: str) -> int:
    """The index behind these keywords if they stand at ``at``, else ``at``."""
    behind = at + len(words)
    return behind if [token.key for token in tokens[at:behind]] == [*words] else at


def is_query(text: str) -> bool:
    """Whether the text begins as a query does. Raises SqlError for an unclosed string, name or comment."""
    return tokenize(text)[0].key in QUERY_WORDS


def is_null(text: str) -> bool:
    """Whether an expression is a bare ``NULL``, perhaps in brackets. Raises SqlError for an unclosed string, name or comment."""
    return [token.key for token in tokenize(text)[:-1] if token.key not in ("(", ")")] == ["NULL"]
