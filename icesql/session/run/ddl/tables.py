"""Statements that make, replace, change and drop tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icesql.errors import AlreadyExistsError, NotFoundError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.statements.families import Alteration, TableStatement
from icesql.parser.text.edits import quote
from icesql.session.resolve.resolved import MetadataTable, Missing, Readable, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import is_table, not_found, place, readable, required, resolve, table_at
from icesql.session.run.ddl.alter import run_alter
from icesql.session.run.ddl.column_defaults import refuse_defaults
from icesql.session.run.ddl.create_as import create_as_select
from icesql.session.run.ddl.schemas import partition_spec, table_schema
from icesql.session.run.ddl.table_properties import table_properties
from icesql.session.run.ddl.views import alter_as_view
from icesql.session.run.queries import run_query
from icesql.session.run.transactions import make_table
from icesql.session.sql_errors import not_iceberg, table_exists, table_not_found
from icesql.session.state.catalogs import SPARK_CATALOG
from icesql.session.state.names import Address
from icesql.spark.jvm.types import from_spark
from icesql.spec.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_ddl(session: SessionState, statement: TableStatement, args: Any = None) -> DataFrame:
    match statement:
        case s.CreateTable():
            return _create(session, statement, args)
        case s.CreateTableLike():
            return _create_like(session, statement)
        case s.DropTable():
            return _drop(session, statement)
        case s.AlterTable():
            return _alter(session, statement)


# -- CREATE and REPLACE ------------------------------------------------------------------------------------------------
def _create(session: SessionState, statement: s.CreateTable, args: Any) -> DataFrame:
    address = session.names.address(statement.table.parts)
    if address is None or _is_sparks_own(address, statement):
        return run_query(session, statement.text, statement.references, args)
    refuse_defaults(session, statement.columns, statement.table.dotted)
    if statement.query:
        return create_as_select(session, statement, address, args)
    schema = table_schema(statement.columns, case_sensitive=session.is_case_sensitive)
    spec = partition_spec(statement.partitioning, schema, case_sensitive=session.is_case_sensitive)
    properties = table_properties(session, statement)
    if _leave_alone(session, statement, address):
        return session.nothing
    stage: dict[str, Any] = {"spec": spec, "location": statement.location, "properties": properties}
    try:
        if statement.replace:
            made = address.catalog.stage_replace(address.identifier, schema, **stage, or_create=statement.create)
        else:
            made = address.catalog.stage_create(address.identifier, schema, **stage)
        make_table(session, address, made)
    except AlreadyExistsError:
        if not statement.if_not_exists:
            raise table_exists(address.parts) from None
    except NotFoundError as error:
        raise (table_not_found(address.parts) if statement.replace and not statement.create else error) from None
    return session.nothing


def _is_sparks_own(address: Address, statement: s.CreateTable) -> bool:
    """True for a table of the session catalog in another format: beside ours, it keeps Spark's tables."""
    return address.catalog.name == SPARK_CATALOG and (statement.provider or "iceberg").lower() != "iceberg"


def _leave_alone(session: SessionState, statement: s.CreateTable, address: Address) -> bool:
    """True for IF NOT EXISTS of what is there. Raises AlreadyExistsError, or NotFoundError for REPLACE of what is not."""
    exists = table_at(session, address) is not None
    if exists and not statement.replace:
        if statement.if_not_exists:
            return True
        raise table_exists(address.parts)
    if not exists and statement.replace and not statement.create:
        raise table_not_found(address.parts, text=statement.text, offset=statement.table.start)
    return False


def _create_like(session: SessionState, statement: s.CreateTableLike) -> DataFrame:
    """An addition of ours: schema, partitioning, sort order and properties of the source; no rows, no history."""
    address = session.names.address(statement.table.parts)
    if address is None:
        return session.spark_sql(statement.text)
    if is_table(session, address):
        if statement.if_not_exists:
            return session.nothing
        raise table_exists(address.parts)
    source_table = readable(session, statement.source.parts)
    properties = dict(statement.properties)
    if source_table is None:
        schema = _spark_schema(session, statement)
        make_table(
            session, address, address.catalog.stage_create(address.identifier, schema, location=statement.location, properties=properties)
        )
        return session.nothing
    source = source_table.table.metadata
    inherited = {"format-version": str(source.format_version), **source.properties, **properties}
    copy = address.catalog.stage_create(
        address.identifier,
        source.schema,
        spec=source.spec,
        sort_order=source.sort_order,
        location=statement.location,
        properties=inherited,
    )
    make_table(session, address, copy)
    return session.nothing


