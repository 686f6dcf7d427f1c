"""CREATE TABLE ... AS SELECT and its REPLACE forms: the table and its first rows in one commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.errors import AlreadyExistsError, SqlError
from icesql.expr.tree import TRUE
from icesql.parser import statements as s
from icesql.session.resolve.ambiguous_columns import refuse_doubled
from icesql.session.resolve.resolver import is_table
from icesql.session.resolve.write_audit_publish import wap_of
from icesql.session.resolve.write_target import SessionSettings, asks_dynamic, given_summary
from icesql.session.rewrite.bound_text import bound
from icesql.session.run.ddl.schemas import partition_spec
from icesql.session.run.ddl.table_properties import table_properties
from icesql.session.run.queries import from_metadata
from icesql.session.run.transactions import make_table
from icesql.session.sql_errors import table_exists, table_not_found
from icesql.session.state.names import Address
from icesql.spark.jvm.types import from_spark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spec.metadata import TableMetadata
    from icesql.table.transaction import Transaction


def create_as_select(session: SessionState, statement: s.CreateTable, address: Address, args: Any = None) -> DataFrame:
    """CTAS appends; a replacing statement overwrites, even when it creates. A failure leaves nothing behind."""
    if statement.columns and len(statement.columns) > len(statement.partition_columns):
        raise SqlError("Operation not allowed: Schema may not be specified in a Create Table As Select (CTAS) statement.")
    exists = is_table(session, address)
    if exists and not statement.replace:
        if statement.if_not_exists:
            return session.nothing
        raise table_exists(address.parts)
    if not exists and statement.replace and not statement.create:
        raise table_not_found(address.parts, text=statement.text, offset=statement.table.start)
    session.temporary_views.refresh(statement.references)
    with bound(session, statement.text, statement.references) as text:
        frame = from_metadata(session, text, text.frame(*statement.query, args=args))
        create_from_frame(session, statement, address, frame)
    return session.nothing


def create_from_frame(
    session: SessionState,
    statement: s.CreateTable,
    address: Address,
    frame: DataFrame,
    *,
    properties: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> None:
    """Make or replace the table with the frame's columns and rows. ``properties``: of the table, beside the statement's; ``options``: of
    the write. Raises AlreadyExistsError."""
    stored = {**table_properties(session, statement), **(properties or {})}
    schema = from_spark(stored_schema(session, address, frame.schema))
    spec = partition_spec(statement.partitioning, schema, case_sensitive=session.is_case_sensitive)
    stage: dict[str, Any] = {"spec": spec, "location": statement.location, "properties": stored}
    try:
        if statement.replace:
            transaction = address.catalog.stage_replace(address.identifier, schema, **stage, or_create=statement.create)
        else:
            transaction = address.catalog.stage_create(address.identifier, schema, **stage)
        fill(session, address, transaction, frame, overwrite=statement.replace, options=options)
    except AlreadyExistsError:
        raise table_exists(address.parts) from None


def fill(
    session: SessionState,
    address: Address,
    transaction: Transaction,
    frame: DataFrame,
    *,
    overwrite: bool,
    options: Mapping[str, str] | None = None,
) -> None:
    """Write the rows into the staged table, and commit both, or let the session's transaction do so. ``options``: of the write."""
    from icesql.spark.write.data_files import WriteSettings, write_frame
    from icesql.table.changes.append import AppendFiles
    from icesql.table.changes.overwrite import OverwriteFiles
    from icesql.table.changes.replace_partitions import ReplacePartitions

    asked = {key.lower(): value for key, value in (options or {}).items()}
    replacing = ReplacePartitions if asks_dynamic(asked) else OverwriteFiles
    try:
        builder: Any = (replacing if overwrite else AppendFiles)(transaction.operations)
        builder.owning_files().set_all({**session.engine_summary, **given_summary(session, asked)})
        _follow_wap(session, transaction.metadata, builder)
        settings = WriteSettings(options=asked, session=SessionSettings(session))
        files = write_frame(session.spark, frame, transaction.metadata, transaction.io, settings)
        if isinstance(builder, OverwriteFiles):
            builder.overwrite_by_row_filter(TRUE)
        if overwrite:
            for file in files:
                builder.add_file(file)
        else:
            builder.append_files(files)
        transaction.add(builder)
    except BaseException:
        transaction.abandon()
        raise
    make_table(session, address, transaction)


def _follow_wap(session: SessionState, metadata: TableMetadata, builder: Any) -> None:
    """The first rows, too, are staged or go to the branch that the session asks for, where the table takes part in that."""
    wap_id, branch = wap_of(session, metadata)
    if branch is not None:
        builder.to_branch(branch)
    elif wap_id is not None:
        builder.stage_only()
        builder.set_all({"wap.id": wap_id})


def stored_schema(session: SessionState, address: Address, schema: Any) -> Any:
    """Columns come out nullable unless the catalog says otherwise; comments stay.

    Raises SqlError for two columns of one name, and for one without.
    """
    nullable = address.catalog.properties.get("use-nullable-query-schema", "true").lower() != "false"
    refuse_doubled((field.name for field in schema.fields), session.name_key)
    if "" in schema.names:
        raise SqlError("Cannot create table: the name of a column is empty: ``")
    return as_nullable(schema) if nullable else schema


def as_nullable(type_: Any) -> Any:
    """The Spark type with nothing required at any depth."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(type_, StructType):
        return StructType([StructField(f.name, as_nullable(f.dataType), True, f.metadata) for f in type_.fields])
    if isinstance(type_, ArrayType):
        return ArrayType(as_nullable(type_.elementType), True)
    if isinstance(type_, MapType):
        return MapType(as_nullable(type_.keyType), as_nullable(type_.valueType), True)
    return type_
