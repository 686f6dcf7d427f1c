"""ALTER TABLE ... WRITE [DISTRIBUTED BY PARTITION] [[LOCALLY] ORDERED BY ... | UNORDERED]."""

from __future__ import annotations

from icesql.parser.alter_statements import WriteOrder
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import SortTerm
from icesql.parser.names import TableName
from icesql.parser.transform_terms import sort_terms


def alter_write_order(cursor: Cursor, table: TableName) -> WriteOrder | None:
    """Read the clauses in any order; None if WRITE does not come.

    Modes: DISTRIBUTED gives hash; ORDERED BY alone range; LOCALLY ORDERED BY alone leaves the mode; UNORDERED alone none.
    """
    if not cursor.accept("WRITE"):
        return None
    distributed: bool = False
    ordering: tuple[str, tuple[SortTerm, ...]] | None = None
    while not (cursor.at_end or cursor.at(";")):
        if cursor.at("DISTRIBUTED"):
            if distributed:
                cursor.fail("ALTER TABLE contains multiple distribution clauses")
            cursor.expect("DISTRIBUTED", "BY", "PARTITION")
            distributed = True
        else:
            start = cursor.token
            found = _ordering(cursor)
            if ordering is not None:
                cursor.fail("ALTER TABLE contains multiple ordering clauses", start)
            ordering = found
    cursor.expect_end()
    if not distributed and ordering is None:
        cursor.fail("ALTER TABLE has no changes: missing both distribution and ordering clauses")
    kind, order = ordering or ("", ())
    return WriteOrder(text=cursor.text, table=table, order=order, distribution_mode="hash" if distributed else _MODES[kind])


_MODES = {"ORDERED": "range", "LOCALLY": None, "UNORDERED": "none"}


def _ordering(cursor: Cursor) -> tuple[str, tuple[SortTerm, ...]]:
    if cursor.accept("UNORDERED"):
        return "UNORDERED", ()
    kind = "LOCALLY" if cursor.accept("LOCALLY") else "ORDERED"
    if not cursor.at("ORDERED"):
        cursor.mismatch("ORDERED") if kind == "LOCALLY" else cursor.mismatch("DISTRIBUTED", "LOCALLY", "ORDERED", "UNORDERED")
    cursor.expect("ORDERED", "BY")
    return kind, sort_terms(cursor)
