"""Parameters (``:name``, ``?``) filled in before a statement is read: Spark 4.1 takes them wherever a literal may stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.parser.text.parameters import SqlText, bind_parameters, parameter_markers, sql_literal
from icesql.parser.text.token_groups import QUERY_WORDS
from icesql.parser.text.tokens import Token, tokenize
from icesql.spark.jvm.queries import constants

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

Arguments = Mapping[str, Any] | Sequence[Any]
_COMMANDS = frozenset({"RESET", "ADD", "LIST", "DFS"})  # Spark takes the rest of these as it is written
_SET_BY_GRAMMAR = frozenset({"VAR", "VARIABLE", "TIME", "CATALOG"})


def with_values(session: SessionState, text: str, args: Arguments) -> tuple[str, Arguments | None]:
    """``text`` with its parameters filled in, and the arguments that are still to be: those of queries, which Spark fills in."""
    is_sql = any(isinstance(value, SqlText) for value in (args.values() if isinstance(args, Mapping) else args))
    tokens = tokenize(text)
    if _is_taken_as_written(tokens):
        return text, None
    if tokens[0].key in QUERY_WORDS and not is_sql and not _decides_what_is_read(tokens):
        return text, args
    return bound_text(session, text, args), None


def _is_taken_as_written(tokens: Sequence[Token]) -> bool:
    first = tokens[0].key
    return first in _COMMANDS or (first == "SET" and tokens[1].key not in _SET_BY_GRAMMAR)


def _decides_what_is_read(tokens: Sequence[Token]) -> bool:
    """Whether a parameter may be part of a table's name (``IDENTIFIER(:t)``) or of a version (``VERSION AS OF :v``)."""
    keys = [token.key for token in tokens]
    return "OF" in keys or any(pair == ("IDENTIFIER", "(") for pair in pairwise(keys))


def bound_text(session: SessionState, text: str, args: Arguments) -> str:
    """Raises SqlError for a parameter without an argument, InvalidArgumentError for a value that has no literal."""
    return bind_parameters(text, args, literal=partial(_literal, session))


def _literal(session: SessionState, value: object) -> str:
    """Columns and values of kinds that Python's own syntax has no word for are Spark's to judge and to write."""
    try:
        return sql_literal(value)
    except InvalidArgumentError:
        text = literals(session.spark_sql("SELECT :value AS value", {"value": value}))[0]
        if text is None:
            raise
        return text


def literals(frame: DataFrame) -> list[SqlText | None]:
    """Each column of a query without tables as a literal of its type; ``None`` for one that is no constant."""
    return [None if value is None else SqlText(value.sql()) for value in constants(frame)]


def are_named(text: str) -> bool:
    """Whether the text asks for its arguments by name."""
    return any(marker.name is not None for marker in parameter_markers(text))
