"""Runs the text of one statement: fills in variables, double quotes, parameters and IDENTIFIER clauses, parses, and dispatches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from icesql.parser.parsing import parse
from icesql.parser.statements import Other, Query
from icesql.parser.statements.families import AnyStatement
from icesql.parser.text.parameters import substitute_variables
from icesql.parser.text.script import is_script
from icesql.session.dispatch import run_statement
from icesql.session.rewrite.double_quotes import with_back_ticks
from icesql.session.rewrite.identifier_clauses import with_plain_identifiers
from icesql.session.rewrite.parameters import bound_text, with_values
from icesql.spark.jvm.spark_session import system_property

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_text(session: SessionState, text: str, args: Mapping[str, Any] | Sequence[Any] | None = None) -> DataFrame:
    """``args``: parameters by name or by position."""
    text = _substituted(session, text)
    if '"' in text and session.conf("spark.sql.ansi.doubleQuotedIdentifiers") == session.conf("spark.sql.ansi.enabled", "true") == "true":
        text = with_back_ticks(text)
    if is_script(text):
        from icesql.session.run.query.compound import run_compound

        return run_compound(session, text, args)
    if args:
        text, args = with_values(session, text, args)
    text = with_plain_identifiers(session, text)
    statement = _parsed(session, text)
    if args and not isinstance(statement, Query | Other):
        statement, args = _parsed(session, bound_text(session, text, args)), None
    frame: DataFrame = run_statement(session, statement, args)
    return frame


def _parsed(session: SessionState, text: str) -> AnyStatement:
    names_timestamps = "timestamp" in text.lower()
    return parse(text, timestamp_ntz=names_timestamps and session.conf("spark.sql.timestampType") == "TIMESTAMP_NTZ")


def _substituted(session: SessionState, text: str) -> str:
    """``${name}`` filled in from the settings, as Spark's parser does, before tables are looked for."""
    if "${" not in text or session.conf("spark.sql.variable.substitute", "true") != "true":
        return text

    def value(prefix: str | None, name: str) -> str | None:
        if prefix == "env":
            return os.environ.get(name)
        if prefix == "system":
            return system_property(session.spark, name)
        setting: str | None = session.spark.conf.get(name, None)
        return setting

    return substitute_variables(text, value)
