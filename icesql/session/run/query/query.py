"""Queries: bound to views over our tables, and answered from metadata where that is exact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from icesql.parser.text.names import Place, References
from icesql.session.rewrite.bound_text import BoundText, bound

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def run_query(session: SessionState, text: str, references: References, args: Any = None) -> Any:
    """A DataFrame of the query. Errors carry places in ``text``. Raises NotFoundError for tables and versions that are not there."""
    session.temporary_views.refresh(references)
    with bound(session, text, references, follow=not session.plans.is_pinned) as query:
        return told_by_metadata(session, query, query.frame(args=args))


_AGGREGATE = re.compile(r"\b(count|min|max)\s*\(", re.I)
_NOT_TOLD = re.compile(r"\bgroup\s+by\b|\b(sum|avg|mean|first|last|any_value|over)\s*\(", re.I)


def told_by_metadata(session: SessionState, query: BoundText, frame: Any) -> Any:
    """The query's ``frame``; for ``SELECT count(*) FROM t`` and its kin the one row that metadata tells, where it does."""
    read = [reference for reference in query.references.tables if reference.place is not Place.TARGET]
    if len(query.reads) != 1 or len(read) != 1 or _AGGREGATE.search(query.text) is None or _NOT_TOLD.search(query.text):
        return frame
    table, point = query.reads[0]
    if point.snapshot is None:
        return frame
    from icesql.spark.read.aggregates import aggregate_frame

    told = aggregate_frame(session.spark, frame, table.table, snapshot_id=point.snapshot_id, schema=point.schema)
    return frame if told is None else told if session.plans.is_pinned else session.plans.while_present(table, point, told, frame)
