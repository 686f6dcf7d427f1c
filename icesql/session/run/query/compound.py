"""BEGIN ... END scripts: Spark's own interpreter steps through them; icesql runs each statement as it runs any other.

What Spark asks itself (conditions, the queries of FOR, values of variables) reads our tables through temporary views, made again whenever
a table has changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from icesql.errors import IcesqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.parsing import parse
from icesql.parser.text.parameters import bind_parameters
from icesql.parser.text.token_groups import behind_words, name_at
from icesql.parser.text.tokens import Kind, Token, tokenize
from icesql.session.run.query.immediate import immediate_text
from icesql.session.run.query.script_reads import ScriptReads
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spark.jvm.scripting import Script

_BY_PLACE = spark_message(
    "UNSUPPORTED_FEATURE.SQL_SCRIPTING_WITH_POSITIONAL_PARAMETERS",
    "The feature is not supported: Positional parameters are not supported with SQL Scripting.",
)
_CONDITION = re.compile(r"\s*\[([A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\]")


def run_compound(session: SessionState, text: str, args: Any = None) -> DataFrame:
    """The rows of the script's last query; what it did before an error stays done. Raises what no handler of the script takes."""
    from icesql.spark.jvm.scripting import Script, expression_places, parsed_script, statement_places, version_numbers

    if version_numbers(session.spark.version) < (4, 1):
        raise UnsupportedError(f"Cannot run script: BEGIN ... END needs Spark 4.1 or later: {session.spark.version}")
    if args and not isinstance(args, Mapping):
        raise UnsupportedError(_BY_PLACE)
    text = bind_parameters(text, args) if args else text
    body = parsed_script(session.spark, text)
    if body is None:
        return session.spark_sql(text)
    places = statement_places(body)
    reads = ScriptReads(session, text, expression_places(body))
    if reads.edits:
        body = parsed_script(session.spark, reads.text)
    # the same statements stand in the same order in the user's text and in the one that Spark walks through
    users_places = dict(zip((start for start, _ in statement_places(body)), places, strict=True))
    with ExitStack() as stack:
        stack.callback(reads.close)
        script = Script(session.spark, body, reads.user_text)
        stack.enter_context(script.running())
        stack.enter_context(session.running_script(script))
        return _walked(session, script, reads, text, users_places)


def _walked(session: SessionState, script: Script, reads: ScriptReads, text: str, places: Mapping[int, tuple[int, int]]) -> DataFrame:
    result = session.nothing
    for statement in script.steps(reads.refresh):
        place = places.get(script.place(statement))
        session.settings.forget()
        if place is None:
            script.run(statement)
            continue
        try:
            rows = _rows(session, _alone(text, *place))
            if rows is not None:
                result = script.rows_kept(rows)
        except IcesqlError as error:
            _handled(script, error)
        except Exception as error:
            script.handle(error)
    return result


def _alone(text: str, start: int, end: int) -> str:
    """The statement with blanks for all that stands before it, so that its places are those of the script."""
    start += _behind_handler(text[start:end])  # Spark lets the only statement of a handler begin where the handler does
    return re.sub(r"[^\n]", " ", text[:start]) + text[start:end]


def _behind_handler(text: str) -> int:
    """Where the statement of ``DECLARE EXIT | CONTINUE HANDLER FOR condition, ... statement`` begins; 0 for any other statement."""
    tokens = tokenize(text)
    keys = [token.key for token in tokens[:4]]
    if keys not in (["DECLARE", "EXIT", "HANDLER", "FOR"], ["DECLARE", "CONTINUE", "HANDLER", "FOR"]):
        return 0
    at = _behind_condition(tokens, 4)
    while tokens[at].key == ",":
        at = _behind_condition(tokens, at + 1)
    return tokens[at].start


def _behind_condition(tokens: Sequence[Token], at: int) -> int:
    """The index behind ``SQLSTATE [VALUE] '...'``, ``NOT FOUND`` or a condition's name."""
    state = behind_words(tokens, at, "SQLSTATE")
    if state > at and tokens[(value := behind_words(tokens, state, "VALUE"))].kind is Kind.STRING:
        return value + 1
    not_found = behind_words(tokens, at, "NOT", "FOUND")
    return not_found if not_found > at else name_at(tokens, at)[1]


def _rows(session: SessionState, text: str) -> DataFrame | None:
    """What the statement gives, if it is a query, or one in a string; commands' rows are not the script's."""
    statement = parse(text)
    inside = immediate_text(session, statement) if isinstance(statement, s.ExecuteImmediate) else None
    frame = session.run(text)
    return frame if isinstance(statement if inside is None else parse(inside), s.Query) else None


def _handled(script: Script, error: IcesqlError) -> None:
    """Handlers take errors by Spark's conditions; ours name them where Spark would raise them. Raises the error where none takes it."""
    condition = _CONDITION.match(str(error))
    if condition is None or not script.takes(condition[1], str(error)):
        raise error
