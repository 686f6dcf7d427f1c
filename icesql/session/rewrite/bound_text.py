"""A statement's text with a temporary view in the place of each table of ours that it names: Spark parses and runs it.

Spark analyses a query when ``spark.sql`` is called, so the views are dropped again before the DataFrame is handed out.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from icesql.parser.text.edits import Edit, Rewritten, padded, quote, rewrite
from icesql.parser.text.names import Place, References, Span, TableName, TableReference
from icesql.parser.text.substitute import Aliases, Replacement
from icesql.session.plans.relation_plans import INCREMENTAL
from icesql.session.resolve.resolved import (
    CHANGES,
    MetadataTable,
    Missing,
    Readable,
    ResolvedTable,
    Source,
    SparkOwned,
    StoredView,
    TemporaryView,
)
from icesql.session.resolve.resolver import not_found, resolve
from icesql.session.resolve.stored_views import view_frame
from icesql.session.resolve.time_travel import ReadPoint, optioned_point, read_point
from icesql.session.resolve.write_audit_publish import wap_of
from icesql.session.rewrite.hidden_columns import Hidden, named_for, named_metadata_columns, shown_columns
from icesql.session.rewrite.named_columns import needed_columns
from icesql.session.rewrite.rules import Bindings, edits
from icesql.session.spark_errors import UserText, in_the_users_words, sent
from icesql.spark.jvm import short_views
from icesql.spark.read.fallback_filters import Need, needs_above
from icesql.spark.read.relation_plan import RelationPlan
from icesql.table.metadata_tables.registry import metadata_table_schema
from icesql.table.own_changes import changes_so_far

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_numbers = itertools.count(1)
VIEW_PREFIX = "_ice"


Narrowed: TypeAlias = Callable[[Need], RelationPlan]
"""Makes the plan of a table for queries that need only some rows and columns."""


@dataclass(slots=True)
class BoundText:
    """A statement's text whose references to our tables stand for views. Valid inside ``bound``'s with-block."""

    session: SessionState
    text: str
    edits: list[Edit] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    references: References = field(default_factory=References)
    reads: list[tuple[Readable, ReadPoint]] = field(default_factory=list)  # scans of tables that show just the tables' own columns
    fallback_reads: list[tuple[str, tuple[str, ...], Narrowed]] = field(default_factory=list)  # views of files that Catalyst cannot prune
    user: UserText = field(init=False)

    def __post_init__(self) -> None:
        self.user = UserText(self.text)

    def rewritten(self, spans: Sequence[Span] | None = None) -> Rewritten:
        """Those pieces of the text (default: all of it) as Spark is to read them."""
        done = rewrite(self.text, self.edits, spans)
        self.user.handed.append(done)
        return done

    def sql(self, *spans: Span) -> str:
        """Those pieces of the text, with views in the place of our tables."""
        return self.rewritten(spans).text

    def frame(self, *spans: Span, args: Any = None) -> DataFrame:
        """What Spark makes of the pieces (default: the whole text) as a statement."""
        sql = self.rewritten(spans or None).text
        sent(sql, self.user)
        frame = self.session.spark_sql(sql, args)
        return self.session.spark_sql(sql, args) if self._narrow(frame) else frame

    def _narrow(self, frame: DataFrame) -> bool:
        """Give views whose files Catalyst cannot prune frames that know the query's filters; True if there were any."""
        if not self.fallback_reads:
            return False
        needs = needs_above(self.session.spark, frame)
        for view, keys, made_with in self.fallback_reads:
            each_need = [needs.get(key, Need()) for key in keys]
            need = reduce(operator.or_, each_need)
            narrower = made_with(need)
            short_views.show_plan(narrower.bridge, narrower.plan, view)
        return True


