"""Queries: bound to views over our tables, and answered from metadata where that is exact."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from icesql.parser.text.names import Place, References
from icesql.parser.text.tokens import tokenize
from icesql.session.rewrite.bound_text import BoundText, bound
from icesql.spark.jvm.queries import has_only_aggregates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_query(session: SessionState, text: str, references: References, args: Any = None) -> DataFrame:
    """A DataFrame of the query. Errors carry places in ``text``. Raises NotFoundError for tables and versions that are not there."""
    session.temporary_views.refresh(references)
    with bound(session, text, references, unpinned=not session.plans.is_pinned) as query:
        return from_metadata(session, query, query.frame(args=args))


_FUNCTIONS = frozenset({"COUNT", "MIN", "MAX"})
_CATALYST_FUNCTIONS = frozenset({"Count", "Min", "Max"})


def from_metadata(session: SessionState, query: BoundText, frame: DataFrame) -> DataFrame:
    """The query's ``frame``; for a metadata-only aggregate (``SELECT count(*) FROM t``) the one row that metadata gives, where it is
    exact."""
    read = [reference for reference in query.references.tables if reference.place is not Place.TARGET]
    if len(query.reads) != 1 or len(read) != 1 or not _names_aggregate(query.text):
        return frame
    table, point = query.reads[0]
    if point.snapshot is None or not has_only_aggregates(frame, _CATALYST_FUNCTIONS):
        return frame
    from icesql.spark.read.aggregates import aggregate_frame

    row = aggregate_frame(session.spark, frame, table.table, snapshot_id=point.snapshot_id, schema=point.schema)
    return frame if row is None else row if session.plans.is_pinned else session.plans.while_present(table, point, row, frame)


def _names_aggregate(text: str) -> bool:
    """Whether one of the functions is called in the text: its plan is looked at only then."""
    return any(token.name.upper() in _FUNCTIONS and behind.key == "(" for token, behind in pairwise(tokenize(text)))
