"""Which columns of a metadata table a statement needs: those it names; all of them where it has a star, NATURAL, PIVOT or the like.

Columns that are not needed are not computed: ``count(*)`` over ``files`` decodes no metrics.
"""

from __future__ import annotations

from collections.abc import Sequence

from icesql.parser.text.names import TableReference
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.session.rewrite.hidden_columns import scopes_of
from icesql.spec.case_folding import fold

_MEAN_ALL = frozenset({"NATURAL", "PIVOT", "UNPIVOT", "TABLE", "IDENTIFIER", "|>"})
_BEFORE_STAR_OF_COLUMNS = frozenset({"SELECT", "DISTINCT", "ALL", "INSERT", "SET", ",", ".", "*/"})


def needed_columns(text: str, reference: TableReference, columns: Sequence[str]) -> tuple[str, ...] | None:
    """The columns, in their order, that occur in the text in any case; at least one. ``None``: all may be needed."""
    tokens = tokenize(text)
    if any(token.key in _MEAN_ALL for token in tokens) or _has_star(tokens) or _selects_all(tokens) or _renames(tokens, reference):
        return None
    words = {fold(token.name) for token in tokens if token.is_identifier}
    for token in tokens:
        if token.kind is Kind.STRING:
            words.add(token.text.strip("\"'").lower())  # a name, where double quotes mean identifiers
    return tuple(column for column in columns if fold(column) in words) or tuple(columns[:1])


def _has_star(tokens: Sequence[Token]) -> bool:
    """Whether a ``*`` stands for columns: neither a product nor the one of ``count(*)``."""
    for at, token in enumerate(tokens):
        if token.key != "*":
            continue
        before = tokens[at - 1].key if at else "SELECT"
        if before in _BEFORE_STAR_OF_COLUMNS or (before == "(" and (at < 2 or tokens[at - 2].key != "COUNT")):
            return True
    return False


def _selects_all(tokens: Sequence[Token]) -> bool:
    """Whether a FROM has no SELECT beside it: ``FROM t`` alone yields every column."""
    scopes = scopes_of(tokens)
    selecting = {scope for token, scope in zip(tokens, scopes, strict=True) if token.key == "SELECT"}
    return any(token.key == "FROM" and scope not in selecting for token, scope in zip(tokens, scopes, strict=True))


def _renames(tokens: Sequence[Token], reference: TableReference) -> bool:
    """Whether the reference gives its columns names by their places: ``t AS x(a, b)``."""
    if reference.alias is None:
        return False
    behind = [token for token in tokens if token.start >= max(reference.end, reference.clause_end)]
    if behind and behind[0].key == "AS":
        behind = behind[1:]
    return len(behind) > 1 and behind[1].key == "("
