"""The ``where`` of procedures: Spark SQL text as an expression over the table, that chooses files."""

from __future__ import annotations

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError
from icesql.expr.binding import bind
from icesql.expr.tree import TRUE, Expression
from icesql.parser.edits import Edit, rewrite
from icesql.parser.filters import parse_filter
from icesql.parser.identifiers import parse_name
from icesql.parser.tokens import Token, tokenize
from icesql.procedures.context import ProcedureContext
from icesql.table.table import Table

_METADATA_COLUMNS = frozenset({"_file", "_pos", "_partition", "_spec_id", "_deleted", "_row_id", "_last_updated_sequence_number"})


def row_filter(context: ProcedureContext, table: Table, where: str | None) -> Expression:
    """``None`` is everything. What our own parser does not know (functions of constants, casts) Spark folds.

    Raises InvalidArgumentError ``Cannot parse predicates in where option`` or ``Cannot translate Spark expression``.
    """
    if where is None:
        return TRUE
    if where.strip(" ()").upper() in ("", "NULL") or _names_metadata(table, where):
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}", where=where)
    where = _unqualified(table, where)
    try:
        expression = parse_filter(where)
        bind(table.schema, expression, case_sensitive=False)
        return expression
    except (SqlError, IcesqlError):
        return _by_spark(context, table, where)


def _names_metadata(table: Table, where: str) -> bool:
    """Whether the predicate names a metadata column: those are of rows, and files are chosen here."""
    names = {token.name.lower() for token in _tokens(where) if token.is_identifier}
    return not names.isdisjoint(_METADATA_COLUMNS - {field.name.lower() for field in table.schema.fields})


def _unqualified(table: Table, where: str) -> str:
    """The predicate with its columns not qualified by the table's name."""
    tokens, edits, at = _tokens(where), list[Edit](), 0
    full = tuple(part.lower() for part in parse_name(table.name))
    while at < len(tokens):
        chain = [tokens[at].name.lower()]
        while tokens[at].is_identifier and at + 2 * len(chain) < len(tokens) and tokens[at + 2 * len(chain) - 1].key == ".":
            chain.append(tokens[at + 2 * len(chain)].name.lower())
        length = next((n for n in range(len(full), 0, -1) if len(chain) > n and tuple(chain[:n]) == full[-n:]), 0)
        if length and table.schema.find(chain[0], case_sensitive=False) is None:
            edits.append(Edit(tokens[at].start, tokens[at + 2 * length].start, ""))
        at += 2 * len(chain) - 1
    return rewrite(where, edits).text


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
