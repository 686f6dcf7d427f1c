"""``current_catalog()``, ``current_schema()`` and ``current_database()`` where the current catalog is one of ours.

Spark knows only where it is itself, so the calls become literals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from icesql.parser.text.edits import Edit, quote
from icesql.parser.text.parameters import quoted_string
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.session.output.table_text import quoted_if_needed

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

_SHOWN = {"CURRENT_CATALOG": "current_catalog()", "CURRENT_SCHEMA": "current_schema()", "CURRENT_DATABASE": "current_schema()"}
_ENDS = frozenset({",", ")", ";", "FROM", "WHERE", "UNION", "LIMIT", "ORDER"})


def current_name_edits(session: SessionState, text: str) -> Iterator[Edit]:
    """One edit a call: a literal, which keeps the call's name where it is a column of its own."""
    if not session.names.is_ours or "current_" not in text.lower():
        return
    tokens = tokenize(text)
    for at in range(len(tokens) - 3):
        shown = _SHOWN.get(tokens[at].key)
        if shown is None or (tokens[at + 1].key, tokens[at + 2].key) != ("(", ")") or (at and tokens[at - 1].key == "."):
            continue
        alias = f" AS {quote(shown)}" if _is_column(tokens, at) else ""
        yield Edit(tokens[at].start, tokens[at + 2].end, _literal(session, shown) + alias)


def _literal(session: SessionState, shown: str) -> str:
    names = session.names
    namespace = quoted_if_needed(*names.current_namespace)
    value = names.current_catalog if shown == "current_catalog()" else namespace
    return quoted_string(value)


def _is_column(tokens: Sequence[Token], at: int) -> bool:
    """Whether the call is a whole item of a select list."""
    following = tokens[at + 3]
    if following.key not in _ENDS and following.kind is not Kind.END:
        return False
    depth = 0
    for place in range(at - 1, -1, -1):
        key = tokens[place].key
        depth += (key in (")", "]")) - (key in ("(", "["))
        if depth < 0:
            return False
        if depth == 0 and key in ("SELECT", "WHERE", "FROM", "VALUES", "BY", "ON", "HAVING"):
            before = tokens[at - 1].key
            return key == "SELECT" and (before == "," or (place >= at - 2 and before in ("SELECT", "DISTINCT", "ALL")))
    return False