def _spark_schema(session: SessionState, statement: s.CreateTableLike) -> Schema:
    return from_spark(session.spark_sql(f"SELECT * FROM {quote(*statement.source.parts)}").schema)


# -- DROP --------------------------------------------------------------------------------------------------------------
def _drop(session: SessionState, statement: s.DropTable) -> DataFrame:
    parts = statement.table.parts
    address = place(session, parts)
    if address is None:
        return session.spark_sql(statement.text)
    try:
        address.catalog.drop_table(address.identifier, purge=statement.purge)  # one that cannot be read can be dropped
    except NotFoundError:
        return _drop_no_table(session, statement)
    return session.nothing


def _drop_no_table(session: SessionState, statement: s.DropTable) -> DataFrame:
    parts = statement.table.parts
    match resolve(session, parts):
        case MetadataTable():
            return session.nothing  # the runtime says nothing and does nothing
        case SparkOwned() | TemporaryView():
            return session.spark_sql(statement.text)
        case ResolvedTable() | StoredView() | Missing():
            if not statement.if_exists:
                raise not_found(session, parts, text=statement.text, offset=statement.table.start)
            return session.nothing


# -- ALTER -------------------------------------------------------------------------------------------------------------
_ACTIONS: dict[type, str] = {
    s.AddPartitionField: "add partition field to",
    s.DropPartitionField: "drop partition field from",
    s.ReplacePartitionField: "replace partition field in",
    s.WriteOrder: "set write distribution and ordering of",
    s.SetIdentifierFields: "set identifier fields in",
    s.DropIdentifierFields: "drop identifier fields in",
    s.CreateBranch: "create or replace branch on",
    s.CreateTag: "create tag on",
    s.DropBranch: "drop branch on",
    s.DropTag: "drop tag on",
}


def _alter(session: SessionState, statement: Alteration) -> DataFrame:
    parts = statement.table.parts
    match resolve(session, parts):
        case ResolvedTable() as table:
            if not table.is_plain and type(statement) not in _ACTIONS:  # Iceberg's own statements are about the table behind a version
                raise table_not_found(parts, text=statement.text, offset=statement.table.start)
            run_alter(session, statement, table)
            return session.nothing
        case MetadataTable():
            raise UnsupportedError(f"Cannot alter table: it is a metadata table: {statement.table.dotted}")
        case StoredView() as view:
            return alter_as_view(session, statement, view)
        case TemporaryView() | SparkOwned():
            if type(statement) in _ACTIONS:
                raise _not_ours(session, statement)
            return session.spark_sql(statement.text)
        case Missing():
            raise not_found(session, parts, text=statement.text, offset=statement.table.start)


def _not_ours(session: SessionState, statement: s.AlterTable) -> Exception:
    """Iceberg's statement about a table of Spark's, or about nothing."""
    from pyspark.errors import AnalysisException

    try:
        session.spark_sql(f"DESCRIBE TABLE {quote(*statement.table.parts)}")
    except AnalysisException:
        return table_not_found(statement.table.parts, text=statement.text, offset=statement.table.start)
    return not_iceberg(_ACTIONS[type(statement)], statement.table.parts)


# -- COMMENT ON --------------------------------------------------------------------------------------------------------
def run_comment(session: SessionState, statement: s.CommentOn) -> DataFrame:
    """COMMENT ON TABLE, NAMESPACE or COLUMN; null empties a table's comment."""
    parts = statement.name.parts
    if statement.kind == "namespace":
        where = session.names.namespace(parts)
        if where is None:
            return session.spark_sql(statement.text)
        catalog, namespace = where
        catalog.update_namespace_properties(namespace, updates={"comment": statement.comment or ""})
        return session.nothing
    table_parts = parts[:-1] if statement.kind == "column" else parts
    if session.names.address(table_parts) is None:
        return session.spark_sql(statement.text)
    resolved = required(session, table_parts, text=statement.text, offset=statement.name.start)
    if not resolved.is_plain:
        raise table_not_found(table_parts, text=statement.text, offset=statement.name.start)
    _comment(resolved, statement)
    return session.nothing


def _comment(resolved: Readable, statement: s.CommentOn) -> None:
    if statement.kind == "column":
        resolved.table.update_schema().update_column_doc(statement.name.parts[-1], statement.comment).commit()
        return
    resolved.table.update_properties().set("comment", statement.comment or "").commit()
