"""The ``where`` of procedures: Spark SQL text as an expression over the table, that chooses files."""

from __future__ import annotations

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError
from icesql.expr.tree import TRUE, Expression
from icesql.parser.text.tokens import tokenize
from icesql.procedures.context import ProcedureContext
from icesql.table.scan import metadata_columns
from icesql.table.table import Table


def row_filter(context: ProcedureContext, table: Table, where: str | None) -> Expression:
    """``None`` is everything. Raises InvalidArgumentError ``Cannot parse predicates in where option`` or ``Cannot translate Spark
    expression``."""
    from pyspark.errors import PySparkException

    if where is None:
        return TRUE
    if where.strip(" ()").upper() in ("", "NULL") or _names_metadata(table, where):
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}", where=where)
    try:
        expression = context.session.file_filter(table, where)
    except (IcesqlError, PySparkException) as error:
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}: {_first_line(error)}", where=where) from error
    if expression is None:
        raise InvalidArgumentError(f"Cannot translate Spark expression: {where} to data source filter", where=where)
    return expression


def _names_metadata(table: Table, where: str) -> bool:
    """Whether the predicate names a metadata column: those are of rows, and files are chosen here."""
    try:
        tokens = tokenize(where)
    except SqlError:
        return False
    names = {token.name.lower() for token in tokens if token.is_identifier}
    return not names.isdisjoint({*metadata_columns.NAMES} - {field.name.lower() for field in table.schema.fields})


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
