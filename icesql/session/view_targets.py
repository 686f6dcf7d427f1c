"""Views where a statement changes rows: Spark takes only a DELETE of whole files through a view that shows a table as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icesql.errors import SqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.names import References
from icesql.parser.tokens import tokenize
from icesql.session.names import Found
from icesql.session.rewriting import line_and_column
from icesql.session.sql_errors import quoted
from icesql.session.views import SPARK_DIALECT, find_view, view_references, written_in

if TYPE_CHECKING:
    from icesql.session.session import Session

_WHOLE = (("SELECT", "*", "FROM"), ("TABLE",))


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewTarget:
    """A view that a statement names as its target. ``table``: what it shows as it is, ``None`` for any other query."""

    table: Found | None

    def refusal(self, operation: str) -> UnsupportedError:
        """As Spark refuses UPDATE TABLE and MERGE INTO TABLE."""
        table = "`unknown`" if self.table is None else quoted(self.table.address.parts)
        return UnsupportedError(
            f"[UNSUPPORTED_FEATURE.TABLE_OPERATION] The feature is not supported: Table {table} does not support {operation}. "
            "Name the table, not a view of it. SQLSTATE: 0A000"
        )


def temporary_target(session: Session, parts: Sequence[str]) -> ViewTarget | None:
    """``None`` for other names, those of temporary views that stand on nothing of ours among them."""
    view = session.temporary_views.find(parts)
    if view is None:
        return None
    with _at(session, view.catalog, view.namespace):
        return ViewTarget(table=None if view.column_names else _shown_whole(session, view.text, view.references))


def stored_target(session: Session, parts: Sequence[str]) -> ViewTarget | None:
    """For a name that leads to no table: ``None`` where no view of one of our catalogs is there either."""
    address = session.names.address(parts)
    stored = None if address is None else find_view(address)
    sql = None if stored is None else stored.current_version.sql_for(SPARK_DIALECT)
    if address is None or stored is None or sql is None:
        return None
    with written_in(session, address, stored):
        return ViewTarget(table=_shown_whole(session, sql.sql, view_references(stored)))


def refuse_insert(session: Session, name: s.TableName, text: str) -> None:
    """Raises SqlError where the target of an INSERT is a temporary view over our tables."""
    if session.temporary_views.find(name.parts) is not None:
        line, column = line_and_column(text, name.start)
        raise SqlError(
            f"[EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE] 'INSERT' expects a table but {quoted(name.parts)} is a view. SQLSTATE: 42809",
            text=text, line=line, column=column, length=name.end - name.start,
        )  # fmt: skip


def _shown_whole(session: Session, text: str, references: References) -> Found | None:
    """The table of a query that is nothing but ``SELECT * FROM t [AS a]`` or ``TABLE t``, perhaps through views that are no more."""
    if len(references.tables) != 1:
        return None
    table = references.tables[0]
    before = tuple(token.key for token in tokenize(text[: table.start])[:-1])
    behind = [token.name for token in tokenize(text[table.end :])[:-1] if token.key != "AS"]
    if before not in _WHOLE or behind not in ([], [table.alias]):
        return None
    below = temporary_target(session, table.parts)
    if below is None:
        found = session.find(table.parts)
        if found is not None:
            return found if found.is_plain else None
        below = stored_target(session, table.parts)
    return None if below is None else below.table


@contextmanager
def _at(session: Session, catalog: str, namespace: tuple[str, ...]) -> Iterator[None]:
    names = session.names
    before = names.current_catalog, names.current_namespace
    names.current_catalog, names.current_namespace = catalog, namespace
    try:
        yield
    finally:
        names.current_catalog, names.current_namespace = before
