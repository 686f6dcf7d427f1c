"""CALL: bind the arguments, run the procedure, hand its rows over with its declared types."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.text.identifiers import parse_name
from icesql.parser.text.parameters import sql_literal
from icesql.procedures.arguments import UNKNOWN, Argument, bind
from icesql.procedures.base import Procedure
from icesql.procedures.context import ProcedureContext
from icesql.procedures.registry import NAMES
from icesql.procedures.registry import procedure as procedure_named
from icesql.session.output.results import ResultColumns
from icesql.session.rewrite.bound_text import bound
from icesql.session.rewrite.system_functions import SYSTEM
from icesql.session.run.calling_session import CallingSession
from icesql.session.sql_errors import no_procedures, routine_not_found
from icesql.spark.jvm.plans import is_deterministic
from icesql.spec.case_folding import fold
from icesql.table.after_commit import after_commit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def find_procedure(session: SessionState, parts: tuple[str, ...]) -> tuple[str, Procedure]:
    """The catalog's name and the procedure. Raises UnsupportedError for a catalog without procedures, NotFoundError with the nearest
    name."""
    if len(parts) > 1 and parts[0] in session.catalogs:
        catalog, rest = parts[0], parts[1:]
    elif session.names.is_ours:
        catalog, rest = session.names.current_catalog, parts if len(parts) > 1 else (*session.names.current_namespace, *parts)
    else:
        raise no_procedures(session.names.current_catalog)
    full = (catalog, *rest)
    if len(rest) != 2 or fold(rest[0]) != SYSTEM:
        raise routine_not_found(full, NAMES)
    try:
        return catalog, procedure_named(rest[1])
    except NotFoundError:
        raise routine_not_found(full, NAMES) from None


def run_call(session: SessionState, statement: s.Call, args: Any = None) -> DataFrame:
    catalog, procedure, arguments = bind_call(session, statement, args)
    return _run(session, catalog, procedure, arguments)


def call_by_name(session: SessionState, name: str, arguments: Mapping[str, Any]) -> DataFrame:
    """A call from Python: arguments by name, with Python values."""

    parts = parse_name(name)
    if len(parts) == 1:
        catalog = (
            session.names.current_catalog
            if session.names.is_ours
            else session.catalogs.names[0]
            if len(session.catalogs.names) == 1
            else "local"
        )
        parts = (catalog, SYSTEM, *parts)
    catalog, procedure = find_procedure(session, tuple(parts))
    given = [Argument(name=key, type=_type_of(value), text=sql_text(value), value=value) for key, value in arguments.items()]
    return _run(session, catalog, procedure, bind(procedure, given, lambda text: _evaluate(session, text), ansi=_is_ansi(session)))


def bind_call(session: SessionState, statement: s.Call, args: Any = None) -> tuple[str, Procedure, dict[str, Any]]:
    """Catalog, procedure and a value for each of its parameters. Raises before anything is done."""
    catalog, procedure = find_procedure(session, statement.procedure.parts)
    with bound(session, statement.text, statement.references) as text:
        arguments = [_argument(session, text, argument, args) for argument in statement.arguments]
        return (
            catalog,
            procedure,
            bind(procedure, arguments, lambda expression: _evaluate(session, expression, args), ansi=_is_ansi(session)),
        )


def _run(session: SessionState, catalog: str, procedure: Procedure, arguments: dict[str, Any]) -> DataFrame:
    dry_run = bool(arguments.get("dry_run"))
    if session.transaction_in_progress is not None and procedure.mutating and not (procedure.can_wait or dry_run):
        raise UnsupportedError(
            f"Cannot call {procedure.name} in a transaction: its files would not wait for the outcome: COMMIT or ROLLBACK first"
        )
    context = ProcedureContext(
        session=CallingSession(session), catalog=session.names.catalog(catalog), procedure=procedure.name, dry_run=dry_run
    )
    try:
        rows = procedure.run(context, arguments)
    finally:
        session.notices = (*session.notices, *context.notices)
        session.planned_actions = context.plan()
    columns = ResultColumns(*(f"{column.name} {column.type}{'' if column.nullable else '!'}" for column in procedure.output))
    with after_commit(f"show the rows of {procedure.name}: {rows}"):
        return columns.frame(session.spark, rows)
    return session.nothing


def _argument(session: SessionState, text: Any, argument: s.CallArgument, args: Any) -> Argument:
    expression = text.sql(argument.expression)
    constant = argument.value
    if constant is not None and constant.type not in ("timestamp", "timestamp_ntz", "date"):
        return Argument(name=argument.name, type=constant.type, text=expression, value=_plain(constant))
    if constant is not None:
        return Argument(name=argument.name, type=constant.type, text=expression)
    return Argument(name=argument.name, type=_spark_type(session, expression, args), text=expression, value=UNKNOWN)


def _plain(constant: Any) -> Any:
    """A constant without its types: lists for arrays, dicts for maps."""
    value = constant.value
    if constant.type.startswith("map<"):
        return {_plain(key): _plain(item) for key, item in value}
    if constant.type.startswith("array<"):
        return [_plain(item) for item in value]
    return value


def _spark_type(session: SessionState, expression: str, args: Any) -> str:
    """The type Spark gives an expression. Raises Spark's error for one that it cannot analyse, or that is not foldable."""
    frame = session.spark_sql(f"SELECT ({expression}) AS value", args)
    if not is_deterministic(frame):
        raise InvalidArgumentError(f"Cannot call procedure: arguments must be foldable: {expression}")
    return str(frame.schema.fields[0].dataType.simpleString())


def _evaluate(session: SessionState, expression: str, args: Any = None) -> Any:
    return session.spark_sql(f"SELECT {expression} AS value", args).collect()[0][0]


def _is_ansi(session: SessionState) -> bool:
    return session.conf("spark.sql.ansi.enabled", "true") != "false"


def _type_of(value: Any) -> str:
    match value:
        case None:
            return "void"
        case bool():
            return "boolean"
        case int():
            return "bigint"
        case float():
            return "double"
        case str():
            return "string"
        case datetime.datetime():
            return "timestamp"
        case datetime.date():
            return "date"
        case list() | tuple():
            return f"array<{_type_of(value[0]) if value else 'void'}>"
        case dict():
            return "map<string,string>"
        case _:
            raise InvalidArgumentError(f"Cannot call procedure: no SQL type for argument: {value!r}")


def sql_text(value: Any) -> str:
    """A Python value as people write it: as its literal, but numbers have no suffix (``LIMIT 5``, ``TABLESAMPLE (1.5 PERCENT)``), and what
    a map holds is text, as options are."""
    match value:
        case bool():
            return sql_literal(value)
        case int():
            return str(value)
        case float() if math.isfinite(value):
            return repr(value)
        case dict():
            return sql_literal({key: str(item) for key, item in value.items()})
        case _:
            return sql_literal(value)


__all__ = ["bind_call", "call_by_name", "run_call", "sql_text"]
