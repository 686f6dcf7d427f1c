"""The ``where`` of procedures: Spark SQL text as an expression over the table, that chooses files."""

from __future__ import annotations

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError
from icesql.expr.binding import bind
from icesql.expr.tree import TRUE, Expression
from icesql.parser.edits import Edit, rewrite
from icesql.parser.filters import parse_filter
from icesql.parser.identifiers import parse_name
from icesql.parser.parameters import sql_literal
from icesql.parser.token_groups import behind_brackets, name_at
from icesql.parser.tokens import Token, tokenize
from icesql.procedures.context import ProcedureContext
from icesql.table.scan import metadata_columns
from icesql.table.table import Table


def row_filter(context: ProcedureContext, table: Table, where: str | None) -> Expression:
    """``None`` is everything. What our own parser does not know (functions of constants, casts) Spark folds. Names are compared as the
    session does.

    Raises InvalidArgumentError ``Cannot parse predicates in where option`` or ``Cannot translate Spark expression``.
    """
    if where is None:
        return TRUE
    if where.strip(" ()").upper() in ("", "NULL") or _names_metadata(table, where):
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}", where=where)
    where = _with_constants(context, table, _unqualified(context, table, where))
    try:
        expression = parse_filter(where)
        bind(table.schema, expression, case_sensitive=context.session.is_case_sensitive)
        return expression
    except (SqlError, IcesqlError):
        return _by_spark(context, table, where)


def _names_metadata(table: Table, where: str) -> bool:
    """Whether the predicate names a metadata column: those are of rows, and files are chosen here."""
    names = {token.name.lower() for token in _tokens(where) if token.is_identifier}
    return not names.isdisjoint({*metadata_columns.NAMES} - {field.name.lower() for field in table.schema.fields})


def _unqualified(context: ProcedureContext, table: Table, where: str) -> str:
    """The predicate with its columns not qualified by the table's name."""
    tokens, edits, at = _tokens(where), list[Edit](), 0
    key = str if context.session.is_case_sensitive else str.lower
    full = tuple(map(key, parse_name(table.name)))
    while at < len(tokens):
        name, end = name_at(tokens, at)
        parts = tuple(map(key, name))
        length = next((n for n in range(len(full), 0, -1) if len(parts) > n and parts[:n] == full[-n:]), 0)
        if length and table.schema.find(parts[0], case_sensitive=context.session.is_case_sensitive) is None:
            edits.append(Edit(tokens[at].start, tokens[at + 2 * length].start, ""))
        at = max(end, at + 1)
    return rewrite(where, edits).text


def _with_constants(context: ProcedureContext, table: Table, where: str) -> str:
    """The predicate with calls of Iceberg's functions over constants (``local.system.bucket(4, 1)``) as their values."""
    if "system" not in where.lower():
        return where
    columns = {field.name.lower() for field in table.schema.fields}
    tokens, edits, at = _tokens(where), list[Edit](), 0
    while at < len(tokens):
        end = _end_of_call(tokens, at)
        inside = {token.name.lower() for token in tokens[at:end] if token.is_identifier}
        if end > at and columns.isdisjoint(inside):
            edits.append(Edit(tokens[at].start, tokens[end - 1].end, _value(context, where[tokens[at].start : tokens[end - 1].end])))
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


def _value(context: ProcedureContext, call: str) -> str:
    """SQL of what a call without columns gives; the call itself where Spark cannot tell."""
    from pyspark.errors import PySparkException

    try:
        return sql_literal(context.session.query(f"SELECT {call}").collect()[0][0])
    except (IcesqlError, PySparkException):
        return call


def _tokens(where: str) -> tuple[Token, ...]:
    try:
        return tokenize(where)
    except SqlError:
        return ()


def _by_spark(context: ProcedureContext, table: Table, where: str) -> Expression:
    from pyspark.errors import PySparkException

    from icesql.spark.row_level.found_rows import POS
    from icesql.spark.row_level.target import Target, exact_condition

    target = Target(spark=context.spark, table=table, alias=table.identifier[-1])
    try:
        found = exact_condition(target, where, target.matching([POS], where))
    except PySparkException as error:
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}: {_first_line(error)}", where=where) from error
    finally:
        target.close()
    if found is None:
        raise InvalidArgumentError(f"Cannot translate Spark expression: {where} to data source filter", where=where)
    return found


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
