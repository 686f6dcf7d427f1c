"""Views as targets of DELETE, UPDATE, MERGE and INSERT. As in Spark, only a DELETE that removes whole files is allowed, and only through
a view that selects a table unchanged, directly or through other views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError, SqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.text.edits import quote
from icesql.parser.text.names import References, TableReference
from icesql.parser.text.places import line_and_column
from icesql.session.resolve.path_tables import require_named
from icesql.session.resolve.resolved import Readable, Selector, StoredView
from icesql.session.resolve.resolver import resolve
from icesql.session.resolve.stored_views import SPARK_DIALECT, view_frame, view_references, written_in
from icesql.session.resolve.write_target import WriteTarget, target_of
from icesql.session.rewrite.bound_text import source_of, source_relation
from icesql.session.sql_errors import quoted
from icesql.session.views.temporary_views import KeptView
from icesql.spark.jvm.plans import shows_whole
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewTarget:
    """A view that a statement names as its target. ``table``: the table that it selects unchanged; ``None`` where its query does more."""

    table: Readable | None

    def refusal(self, operation: str) -> UnsupportedError:
        """As Spark refuses UPDATE TABLE and MERGE INTO TABLE."""
        table = "`unknown`" if self.table is None else quoted(self.table.address.parts)
        return UnsupportedError(
            spark_message(
                "UNSUPPORTED_FEATURE.TABLE_OPERATION",
                f"The feature is not supported: Table {table} does not support {operation}. Name the table, not a view of it.",
            )
        )


def temporary_target(session: SessionState, parts: Sequence[str]) -> ViewTarget | None:
    """``None`` for other names, those of temporary views that stand on nothing of ours among them."""
    view = session.temporary_views.find(parts)
    if view is None:
        return None
    session.temporary_views.refresh_view(view)
    shown = session.spark_sql(f"TABLE {quote(*parts)}")
    return _target(shown, _below_temporary(session, view))


def stored_target(session: SessionState, parts: Sequence[str]) -> ViewTarget | None:
    """For a name that leads to no table: ``None`` where no view of one of our catalogs is there either."""
    stored = resolve(session, parts)
    if not isinstance(stored, StoredView) or stored.view.current_version.sql_for(SPARK_DIALECT) is None:
        return None
    return _target(view_frame(session, stored.address, stored.view), _below_stored(session, stored))


def insert_target(session: SessionState, statement: s.Insert) -> tuple[WriteTarget | None, s.Insert]:
    """The table that a temporary view ``USING iceberg`` is, and the statement as it means that table; ``None`` for what is no such view.

    Raises SqlError where the target is any other temporary view over our tables.
    """
    name, text = statement.target, statement.text
    view = session.temporary_views.find(name.parts)
    if view is None:
        return None, statement
    if view.over is None:
        line, column = line_and_column(text, name.start)
        raise SqlError(
            spark_message("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", f"'INSERT' expects a table but {quoted(name.parts)} is a view."),
            text=text, line=line, column=column, length=name.end - name.start,
        )  # fmt: skip
    with session.names.at(view.catalog, view.namespace):
        resolved = require_named(session, view.over.path)
        target = target_of(session, resolved, {**_of_branch(resolved, view.over.options), **dict(statement.options)})
    table = [field.name for field in target.table.schema.fields]
    static = {key.column for key in statement.partition if key.value is not None}
    if not statement.columns and not statement.by_name and list(view.query_columns) != table:
        columns = tuple((column,) for column in view.query_columns if column in table and column not in static)
        statement = replace(statement, columns=columns)
    return target, statement


def _of_branch(resolved: Readable, options: Mapping[str, str]) -> dict[str, str]:
    """A view of a branch as a version is written there. Raises InvalidArgumentError for a view of any other version."""
    asked = dict(options)
    version, timestamp = asked.pop("versionasof", None), asked.pop("timestampasof", None)
    ref = None if version is None else resolved.table.metadata.refs.get(version)
    if timestamp is not None or (version is not None and (ref is None or not ref.is_branch)):
        raise InvalidArgumentError(f"Cannot write to table at a specific snapshot: {resolved.dotted}")
    return asked if version is None else {"branch": version, **asked}


def _target(shown: Any, below: tuple[Readable, Any] | None) -> ViewTarget:

    if below is None or not shows_whole(shown, below[1]):
        return ViewTarget(table=None)
    return ViewTarget(table=below[0])


def _below_temporary(session: SessionState, view: KeptView) -> tuple[Readable, Any] | None:
    with session.names.at(view.catalog, view.namespace):
        if view.over is not None and not view.text:
            return require_named(session, view.over.path), view.over.frame(session)
        return _below(session, view.text, view.references)


def _below_stored(session: SessionState, source: StoredView) -> tuple[Readable, Any] | None:
    sql = source.view.current_version.sql_for(SPARK_DIALECT)
    if sql is None:
        return None
    with written_in(session, source.address, source.view):
        return _below(session, sql.sql, view_references(source.view))


def _below(session: SessionState, text: str, references: References) -> tuple[Readable, Any] | None:
    """The one table below a query, perhaps through other views, and the DataFrame of its rows; ``None`` for none or several."""
    if len(references.tables) != 1:
        return None
    reference = references.tables[0]
    view = session.temporary_views.find(reference.parts)
    if view is not None:
        return _below_temporary(session, view)
    source = source_of(session, text, reference)
    if source is None or isinstance(source, StoredView):
        return None if source is None else _below_stored(session, source)
    shown, _, _ = source_relation(session, reference, source, text, frozenset(), [], unpinned=True)
    return _as_written(source, reference), shown.frame


def _as_written(resolved: Readable, reference: TableReference) -> Readable:
    """The table with the version that the view reads as its selector: a branch can be written, any other version is refused."""
    travel = reference.time_travel
    if travel is None:
        return resolved
    ref = resolved.table.metadata.refs.get(str(travel.value)) if travel.kind == "version" else None
    kind = "branch" if ref is not None and ref.is_branch else "tag"
    return replace(resolved, selector=Selector(ref=str(travel.value), ref_type=kind))
