"""Queries: the tables of ours that a text names become temporary views over scans, and Spark parses and runs the rest.

Spark analyses a query when ``spark.sql`` is called, so the views are dropped again before the DataFrame is handed out.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from icesql.expr.tree import TRUE, Expression, or_
from icesql.parser.names import Place, References, Span, TableName, TableReference
from icesql.parser.substitute import Aliases, Replacement, view_edits
from icesql.session.resolve.time_travel import ReadPoint, optioned_point, read_point
from icesql.session.resolve.views import find_view, view_frame
from icesql.session.rewrite.current_names import current_name_edits
from icesql.session.rewrite.hidden_columns import Hidden, named_for, named_metadata_columns, shown_columns, star_edits
from icesql.session.rewrite.named_columns import needed_columns
from icesql.session.rewrite.places import Edit, Rewritten, padded, quote, rewrite
from icesql.session.rewrite.system_functions import function_edits
from icesql.session.run.dml.write_target import wap_of
from icesql.session.spark_errors import user_positions
from icesql.session.state.frames import INCREMENTAL
from icesql.session.state.names import CHANGES, Address, Found
from icesql.spark.jvm import short_views
from icesql.spark.read.shown import Shown
from icesql.table.own_changes import changes_so_far

if TYPE_CHECKING:
    from icesql.session.session import Session
    from icesql.spec.views import ViewMetadata

_numbers = itertools.count(1)
VIEW_PREFIX = "_ice"


@dataclass(frozen=True, slots=True)
class StoredView:
    """A view of one of our catalogs that a reference leads to."""

    address: Address
    view: ViewMetadata

    @property
    def is_plain(self) -> bool:
        return True


Source: TypeAlias = "Found | StoredView"
Narrowed: TypeAlias = Callable[[Expression], Shown]
"""What a table shows to queries that need only rows that pass a filter."""


def run_query(session: Session, text: str, references: References, args: Any = None) -> Any:
    """A DataFrame of the query. Errors carry places in ``text``. Raises NotFoundError for tables and versions that are not there."""
    session.temporary_views.refresh(references)
    with bound(session, text, references, follow=not session.frames.is_pinned) as query:
        return told_by_metadata(session, query, query.frame(args=args))


_AGGREGATE = re.compile(r"\b(count|min|max)\s*\(", re.I)
_NOT_TOLD = re.compile(r"\bgroup\s+by\b|\b(sum|avg|mean|first|last|any_value|over)\s*\(", re.I)


def told_by_metadata(session: Session, query: BoundText, frame: Any) -> Any:
    """The query's ``frame``; for ``SELECT count(*) FROM t`` and its kin the one row that metadata tells, where it does."""
    read = [reference for reference in query.references.tables if reference.place is not Place.TARGET]
    if len(query.reads) != 1 or len(read) != 1 or _AGGREGATE.search(query.text) is None or _NOT_TOLD.search(query.text):
        return frame
    found, point = query.reads[0]
    if point.snapshot is None:
        return frame
    from icesql.spark.read.aggregates import aggregate_frame

    told = aggregate_frame(session.spark, frame, found.table, snapshot_id=point.snapshot_id, schema=point.schema)
    return frame if told is None else told if session.frames.is_pinned else session.frames.while_present(found, point, told, frame)


@dataclass(slots=True)
class BoundText:
    """A statement's text whose references to our tables stand for views. Valid inside ``bound``'s with-block."""

    session: Session
    text: str
    edits: list[Edit] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    references: References = field(default_factory=References)
    reads: list[tuple[Found, ReadPoint]] = field(default_factory=list)  # scans of tables that show just the tables' own columns
    second_path: list[tuple[str, tuple[str, ...], Narrowed]] = field(default_factory=list)  # views of files that Catalyst cannot prune

    def rewritten(self, spans: Sequence[Span] | None = None) -> Rewritten:
        return rewrite(self.text, self.edits, spans)

    def sql(self, *spans: Span) -> str:
        """Those pieces of the text, with views in the place of our tables."""
        return self.rewritten(spans).text

    def frame(self, *spans: Span, args: Any = None) -> Any:
        """What Spark makes of the pieces (default: the whole text) as a statement."""
        done = self.rewritten(spans or None)
        with user_positions(self.session.spark, done, self.text):
            frame = self.session.spark_sql(done.text, args)
            return self.session.spark_sql(done.text, args) if self._narrow(frame) else frame

    def _narrow(self, frame: Any) -> bool:
        """Give views whose files Catalyst cannot prune frames that know the query's filters; True if there were any."""
        if not self.second_path:
            return False
        from icesql.spark.read.fallback_filters import filters_above

        filters, narrowed = filters_above(self.session.spark, frame), False
        for view, keys, made_with in self.second_path:
            where = or_(*(filters.get(key, TRUE) for key in keys))
            if where != TRUE:
                narrower = made_with(where)
                short_views.show_plan(narrower.bridge, narrower.plan, view)
                narrowed = True
        return narrowed