@contextmanager
def bound(
    session: SessionState,
    text: str,
    references: References,
    *,
    target: tuple[TableName, Readable, str] | None = None,
    unpinned: bool = False,
) -> Iterator[BoundText]:
    """Give every reference to a table of ours a view, for as long as the block runs; references in TARGET places stay.

    ``unpinned``: the text is a query, which may run later and then reads the newest versions.
    ``target``: the table that a row-level statement changes, under an alias that is not in the text: columns qualified by its name are too.
    """
    result = BoundText(session, text, references=references)
    session.temporary_functions.refresh(text)
    views: list[str] = []
    try:
        changes = changes_so_far()
        sources = [(r, f) for r in references.tables if (f := source_of(session, text, r)) is not None]
        replacements = {r.start: Replacement(view="", full_name=_full_name(r, source)) for r, source in sources}
        aliases = Aliases(references, replacements)
        named = named_metadata_columns(text)
        hidden: list[Hidden] = []
        for reference, source in sources:
            if unpinned and not isinstance(source, StoredView) and session.transaction_in_progress is None:
                session.plans.newest.loaded(source, changes)
            relation, hidden_columns, narrowed = source_relation(session, reference, source, text, named, result.reads, unpinned=unpinned)
            views.append(_temporary_view(relation))
            result.user.views[views[-1]] = quote(*reference.parts)
            if narrowed is not None and relation.fallback_reads:
                result.fallback_reads.append((views[-1], relation.fallback_reads, narrowed))
            result.sources.append(source)
            full_name = replacements[reference.start].full_name
            width = reference.clause_end - reference.start
            replacements[reference.start] = Replacement(view=padded(views[-1], width), full_name=full_name)
            if hidden_columns:
                hidden.append(Hidden(reference.start, reference.alias or aliases.of(full_name), hidden_columns))
        qualifiers = {} if target is None else {_full_name(target[0], target[1]): quote(target[2])}
        bindings = Bindings(
            session=session,
            text=text,
            references=references,
            replacements=replacements,
            hidden=hidden,
            qualifiers=qualifiers,
            aliases=aliases,
        )
        result.edits.extend(edits(bindings))
        with in_the_users_words(session.spark, result.user):
            yield result
    finally:
        session.drop_views(views)


def source_of(session: SessionState, text: str, reference: TableReference) -> Source | None:
    """What of ours a query reads there; ``None`` where the name is Spark's (a temporary view, a CTE, a table of another catalog) or that of
    the statement's target. Raises MissingTableError for a name of one of our catalogs where nothing is."""
    if reference.place is Place.TARGET:
        return None
    match resolve(session, reference.parts):
        case ResolvedTable() | MetadataTable() as table:
            return table
        case StoredView() as view if reference.time_travel is None:
            return view
        case TemporaryView() | SparkOwned():
            return None
        case StoredView() | Missing():
            raise not_found(session, reference.parts, text=text, offset=reference.start)


def source_relation(
    session: SessionState,
    reference: TableReference,
    source: Source,
    text: str,
    named: frozenset[str],
    reads: list[tuple[Readable, ReadPoint]],
    *,
    unpinned: bool = False,
) -> tuple[RelationPlan, tuple[str, ...], Narrowed | None]:
    """The reference's plan, the metadata columns among its columns, and for a table what makes its plan for a filter."""
    if isinstance(source, StoredView):
        return RelationPlan.of(view_frame(session, source.address, source.view)), (), None
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
    relation = session.plans.scan(source, point, options, hidden, columns, unpinned=unpinned)
    narrows = source.metadata_table is None and INCREMENTAL.isdisjoint(options)
    return relation, hidden, partial(session.plans.narrowed, source, point, options, hidden) if narrows else None


def _columns_of_metadata_table(source: Readable, reference: TableReference, text: str) -> tuple[str, ...] | None:
    """Those that the text needs; ``None``: all."""
    if source.metadata_table is None or source.metadata_table == CHANGES:
        return None

    schema = metadata_table_schema(source.metadata_table, source.table.metadata)
    return needed_columns(text, reference, tuple(field.name for field in schema.fields))


def _temporary_view(relation: RelationPlan) -> str:
    name = f"{VIEW_PREFIX}{next(_numbers)}"
    short_views.show_plan(relation.bridge, relation.plan, name)
    return name


def _full_name(name: TableName, source: Source) -> tuple[str, ...]:
    """The name that columns may be qualified by: catalog, namespace, table, and what selects a part of it."""
    return (*source.address.parts, *(() if source.is_plain else name.parts[-1:]))
