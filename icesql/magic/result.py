"""What a cell shows: rows as a table, a picture where there is one, notices, and a line with time, rows and pruning below all."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from icesql.errors import IcesqlError
from icesql.magic import html
from icesql.magic.partition_bars import NEEDED, partition_bars
from icesql.parser.text.names import Place
from icesql.parser.text.references import table_references
from icesql.pictures.pruning_svg import pruning_svg
from icesql.pictures.snapshot_tree import snapshot_tree
from icesql.session.output.pruning_line import pruning_line
from icesql.session.output.rows import as_text
from icesql.session.resolve.resolved import MetadataTable
from icesql.session.resolve.resolver import readable
from icesql.session.session import Session

SHOWN_ROWS = 200
_DESCRIPTION = ["col_name", "data_type", "comment"]


class Result:
    """``frame`` is the DataFrame itself; ``limit``: how many of its rows are shown."""

    def __init__(self, session: Session, frame: Any, started: float, *, text: str = "", limit: int = SHOWN_ROWS) -> None:
        self.frame = frame
        rows = frame.limit(limit + 1).collect() if frame.columns else []
        self.columns: Sequence[str] = frame.columns
        self.rows, self.has_more = rows[:limit], len(rows) > limit
        counted = f"{len(self.rows)}{'+' if self.has_more else ''} row{'' if len(self.rows) == 1 and not self.has_more else 's'}"
        parts = [f"{time.perf_counter() - started:.3f} s", counted if self.columns else ""]
        self.footer = ", ".join(part for part in (*parts, pruning_line(session.last_plannings)) if part)
        planned = [f"would {action.action}: {action.what} {action.reason}".strip() for action in session.last_plan]
        self.notices = [*session.last_notices, *planned]
        self.picture = pruning_svg(session.last_explained) or _drawn(session, text, self.columns, self.rows)

    def _repr_html_(self) -> str:
        if list(self.columns) == _DESCRIPTION:
            shown = html.description(self.rows)
        else:
            shown = html.table(self.columns, self.rows) if self.columns else ""
        return shown + self.picture + html.notes(self.notices, self.footer)

    def __repr__(self) -> str:
        return "\n".join([as_text(self.columns, self.rows).rstrip(), *self.notices, self.footer]).strip()


def _drawn(session: Session, text: str, columns: Sequence[str], rows: Sequence[Any]) -> str:
    """The picture of a metadata table whose rows a query shows as they are; empty for all others."""
    try:
        read = [reference for reference in table_references(text) if reference.place is Place.FROM]
        source = readable(session.state, read[0].parts) if len(read) == 1 else None
    except IcesqlError:
        return ""
    if not isinstance(source, MetadataTable):
        return ""
    if source.metadata_table == "snapshots" and "snapshot_id" in columns:
        shown = {row["snapshot_id"] for row in rows}
        metadata = source.table.metadata
        return snapshot_tree(source.dotted, [one for one in metadata.snapshots if one.snapshot_id in shown], metadata.refs)
    if source.metadata_table == "partitions" and set(NEEDED) <= set(columns):
        return partition_bars(source.dotted, [row.asDict() for row in rows])
    return ""
