"""Names in MERGE clauses that see one side only: NOT MATCHED sees the source, NOT MATCHED BY SOURCE the table.

Both sides are columns of one join here, so a bare name that both have is given the alias of the side it means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from icesql.parser.text.edits import Edit, quote, rewrite
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.spec.case_folding import fold

_QUERY = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})


def qualified(text: str, names: frozenset[str], alias: str, qualifiers: frozenset[str]) -> str:
    """The expression with its bare columns among ``names`` as columns of ``alias``. Subqueries are left as they are.

    ``qualifiers``: the aliases of both sides, which before a dot are no columns. Names and qualifiers are in lower case.
    """
    tokens = tokenize(text)
    columns = names - _lambda_variables(tokens)
    edits = [
        Edit(token.start, token.start, f"{quote(alias)}.")
        for at, token in outside_subqueries(tokens)
        if token.is_identifier
        and fold(token.name) in columns
        and _is_column(tokens, at)
        and not (tokens[at + 1].key == "." and fold(token.name) in qualifiers)
    ]
    return rewrite(text, edits).text


def outside_subqueries(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens with their places, but for those of subqueries in brackets."""
    depth = 0
    for at, token in enumerate(tokens):
        if depth:
            depth += {"(": 1, ")": -1}.get(token.key, 0)
        elif token.key == "(" and tokens[at + 1].key in _QUERY:
            depth = 1
        else:
            yield at, token


def _is_column(tokens: Sequence[Token], at: int) -> bool:
    """Not a part of a longer name, a function, a type (``CAST(x AS date)``, ``date '2020-01-01'``), a unit, or an argument's name."""
    before, after = tokens[at - 1] if at else None, tokens[at + 1]
    if after.key in ("(", "=>", "FROM") or after.kind is Kind.STRING:
        return False
    return before is None or not (before.key in (".", "AS", "::") or before.kind in (Kind.NUMBER, Kind.STRING))


def _lambda_variables(tokens: Sequence[Token]) -> frozenset[str]:
    """The names before each ``->``: one, or several in brackets."""
    variables: set[str] = set()
    for at, token in enumerate(tokens):
        if token.key != "->" or at == 0:
            continue
        back = at - 1
        if tokens[back].key != ")":
            variables.add(fold(tokens[back].name))
            continue
        while back > 0 and tokens[back].key != "(":
            back -= 1
            if tokens[back].is_identifier:
                variables.add(fold(tokens[back].name))
    return frozenset(variables)
