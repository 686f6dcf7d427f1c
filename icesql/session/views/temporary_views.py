"""Temporary views over our tables. Spark cannot find our tables in a view's text, so icesql keeps the text and gives Spark a plan.

When a table below a view has changed, the view is created anew before the next statement that reads it, so it shows current rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from icesql.errors import IcesqlError
from icesql.parser.text.edits import quote
from icesql.parser.text.identifiers import parse_name
from icesql.parser.text.names import Place, References, TableReference
from icesql.parser.text.parameters import quoted_pairs, quoted_string
from icesql.parser.text.references import references as find_references
from icesql.session.resolve.ambiguous_columns import refuse_doubled
from icesql.session.resolve.path_tables import is_path, require_named
from icesql.session.resolve.resolved import MetadataTable, Missing, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import resolve
from icesql.session.resolve.stored_views import view_references, written_in
from icesql.session.resolve.view_columns import as_made
from icesql.session.rewrite.bound_text import bound
from icesql.session.views.named_reads import read_named
from icesql.spec.case_folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


@dataclass(frozen=True, slots=True)
class KeptView:
    """``text`` and where the session was when the view was made; ``state``: the versions of the tables below it when it was last made.

    ``query_columns`` are the names that the query's columns had then, ``made`` is the DataFrame of that time, whose columns it keeps.
    ``make``: what makes the view again where there is no text. ``over``: the table that a view ``USING iceberg`` is, which is written
    through it.
    """

    name: str
    text: str
    references: References
    query_columns: tuple[str, ...]
    made: Any
    catalog: str
    namespace: tuple[str, ...]
    state: tuple[str, ...]
    is_global: bool = False
    make: Callable[[], Any] | None = None
    over: OverTable | None = None


@dataclass(frozen=True, slots=True)
class OverTable:
    """``OPTIONS (path '...')``: the table by its name or its folder, and the other options, of reads and writes, keys in lower case."""

    path: str
    options: Mapping[str, str]

    @property
    def text(self) -> str:
        """The query of the view; ``""`` for a folder, which no query can name."""
        if is_path(self.path):
            return ""
        return f"SELECT * FROM {quote(*parse_name(self.path))}" + (f" WITH ({quoted_pairs(self.options)})" if self.options else "")

    def frame(self, session: SessionState) -> DataFrame:
        return read_named(session, self.path, self.options)


class TemporaryViews:
    def __init__(self, session: SessionState) -> None:
        self._session = session
        self._views: dict[str, KeptView] = {}

    def create(
        self, name: str, text: str, references: References, *, columns: tuple[str, ...] = (), replace: bool = False, is_global: bool = False
    ) -> None:
        """Make the view in Spark, and remember it. Raises SqlError for two columns of one name, Spark's own error for a name that is
        taken."""
        self._create(name, text, references, columns=columns, replace=replace, is_global=is_global)

    def create_over(self, name: str, over: OverTable, *, replace: bool = False, is_global: bool = False) -> None:
        """As ``create`` for ``USING iceberg``."""
        self._create(name, over.text, find_references(over.text), over, replace=replace, is_global=is_global)

    def _create(
        self,
        name: str,
        text: str,
        references: References,
        over: OverTable | None = None,
        *,
        columns: tuple[str, ...] = (),
        replace: bool = False,
        is_global: bool = False,
    ) -> None:
        query, state = self._frame(text, references, over)
        frame = query.toDF(*columns) if columns else query
        refuse_doubled(frame.columns, self._key_of_columns)
        if is_global:
            (frame.createOrReplaceGlobalTempView if replace else frame.createGlobalTempView)(name)
        else:
            (frame.createOrReplaceTempView if replace else frame.createTempView)(name)
        catalog, namespace = self._session.names.current_catalog, self._session.names.current_namespace
        view = KeptView(name, text, references, tuple(query.columns), frame, catalog, namespace, state, is_global, over=over)
        self._views[self._key(name, is_global)] = view

    def create_from(self, name: str, make: Callable[[], Any], table: tuple[str, ...]) -> None:
        """A view that ``make`` makes, again when the table has changed. What it raises of ours is raised when the view is read."""
        session = self._session
        references = References(tables=(TableReference(parts=table, start=0, end=0, place=Place.FROM, clause_end=0),))
        state: tuple[str, ...] = ()
        try:
            make().createOrReplaceTempView(name)
            state = self._state(references)
        except IcesqlError as error:
            reason = quoted_string(str(error))
            session.spark_sql(f"SELECT * FROM VALUES (1) WHERE raise_error({reason}) IS NULL").createOrReplaceTempView(name)
        where, key = session.names, name.strip("`")
        view = KeptView(key, "", references, (), None, where.current_catalog, where.current_namespace, state, make=make)
        self._views[self._key(key, False)] = view

    def find(self, parts: Sequence[str]) -> KeptView | None:
        """The temporary view over tables of ours that a name leads to."""
        view = self._views.get(fold(".".join(parts)))
        if view is not None and not view.is_global and not self._session.is_temporary_view(view.name):
            self.forget(view.name)
            return None
        return view

    def forget(self, name: str) -> None:
        self._views.pop(fold(name), None)

    def refresh(self, references: References) -> None:
        """Make stale views that a statement names again, with all they stand on."""
        if not self._views:
            return
        for reference in references.tables:
            view = self._views.get(fold(".".join(reference.parts)))
            if view is not None:
                self.refresh_view(view)

    def refresh_view(self, view: KeptView) -> None:
        """Make it again, with all it stands on, if a table below has changed."""
        session = self._session
        if not view.is_global and not session.is_temporary_view(view.name):
            self.forget(view.name)
            return
        with session.names.at(view.catalog, view.namespace):
            self.refresh(view.references)
            state = self._state(view.references, view.over)
            if state != view.state and view.make is not None:
                view.make().createOrReplaceTempView(quote(view.name))
                self._views[self._key(view.name, False)] = replace(view, state=state)
            elif state != view.state:
                self._make_again(view)

    def _make_again(self, view: KeptView) -> None:
        """Raises SqlError where the query has the view's columns no more, or not of their types."""
        query, state = self._frame(view.text, view.references, view.over)
        name = quote("global_temp", view.name) if view.is_global else quote(view.name)
        frame = as_made(query, view.query_columns, view.made.schema, self._key_of_columns, name)
        (frame.createOrReplaceGlobalTempView if view.is_global else frame.createOrReplaceTempView)(view.name)
        self._views[self._key(view.name, view.is_global)] = replace(view, state=state)

    def _frame(self, text: str, references: References, over: OverTable | None) -> tuple[Any, tuple[str, ...]]:
        if over is not None and not text:
            return over.frame(self._session), self._state(references, over)
        with bound(self._session, text, references, unpinned=True) as query:
            frame = query.frame()
        return frame, self._state(references)

    def _state(self, references: References, over: OverTable | None = None) -> tuple[str, ...]:
        """The metadata files of the tables of ours that a text names, and the states of the views of ours below it."""
        session = self._session
        if over is not None and not references.tables:
            return (f"{over.path}@{require_named(session, over.path).table.metadata_location}",)
        states: list[str] = []
        for reference in references.tables:
            below = self._views.get(fold(".".join(reference.parts)))
            if below is not None:
                states.extend(below.state)
                continue
            match resolve(session, reference.parts):
                case ResolvedTable() | MetadataTable() as table:
                    states.append(f"{table.dotted}@{table.table.metadata_location}")
                case StoredView(address, stored):
                    states.append(f"{address.dotted}@{stored.view_uuid}:{stored.current_version_id}")
                    with written_in(session, address, stored):
                        states.extend(self._state(view_references(stored)))
                case TemporaryView() | SparkOwned() | Missing():
                    pass
        return tuple(states)

    def _key_of_columns(self, name: str) -> str:
        return self._session.name_key(name)

    @staticmethod
    def _key(name: str, is_global: bool) -> str:
        return f"global_temp.{name}".lower() if is_global else fold(name)
