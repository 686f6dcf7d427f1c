"""The ``where`` of procedures: Spark SQL text as an expression over the table, that chooses files."""

from __future__ import annotations

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError
from icesql.expr.binding import bind
from icesql.expr.tree import TRUE, Expression
from icesql.parser.filters import parse_filter
from icesql.procedures.context import ProcedureContext
from icesql.table.table import Table


def row_filter(context: ProcedureContext, table: Table, where: str | None) -> Expression:
    """``None`` is everything. What our own parser does not know (functions of constants, casts) Spark folds.

    Raises InvalidArgumentError ``Cannot parse predicates in where option`` or ``Cannot translate Spark expression``.
    """
    if where is None:
        return TRUE
    if not where.strip():
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}", where=where)
    try:
        expression = parse_filter(where)
        bind(table.schema, expression, case_sensitive=False)
        return expression
    except (SqlError, IcesqlError):
        return _by_spark(context, table, where)


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