@contextmanager
def bound(
    session: Session, text: str, references: References, *, target: tuple[TableName, Found, str] | None = None, follow: bool = False
) -> Iterator[BoundText]:
    """Give every reference to a table of ours a view, for as long as the block runs; references in TARGET places stay.

    ``follow``: what is made of the text is a query, which may run later, and shows what is there then.
    ``target``: the table that a row-level statement changes, under an alias that is not in the text: columns qualified by its name are too.
    """
    result = BoundText(session, text, references=references)
    session.temporary_functions.refresh(text)
    views: list[str] = []
    try:
        changes = changes_so_far()
        sources = [(r, f) for r in references.tables if (f := resolved(session, text, r)) is not None]
        replacements = {r.start: Replacement(view="", full_name=_full_name(r, source)) for r, source in sources}
        aliases = Aliases(references, replacements)
        named = named_metadata_columns(text)
        hidden: list[Hidden] = []
        for reference, source in sources:
            if follow and isinstance(source, Found) and session.transaction_in_progress is None:
                session.frames.newest.loaded(source, changes)
            shown, hidden_columns, narrowed = source_shown(session, reference, source, text, named, result.reads, follow=follow)
            views.append(_temporary_view(shown))
            if narrowed is not None and shown.second_path:
                result.second_path.append((views[-1], shown.second_path, narrowed))
            result.sources.append(source)
            full_name = replacements[reference.start].full_name
            width = reference.clause_end - reference.start
            replacements[reference.start] = Replacement(view=padded(views[-1], width), full_name=full_name)
            if hidden_columns:
                hidden.append(Hidden(reference.start, reference.alias or aliases.of(full_name), hidden_columns))
        qualifiers = {} if target is None else {_full_name(target[0], target[1]): quote(target[2])}
        result.edits.extend(view_edits(references, replacements, aliases, qualifiers))
        result.edits.extend(star_edits(text, hidden))
        result.edits.extend(function_edits(session, text))
        result.edits.extend(current_name_edits(session, text))
        yield result
    finally:
        session.drop_views(views)


def resolved(session: Session, text: str, reference: TableReference) -> Source | None:
    """``None``: the name is Spark's (a temporary view, a CTE, a table of another catalog). Raises NotFoundError for one that should
    be ours."""
    if reference.place is Place.TARGET:
        return None
    names = session.names
    if session.is_temporary_view(*reference.parts):
        return None
    if names.address(reference.parts) is None:
        return None
    found = session.find(reference.parts)
    if found is not None:
        return found
    address = names.address(reference.parts)
    view = None if address is None or reference.time_travel is not None else find_view(address)
    if address is not None and view is not None:
        return StoredView(address, view)
    if session.falls_back_to_spark(reference.parts):
        return None
    raise names.not_found(reference.parts, text=text, offset=reference.start)


def source_shown(
    session: Session,
    reference: TableReference,
    source: Source,
    text: str,
    named: frozenset[str],
    reads: list[tuple[Found, ReadPoint]],
    *,
    follow: bool = False,
) -> tuple[Shown, tuple[str, ...], Narrowed | None]:
    """The reference's rows, the metadata columns among its columns, and for a table's rows how to make them for a filter."""
    if isinstance(source, StoredView):
        return Shown.of(view_frame(session, source.address, source.view)), (), None
    wap_branch = wap_of(session, source.table.metadata)[1] if source.is_plain and reference.time_travel is None else None
    point = read_point(source, reference.time_travel, text, session.microseconds, wap_branch)
    options = {key.lower(): value for key, value in reference.options}
    if options:
        travels = reference.time_travel is not None or not source.selector.is_empty
        point = optioned_point(source, point, options, session.microseconds, travels=travels)
    hidden: tuple[str, ...] = ()
    if named and source.metadata_table in (None, CHANGES) and reference.place is Place.FROM:
        named = named_for(text, reference.start, named)
        hidden = shown_columns(source.table.metadata, point.schema, named, of_changes=source.metadata_table == CHANGES)
    if source.metadata_table is None and not hidden and INCREMENTAL.isdisjoint(options):
        reads.append((source, point))
    columns = _columns_of_metadata_table(source, reference, text)
    shown = session.frames.scan(source, point, options, hidden, columns, follow=follow)
    narrows = source.metadata_table is None and INCREMENTAL.isdisjoint(options)
    return shown, hidden, partial(session.frames.narrowed, source, point, options, hidden) if narrows else None


def _columns_of_metadata_table(source: Found, reference: TableReference, text: str) -> tuple[str, ...] | None:
    """Those that the text needs; ``None``: all."""
    if source.metadata_table is None or source.metadata_table == CHANGES:
        return None
    from icesql.table.metadata_tables.registry import metadata_table_schema

    schema = metadata_table_schema(source.metadata_table, source.table.metadata)
    return needed_columns(text, reference, tuple(field.name for field in schema.fields))


def _temporary_view(shown: Shown) -> str:
    name = f"{VIEW_PREFIX}{next(_numbers)}"
    short_views.show_plan(shown.bridge, shown.plan, name)
    return name


def _full_name(name: TableName, source: Source) -> tuple[str, ...]:
    """By which columns may be qualified: catalog, namespace, table, and what selects a part of it."""
    return (*source.address.parts, *(() if source.is_plain else name.parts[-1:]))
