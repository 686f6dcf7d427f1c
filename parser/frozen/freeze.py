"""One statement's text to its tree, and the tree to the frozen statement that the engine works with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.errors import SqlError
from icesql.parser.dialect.grammar import Parser
from icesql.parser.dialect.iceberg import Iceberg
from icesql.parser.dialect.nodes import Alteration, Explain
from icesql.parser.frozen import catalog as frozen_catalog
from icesql.parser.frozen import rows as frozen_rows
from icesql.parser.frozen import session as frozen_session
from icesql.parser.frozen.alter import alter_statement
from icesql.parser.frozen.columns import ColumnValues, span_of
from icesql.parser.statements.base import Statement
from icesql.parser.statements.utility import Explain as ExplainStatement
from icesql.parser.statements.utility import Other, Query
from icesql.parser.text.references import references

_ICEBERG = Iceberg()
_MAX_EXPLAINS = 8
_QUERY_WORDS = frozenset({"SELECT", "VALUES", "TABLE", "(", "MAP", "REDUCE", "WITH", "FROM"})
_FORMS: dict[type, Callable[[Any, str, ColumnValues], Statement]] = {
    **frozen_catalog.FORMS,
    **frozen_rows.FORMS,
    **frozen_session.FORMS,
}


def read_statement(text: str, *, timestamp_ntz: bool, explains: int = 0) -> Statement:
    """See ``icesql.parser.parsing``."""
    parser = Parser.of(text, _ICEBERG)
    is_query = parser.token.key in _QUERY_WORDS
    try:
        tree = parser.statement()
    except SqlError as error:
        if parser.is_ours_alone:
            raise
        return Other(text=text, references=references(text), error=error)
    if tree is None:
        return (Query if is_query else Other)(text=text, references=references(text))
    if isinstance(tree, Explain):
        return _explain(parser, tree, timestamp_ntz, explains)
    values = ColumnValues(text, timestamp_ntz=timestamp_ntz)
    if isinstance(tree, Alteration):
        return alter_statement(tree, text, values)
    return _FORMS[type(tree)](tree, text, values)


def _explain(parser: Parser, tree: Any, timestamp_ntz: bool, explains: int) -> Statement:
    mode, body = tree.args["mode"], span_of(tree.this)
    if explains >= _MAX_EXPLAINS:
        parser.fail_at("Cannot explain statement: EXPLAIN is nested too deeply", body)
    inner = read_statement(body.of(parser.sql), timestamp_ntz=timestamp_ntz, explains=explains + 1)
    return ExplainStatement(text=parser.sql, mode=None if mode is None else mode.name, body=body, statement=inner)
