"""Refusal of stored views that name temporary views or functions of the session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.parser.text.edits import quote
from icesql.parser.text.token_groups import name_at
from icesql.parser.text.tokens import Kind, tokenize
from icesql.session.state.names import Address
from icesql.spark.jvm.spark_session import has_table, has_temporary_function
from icesql.spec.case_folding import fold

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def refuse_temporary(session: SessionState, statement: s.CreateView, address: Address) -> None:
    """Raises UnsupportedError for a query that names what ends with the session."""
    for kind, name in _temporary(session, statement):
        raise UnsupportedError(f"Cannot create view {address.dotted} that references temporary {kind}: [{name}]")


def _temporary(session: SessionState, statement: s.CreateView) -> Iterator[tuple[str, str]]:
    for reference in statement.references.tables:
        parts = reference.parts
        hidden = fold(parts[0]) in statement.references.temporary  # by a WITH of the query
        if (session.is_temporary_view(*parts) and not hidden) or _is_global(session, parts):
            yield "view", ".".join(parts)
    for name in _called(statement.query.of(statement.text)):
        if has_temporary_function(session.spark, name):
            yield "function", name


def _is_global(session: SessionState, parts: tuple[str, ...]) -> bool:
    return len(parts) == 2 and fold(parts[0]) == "global_temp" and has_table(session.spark, quote(*parts))


def _called(text: str) -> Iterator[str]:
    """Names of one part before a bracket: functions, and some words of the grammar, which no function of a session is called."""
    tokens = tokenize(text)
    at = 0
    while tokens[at].kind is not Kind.END:
        name, end = name_at(tokens, at)
        if len(name) == 1 and tokens[end].key == "(":
            yield name[0]
        at = max(end, at + 1)
