"""SQL functions of the session over our tables (``CREATE TEMPORARY FUNCTION f() RETURN SELECT ...``): Spark keeps their text.

In that text a temporary view takes the place of each table of ours. It lives as long
as the function, and each call reads the newest version.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING

from icesql.parser import statements as s
from icesql.parser.text.edits import padded, quote
from icesql.parser.text.references import references
from icesql.parser.text.substitute import Replacement, substitute
from icesql.parser.text.token_groups import behind_words, name_at
from icesql.parser.text.tokens import Kind, tokenize
from icesql.spec.case_folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_numbers = itertools.count(1)


class TemporaryFunctions:
    """The functions over our tables that the session has, and the views below each."""

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._views: dict[str, tuple[str, ...]] = {}

    def run(self, statement: s.Other) -> DataFrame | None:
        """What Spark answers to a statement that makes or drops such a function; ``None`` for any other."""
        created, dropped = _created(statement.text), _dropped(statement.text)
        if created is not None:
            return self._create(created, statement)
        if dropped is not None and fold(dropped) in self._views:
            answer = self._session.spark_sql(statement.text)
            self._forget(dropped)
            return answer
        return None

    def refresh(self, text: str) -> None:
        """Bring the views of the functions that ``text`` may call up to date."""
        if not self._views:
            return
        named = {fold(token.name) for token in tokenize(text) if token.is_identifier}
        for name in self._views.keys() & named:
            for view in self._views[name]:
                kept = self._session.temporary_views.find(("global_temp", view))
                if kept is not None:
                    self._session.temporary_views.refresh_view(kept)

    def _create(self, name: str, statement: s.Other) -> DataFrame:
        """Raises Spark's errors; and for a table or version that is not there NotFoundError."""
        from icesql.session.rewrite.bound_text import source_of

        session, text = self._session, statement.text
        views, replacements = [], {}
        try:
            for reference in statement.references.tables:
                source = source_of(session, text, reference)
                if source is None:
                    continue
                views.append(f"_icesql_function{next(_numbers)}")
                query = f"SELECT * FROM {text[reference.start : reference.clause_end]}"
                session.temporary_views.create(views[-1], query, references(query), is_global=True)
                view = padded(quote("global_temp", views[-1]), reference.clause_end - reference.start)
                replacements[reference.start] = Replacement(view=view, full_name=source.address.parts)
            if not views and fold(name) not in self._views:
                return None
            answer = session.spark_sql(substitute(text, statement.references, replacements).text)
        except BaseException:
            self._drop(views)
            raise
        self._forget(name)
        if views:
            self._views[fold(name)] = tuple(views)
        return answer

    def _forget(self, name: str) -> None:
        self._drop(self._views.pop(fold(name), ()))

    def _drop(self, views: Iterable[str]) -> None:
        for view in views:
            self._session.spark.catalog.dropGlobalTempView(view)
            self._session.temporary_views.forget(f"global_temp.{view}")


def _created(text: str) -> str | None:
    """The function of ``CREATE [OR REPLACE] TEMPORARY FUNCTION [IF NOT EXISTS] name (``; ``None`` for any other statement."""
    tokens = tokenize(text)
    start = behind_words(tokens, behind_words(tokens, 0, "CREATE"), "OR", "REPLACE")
    at = behind_words(tokens, start, "TEMPORARY", "FUNCTION")
    if tokens[0].key != "CREATE" or at == start:
        return None
    name, end = name_at(tokens, behind_words(tokens, at, "IF", "NOT", "EXISTS"))
    return name[0] if len(name) == 1 and tokens[end].key == "(" else None


def _dropped(text: str) -> str | None:
    """The function of ``DROP TEMPORARY FUNCTION [IF EXISTS] name``; ``None`` for any other statement."""
    tokens = tokenize(text)
    at = behind_words(tokens, 0, "DROP", "TEMPORARY", "FUNCTION")
    if at == 0:
        return None
    name, end = name_at(tokens, behind_words(tokens, at, "IF", "EXISTS"))
    return name[0] if len(name) == 1 and tokens[end].kind is Kind.END else None
