"""Calls of ``catalog.system.bucket(...)`` and its kin in a text, written as Spark can resolve them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from icesql.parser.text.edits import Edit, padded
from icesql.parser.text.token_groups import name_at
from icesql.parser.text.tokens import Kind, tokenize
from icesql.session.sql_errors import function_not_found
from icesql.spark.functions.system_functions import FUNCTIONS, registered_name
from icesql.spec.case_folding import fold, folded

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

SYSTEM = "system"
_BEFORE_OTHER_NAMES = frozenset({".", "CALL", "INTO", "TABLE", "EXISTS", "VIEW"})  # of procedures and relations, which a ( may follow


def function_edits(session: SessionState, text: str) -> Iterator[Edit]:
    """One edit a call. Raises NotFoundError for a function that ``system`` does not have."""
    lowered = text.lower()
    if not any(name in lowered for name in FUNCTIONS) and SYSTEM not in lowered:
        return
    tokens = tokenize(text)
    at = 0
    while tokens[at].kind is not Kind.END:
        name, end = name_at(tokens, at)
        if not name:
            at += 1
            continue
        if tokens[end].key == "(" and (not at or tokens[at - 1].key not in _BEFORE_OTHER_NAMES):
            function = _function(session, name)
            if function is not None:
                start, stop = tokens[at].start, tokens[end - 1].end
                yield Edit(start, stop, padded(registered_name(session.spark, function), stop - start))
        at = end


def _function(session: SessionState, name: tuple[str, ...]) -> str | None:
    """Which of our functions a called name means, ``None`` if it is Spark's."""
    names = session.names
    known = fold(name[-1]) in FUNCTIONS
    if len(name) > 1 and name[0] in session.catalogs:
        where = folded(name[1:-1])
        if known and where in ((), (SYSTEM,)):
            return name[-1]
        if where == (SYSTEM,):
            raise function_not_found(name)
        return None
    if not known or not names.is_ours:
        return None
    if len(name) == 2 and fold(name[0]) == SYSTEM:
        return name[-1]
    return name[-1] if len(name) == 1 and names.current_namespace in ((), (SYSTEM,)) else None
