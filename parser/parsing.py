"""SQL text to one frozen statement."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from icesql.errors import SqlError
from icesql.parser.statements.base import Statement
from icesql.parser.statements.utility import Query
from icesql.parser.text.references import references
from icesql.parser.text.script import ScriptStatement, relocate
from icesql.parser.text.tokens import tokenize

if TYPE_CHECKING:
    from icesql.parser.statements.families import AnyStatement

_CACHED_SIZE = 20_000  # characters
_QUERY_WORDS = frozenset({"SELECT", "VALUES", "TABLE", "(", "MAP", "REDUCE"})


def parse(text: str, *, timestamp_ntz: bool = False) -> AnyStatement:
    """The statement that ``text`` is; what no grammar of ours knows is ``Other``, for Spark to judge.

    ``timestamp_ntz``: the type ``TIMESTAMP`` means one without time zone (``spark.sql.timestampType``).

    Raises SqlError, with line, column and the text underlined, for unclosed strings and comments and for statements that only this engine
    knows (Iceberg's extensions of ALTER TABLE, CALL, EXPLAIN PRUNING). A statement of Spark's own that goes wrong is
    ``Other(error=...)``: it may be right for a table that is not ours.
    """
    statement = _parse_cached(text, timestamp_ntz) if len(text) <= _CACHED_SIZE else _parse(text, timestamp_ntz)
    return cast("AnyStatement", statement)


def parse_script_statement(statement: ScriptStatement, script: str) -> Statement:
    """``parse(statement.text)`` whose errors point into the script."""
    try:
        return parse(statement.text)
    except SqlError as error:
        raise relocate(error, statement, script) from None


def _parse(text: str, timestamp_ntz: bool = False) -> Statement:
    if tokenize(text)[0].key in _QUERY_WORDS:
        return Query(text=text, references=references(text))
    from icesql.parser.frozen.freeze import read_statement  # sqlglot is loaded for the first statement that is no query

    return read_statement(text, timestamp_ntz=timestamp_ntz)


_parse_cached = lru_cache(maxsize=256)(_parse)
