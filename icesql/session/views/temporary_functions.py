"""SQL functions of the session over our tables (``CREATE TEMPORARY FUNCTION f() RETURN SELECT ...``): Spark keeps their text.

In that text a table of ours stands for a temporary view that stays as long as the function, and shows the present when it is called.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s
from icesql.parser.text.references import references
from icesql.parser.text.substitute import Replacement, substitute
from icesql.parser.text.tokens import tokenize
from icesql.session.rewrite.places import padded, quote

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

_CREATE = re.compile(r"\s*CREATE\s+(?:OR\s+REPLACE\s+)?TEMPORARY\s+FUNCTION\s+(?:IF\s+NOT\s+EXISTS\s+)?(`[^`]+`|\w+)\s*\(", re.I)
_DROP = re.compile(r"\s*DROP\s+TEMPORARY\s+FUNCTION\s+(?:IF\s+EXISTS\s+)?(`[^`]+`|\w+)\s*$", re.I)
_numbers = itertools.count(1)


class TemporaryFunctions:
    """The functions over our tables that the session has, and the views below each."""

    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._views: dict[str, tuple[str, ...]] = {}

    def run(self, statement: s.Other) -> Any:
        """What Spark answers to a statement that makes or drops such a function; ``None`` for any other."""
        if created := _CREATE.match(statement.text):
            return self._create(created[1].strip("`"), statement)
        if (dropped := _DROP.match(statement.text)) and dropped[1].strip("`").lower() in self._views:
            answer = self._session.spark_sql(statement.text)
            self._forget(dropped[1].strip("`"))
            return answer
        return None

    def refresh(self, text: str) -> None:
        """Bring the views of the functions that ``text`` may call up to date."""
        if not self._views:
            return
        named = {token.name.lower() for token in tokenize(text) if token.is_identifier}
        for name in self._views.keys() & named:
            for view in self._views[name]:
                found = self._session.temporary_views.find(("global_temp", view))
                if found is not None:
                    self._session.temporary_views.refresh_view(found)

    def _create(self, name: str, statement: s.Other) -> Any:
        """Raises Spark's errors; and for a table or version that is not there NotFoundError."""
        from icesql.session.rewrite.bound_text import source_of

        session, text, found = self._session, statement.text, statement.references
        views, replacements = [], {}
        try:
            for reference in found.tables:
                source = source_of(session, text, reference)
                if source is None:
                    continue
                views.append(f"_icesql_function{next(_numbers)}")
                query = f"SELECT * FROM {text[reference.start : reference.clause_end]}"
                session.temporary_views.create(views[-1], query, references(query), is_global=True)
                view = padded(quote("global_temp", views[-1]), reference.clause_end - reference.start)
                replacements[reference.start] = Replacement(view=view, full_name=source.address.parts)
            if not views and name.lower() not in self._views:
                return None
            answer = session.spark_sql(substitute(text, found, replacements).text)
        except BaseException:
            self._drop(views)
            raise
        self._forget(name)
        if views:
            self._views[name.lower()] = tuple(views)
        return answer

    def _forget(self, name: str) -> None:
        self._drop(self._views.pop(name.lower(), ()))

    def _drop(self, views: Any) -> None:
        for view in views:
            self._session.spark.catalog.dropGlobalTempView(view)
            self._session.temporary_views.forget(f"global_temp.{view}")
