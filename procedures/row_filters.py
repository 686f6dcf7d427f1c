"""The ``where`` of procedures: Spark SQL text as an expression over the table, that chooses files."""

from __future__ import annotations

from icesql.errors import IcesqlError, InvalidArgumentError, SqlError
from icesql.expr.tree import TRUE, Expression
from icesql.parser.text.token_groups import is_null
from icesql.parser.text.tokens import tokenize
from icesql.procedures.context import ProcedureContext
from icesql.spec.case_folding import fold
from icesql.table.scan import metadata_columns
from icesql.table.table import Table


def row_filter(context: ProcedureContext, table: Table, where: str | None) -> Expression:
    """``None`` is everything. Raises InvalidArgumentError ``Cannot parse predicates in where option`` or ``Cannot translate Spark
    expression``."""
    from pyspark.errors import PySparkException

    if where is None:
        return TRUE
    if _is_empty(where) or _names_metadata(table, where):
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}", where=where)
    try:
        expression = context.session.file_filter(table, where)
    except (IcesqlError, PySparkException) as error:
        raise InvalidArgumentError(f"Cannot parse predicates in where option: {where}: {_first_line(error)}", where=where) from error
    if expression is None:
        raise InvalidArgumentError(f"Cannot translate Spark expression: {where} to data source filter", where=where)
    return expression


def _is_empty(where: str) -> bool:
    """Whether the predicate is blank or a bare ``NULL``, perhaps in brackets."""
    try:
        return not where.strip(" ()") or is_null(where)
    except SqlError:
        return False


def _names_metadata(table: Table, where: str) -> bool:
    """Whether the predicate names a metadata column: those are of rows, and files are chosen here."""
    try:
        tokens = tokenize(where)
    except SqlError:
        return False
    names = {fold(token.name) for token in tokens if token.is_identifier}
    return not names.isdisjoint({*metadata_columns.NAMES} - {fold(field.name) for field in table.schema.fields})


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
