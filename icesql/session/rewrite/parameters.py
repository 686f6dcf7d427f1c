"""Parameters (``:name``, ``?``) filled in before a statement is read: Spark 4.1 takes them wherever a literal may stand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.parser.text.parameters import SqlText, bind_parameters, parameter_markers, sql_literal
from icesql.spark.jvm.queries import constants

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState

Arguments = Mapping[str, Any] | Sequence[Any]
_LEFT_TO_SPARK = re.compile(r"\s*(?:\(|(?:SELECT|WITH|FROM|VALUES|TABLE|MAP|REDUCE)\b)", re.I)
_KNOWN_FIRST = re.compile(r"\bIDENTIFIER\s*\(|\bOF\b", re.I)  # names of tables, and the versions that a query reads
_TAKEN_AS_WRITTEN = re.compile(r"\s*(?:SET\s+(?!VAR\b|VARIABLE\b|TIME\b|CATALOG\b)|RESET\b|ADD\b|LIST\b|DFS\b)", re.I)


def with_values(session: SessionState, text: str, args: Arguments) -> tuple[str, Arguments | None]:
    """``text`` with its parameters filled in, and the arguments that are still to be: those of queries, which Spark fills in."""
    is_sql = any(isinstance(value, SqlText) for value in (args.values() if isinstance(args, Mapping) else args))
    if _TAKEN_AS_WRITTEN.match(text):
        return text, None
    if _LEFT_TO_SPARK.match(text) and not is_sql and not _KNOWN_FIRST.search(text):
        return text, args
    return bound_text(session, text, args), None


def bound_text(session: SessionState, text: str, args: Arguments) -> str:
    """Raises SqlError for a parameter without an argument, InvalidArgumentError for a value that has no literal."""
    return bind_parameters(text, args, literal=partial(_literal, session))


def _literal(session: SessionState, value: object) -> str:
    """Columns and values of kinds that Python's own syntax has no word for are Spark's to judge and to write."""
    try:
        return sql_literal(value)
    except InvalidArgumentError:
        found = literals(session.spark_sql("SELECT :value AS value", {"value": value}))[0]
        if found is None:
            raise
        return found


def literals(frame: Any) -> list[SqlText | None]:
    """Each column of a query without tables as a literal of its type; ``None`` for one that is no constant."""
    return [None if value is None else SqlText(value.sql()) for value in constants(frame)]


def are_named(text: str) -> bool:
    """Whether the text asks for its arguments by name."""
    return any(marker.name is not None for marker in parameter_markers(text))
