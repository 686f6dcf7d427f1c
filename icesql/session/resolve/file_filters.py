"""SQL text as a predicate that chooses files of a table: REPLACE WHERE, the ``where`` of procedures, a writer's ``overwrite``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.errors import IcesqlError, NotFoundError, SqlError
from icesql.expr.binding import bind
from icesql.expr.tree import Expression
from icesql.parser.filters import parse_filter
from icesql.parser.text.edits import Edit, rewrite
from icesql.parser.text.identifiers import parse_name
from icesql.parser.text.parameters import sql_literal
from icesql.parser.text.token_groups import behind_brackets, is_null, name_at
from icesql.parser.text.tokens import Token, tokenize
from icesql.session.spark_errors import UserText, in_the_users_words
from icesql.spec.case_folding import fold
from icesql.table.table import Table

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def file_filter(session: SessionState, table: Table, where: str, *, exact_names: bool = False) -> Expression | None:
    """A bound predicate; ``None`` for one that is no filter of files (null, ``rand() > 0.5``).

    What our own parser does not know (functions of constants, casts, times as text) Spark folds. Names are compared as the session does,
    and may be qualified by the table's; ``exact_names``: a column in another case is not found, as in the runtime's overwrites by a
    filter. Raises NotFoundError for such, Spark's error for a column that is not there or a condition that it refuses, SqlError for a
    condition that is not deterministic.
    """
    if _is_null(where):
        return None
    where = _with_constants(session, table, _unqualified(session, table, where))
    try:
        return bind(table.schema, parse_filter(where, patterns=False), case_sensitive=exact_names or session.is_case_sensitive)
    except IcesqlError as error:
        if exact_names and isinstance(error, NotFoundError):
            raise
        return _by_spark(session, table, where)


def _by_spark(session: SessionState, table: Table, where: str) -> Expression | None:
    from icesql.spark.row_level.affected_rows import POS
    from icesql.spark.row_level.checks import require_deterministic
    from icesql.spark.row_level.target import Target, exact_condition

    target = Target(spark=session.spark, table=table, alias="__icesql_filtered")
    user = UserText(where, is_statement=False, handed=[rewrite(where, ())])
    try:
        with in_the_users_words(session.spark, user):
            matching = target.matching([POS], where)
            require_deterministic(matching)
            return exact_condition(target, where, matching)
    finally:
        target.close()


def _unqualified(session: SessionState, table: Table, where: str) -> str:
    """The predicate with its columns not qualified by the table's name."""
    tokens, edits, at = _tokens(where), list[Edit](), 0
    key = session.name_key
    full = tuple(map(key, parse_name(table.name)))
    while at < len(tokens):
        name, end = name_at(tokens, at)
        parts = tuple(map(key, name))
        length = next((n for n in range(len(full), 0, -1) if len(parts) > n and parts[:n] == full[-n:]), 0)
        if length and table.schema.find(parts[0], case_sensitive=session.is_case_sensitive) is None:
            edits.append(Edit(tokens[at].start, tokens[at + 2 * length].start, ""))
        at = max(end, at + 1)
    return rewrite(where, edits).text


def _with_constants(session: SessionState, table: Table, where: str) -> str:
    """The predicate with calls of Iceberg's functions over constants (``local.system.bucket(4, 1)``) as their values."""
    if "system" not in where.lower():
        return where
    columns = {fold(field.name) for field in table.schema.fields}
    tokens, edits, at = _tokens(where), list[Edit](), 0
    while at < len(tokens):
        end = _end_of_call(tokens, at)
        inside = {fold(token.name) for token in tokens[at:end] if token.is_identifier}
        if end > at and columns.isdisjoint(inside):
            edits.append(Edit(tokens[at].start, tokens[end - 1].end, _value(session, where[tokens[at].start : tokens[end - 1].end])))
        at = max(end, at + 1)
    return rewrite(where, edits).text


def _end_of_call(tokens: tuple[Token, ...], at: int) -> int:
    """Index behind the call of ``system.f(...)`` or ``catalog.system.f(...)`` that begins at a token; ``at`` itself if none does."""
    keys = [token.key for token in tokens[at : at + 6]]
    start = next((n for n in (2, 4) if keys[n - 2 : n] == ["SYSTEM", "."] and keys[n + 1 : n + 2] == ["("]), None)
    if start is None or (start == 4 and keys[1] != ".") or (at and tokens[at - 1].key == "."):
        return at
    end = behind_brackets(tokens, at + start + 1)
    return end if tokens[end - 1].key == ")" else at


def _value(session: SessionState, call: str) -> str:
    """SQL of what a call without columns gives; the call itself where Spark cannot tell."""
    from pyspark.errors import PySparkException

    try:
        return sql_literal(session.run(f"SELECT {call}").collect()[0][0])
    except (IcesqlError, PySparkException):
        return call


def _is_null(where: str) -> bool:
    try:
        return is_null(where)
    except SqlError:
        return False


def _tokens(where: str) -> tuple[Token, ...]:
    try:
        return tokenize(where)
    except SqlError:
        return ()
