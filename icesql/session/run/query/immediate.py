"""EXECUTE IMMEDIATE: the statement in a string, run here, so that it finds our tables as any other does."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from icesql.parser import statements as s
from icesql.parser.parsing import parse
from icesql.parser.text.script import is_script
from icesql.parser.text.token_groups import items
from icesql.parser.text.tokens import Token, tokenize
from icesql.session.rewrite.parameters import are_named, literals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spark.jvm.scripting import Script

_VALUES = "_icesql_values"
Arguments = dict[str, Any] | list[Any] | None


def run_immediate(session: SessionState, statement: s.ExecuteImmediate) -> DataFrame:
    """The inner statement's rows; with INTO they fill the variables, as SET VARIABLE does. Spark words what is refused."""
    text = _inner_text(session, statement)
    if text is None or is_script(text) or isinstance(parse(text), s.ExecuteImmediate):
        return session.spark_sql(statement.text)
    into, using = _clauses(statement)
    arguments = _arguments(session, text, using)
    if into and session.script is not None:
        return _into_variables(session, into, session.script, text, arguments)
    if into:
        return session.run(f"SET VARIABLE ({into}) = ({text})", arguments)
    with nullcontext() if session.script is None else session.script.hidden():
        return session.run(text, arguments)


def _into_variables(session: SessionState, into: str, script: Script, text: str, arguments: Arguments) -> DataFrame:
    """The inner statement does not see the script's variables, which its values are for."""
    with script.hidden():
        session.run(text, arguments).createOrReplaceTempView(_VALUES)
    try:
        return session.spark_sql(f"SET VARIABLE ({into}) = (SELECT * FROM {_VALUES})")
    finally:
        session.drop_views([_VALUES])


def immediate_text(session: SessionState, statement: s.ExecuteImmediate) -> str | None:
    """The statement within; ``None`` where its rows go into variables, or where there is none."""
    return None if _clauses(statement)[0] else _inner_text(session, statement)


def _inner_text(session: SessionState, statement: s.ExecuteImmediate) -> str | None:
    if statement.sql is not None:
        return statement.sql
    end = len(statement.text) if statement.rest is None else statement.rest.start
    expression = statement.text[tokenize(statement.text)[1].end : end]
    value = session.spark_sql(f"SELECT {expression}").collect()[0][0]
    return value if isinstance(value, str) else None


def _clauses(statement: s.ExecuteImmediate) -> tuple[str, str]:
    """The texts behind INTO and behind USING; empty where there is none."""
    rest = "" if statement.rest is None else statement.rest.of(statement.text)
    tokens = tokenize(rest)
    using = next((token for token in tokens if token.key == "USING"), None)
    into = rest[tokens[0].end : using.start if using else len(rest)] if tokens[0].key == "INTO" else ""
    return into.strip(), rest[using.end :].strip() if using else ""


def _arguments(session: SessionState, text: str, using: str) -> Arguments:
    """Values as SQL of their types, by place or by the names that the text asks for."""
    if not using:
        return None
    if using.startswith("(") and using.endswith(")"):
        using = using[1:-1]
    frame = session.spark_sql(f"SELECT {using}")
    values: list[Any] = list(literals(frame))
    if None in values:
        values = list(frame.collect()[0])
    names = [_name(item) for item in items(tokenize(using))]
    if not are_named(text):
        return values
    return {name: value for name, value in zip(names, values, strict=True) if name is not None}


def _name(item: Sequence[Token]) -> str | None:
    return item[-1].name if len(item) > 2 and item[-2].key == "AS" and item[-1].is_identifier else None
