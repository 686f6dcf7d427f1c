"""Metadata columns (``_file``, ``_pos``, ...) in queries: there when named, hidden from ``SELECT *``.

A view has no hidden columns, so a view over a table whose metadata columns the text names shows them, and stars in the same SELECT
leave them out. PIVOT and UNPIVOT group by every column that they do not name, so the view below one has only the metadata columns that it
names; the output of one has no metadata columns, so stars over it stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from icesql.parser.text.edits import Edit, quote
from icesql.parser.text.token_groups import behind_brackets
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.spec.case_folding import fold
from icesql.spec.metadata import TableMetadata
from icesql.spec.metadata_columns import LINEAGE
from icesql.spec.schema import Schema
from icesql.table.scan.metadata_columns import NAMES, metadata_column

_BEFORE_STAR = frozenset({"SELECT", "DISTINCT", "ALL", ",", "*/"})
_SET_OPERATORS = frozenset({"UNION", "INTERSECT", "MINUS", "EXCEPT"})
_PIVOTS = frozenset({"PIVOT", "UNPIVOT"})
_BEHIND_PIVOT = frozenset({"(", "INCLUDE", "EXCLUDE"})
_LINEAGE = frozenset(field.name for field in LINEAGE)
_KNOWN = frozenset(fold(name) for name in NAMES)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A reference's place and alias, and the metadata columns that its view shows."""

    start: int
    alias: str
    columns: tuple[str, ...]


def named_metadata_columns(text: str) -> frozenset[str]:
    """Those that occur as identifiers in the text, in lower case."""
    lowered = text.lower()
    if not any(name in lowered for name in _KNOWN):
        return frozenset()
    return frozenset(fold(token.name) for token in tokenize(text) if token.is_identifier) & _KNOWN


def named_for(text: str, start: int, named: frozenset[str]) -> frozenset[str]:
    """The named columns that the view of the reference at ``start`` must have: all, or those that its PIVOT names."""
    if not named:
        return named
    tokens = tokenize(text)
    pivot = _pivot_behind(tokens, scopes_of(tokens), start)
    return named if pivot is None else frozenset(fold(token.name) for token in pivot if token.is_identifier) & named


def _pivot_behind(tokens: Sequence[Token], scopes: Sequence[tuple[int, int]], start: int) -> Sequence[Token] | None:
    """The first PIVOT or UNPIVOT clause behind the token at ``start``, in the same FROM."""
    first = next(at for at, token in enumerate(tokens) if token.start == start)
    for at in range(first + 1, len(tokens) - 1):
        if scopes[at] == scopes[first] and tokens[at].key in _PIVOTS and tokens[at + 1].key in _BEHIND_PIVOT:
            opened = next((i for i in range(at, len(tokens)) if tokens[i].key == "("), at)
            return tokens[at : behind_brackets(tokens, opened)]
    return None


def shown_columns(metadata: TableMetadata, schema: Schema, named: Iterable[str], *, of_changes: bool = False) -> tuple[str, ...]:
    """The metadata columns of the table among those named; a column of the table's own of that name comes first. ``of_changes``: those
    of its ``changes``, which have no row lineage."""
    wanted = [name for name in NAMES if fold(name) in set(named) and not (of_changes and name in _LINEAGE)]
    return tuple(n for n in wanted if metadata_column(metadata, n) is not None and schema.find(n, case_sensitive=False) is None)


def star_edits(text: str, hidden: Sequence[Hidden]) -> Iterator[Edit]:
    """``*`` and ``t.*`` of a SELECT that reads such a view -> ``* EXCEPT (t._file)``."""
    if not hidden:
        return
    tokens = tokenize(text)
    scopes = scopes_of(tokens)
    by_start = {token.start: scope for token, scope in zip(tokens, scopes, strict=True)}
    in_scope: dict[tuple[int, int], list[Hidden]] = {}
    for reference in hidden:
        if _pivot_behind(tokens, scopes, reference.start) is None:
            in_scope.setdefault(by_start[reference.start], []).append(reference)
    for at, token in enumerate(tokens):
        if token.key != "*" or at == 0 or scopes[at] not in in_scope:
            continue
        before = tokens[at - 1].key
        if before in _BEFORE_STAR:
            yield from _except(tokens, at, in_scope[scopes[at]])
        elif before == "." and at > 1:
            alias = fold(tokens[at - 2].name)
            yield from _except(tokens, at, [h for h in in_scope[scopes[at]] if fold(h.alias) == alias])


def scopes_of(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """For each token its scope: the number of the bracket around it, and the index of its query in a set operation there."""
    stack, parts = [0], {0: 0}
    brackets = 0
    scopes = []
    for at, token in enumerate(tokens):
        if token.key == "(":
            scopes.append((stack[-1], parts[stack[-1]]))
            brackets += 1
            stack.append(brackets)
            parts[brackets] = 0
            continue
        if token.key == ")" and len(stack) > 1:
            stack.pop()
        elif token.key in _SET_OPERATORS and not (token.key == "EXCEPT" and at and tokens[at - 1].key == "*"):
            parts[stack[-1]] += 1
        scopes.append((stack[-1], parts[stack[-1]]))
    return scopes


def _except(tokens: Sequence[Token], at: int, hidden: Sequence[Hidden]) -> Iterator[Edit]:
    names = ", ".join(f"{quote(h.alias)}.{quote(column)}" for h in hidden for column in h.columns)
    if not names:
        return
    following = tokens[at + 1]
    if following.key == "EXCEPT" and tokens[at + 2].key == "(":
        yield Edit(tokens[at + 2].end, tokens[at + 2].end, names + ", ")
    elif following.kind is Kind.END or following.key != "EXCEPT":
        yield Edit(tokens[at].end, tokens[at].end, f" EXCEPT ({names})")


__all__ = ["Hidden", "named_for", "named_metadata_columns", "scopes_of", "shown_columns", "star_edits"]
