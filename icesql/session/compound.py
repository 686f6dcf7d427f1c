"""BEGIN ... END scripts of Spark's: Spark runs them itself, so they may read our tables but not change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.parser import statements as s
from icesql.parser.compound import statements_inside
from icesql.parser.names import TableName
from icesql.parser.places import sql_error

if TYPE_CHECKING:
    from icesql.session.session import Session

_NAMES = ("target", "table", "view", "namespace", "procedure", "name")


def require_no_changes(session: Session, text: str) -> None:
    """Raises SqlError for the first statement of a script that only icesql can run."""
    for span, statement in statements_inside(text):
        if any(session.names.address(name.parts) is not None for name in _named(statement)):
            raise sql_error(
                "Cannot run script: inside BEGIN ... END tables of icesql can be read, but not changed, created or described: "
                "run the statements one after the other",
                text,
                span.start,
                span.end,
            )


def _named(statement: s.Statement) -> list[TableName]:
    """What a statement of ours is about; nothing for queries and for what is Spark's alone."""
    if isinstance(statement, s.MultiInsert):
        return [insert.target for insert in statement.inserts]
    if isinstance(statement, s.Query | s.Other | s.SetConfiguration):
        return []
    found = [getattr(statement, key, None) for key in _NAMES]
    return [name for name in found if isinstance(name, TableName)]
