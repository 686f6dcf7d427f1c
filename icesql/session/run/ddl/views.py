"""Views: temporary ones in Spark, stored ones in catalogs that keep them. Spec: "Iceberg View Spec"."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from icesql.errors import AlreadyExistsError, InvalidArgumentError, SqlError, UnsupportedError, ValidationError
from icesql.parser import statements as s
from icesql.parser.statements.families import ViewStatement
from icesql.session.output.patterns import matches
from icesql.session.output.results import ResultColumns
from icesql.session.resolve.ambiguous_columns import refuse_doubled
from icesql.session.resolve.resolved import MetadataTable, ResolvedTable, StoredView
from icesql.session.resolve.resolver import find_view, not_found, place, resolve
from icesql.session.resolve.stored_views import QUERY_COLUMNS, SPARK_DIALECT, run_view_query
from icesql.session.rewrite.moving import moved
from icesql.session.run.ddl.table_properties import file_format, is_iceberg, refuse_reserved
from icesql.session.spark_errors import within
from icesql.session.sql_errors import quoted, schema_not_found, view_not_found
from icesql.session.state.names import Address
from icesql.session.views.temporary_needs import refuse_temporary
from icesql.session.views.temporary_views import OverTable
from icesql.spark.jvm.types import from_spark
from icesql.spark_errors import spark_message
from icesql.spec.assign_ids import assign_view_ids
from icesql.spec.properties import DEFAULT_FILE_FORMAT
from icesql.spec.views import SqlRepresentation, ViewMetadata, ViewVersion, new_view, replace_version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spec.schema import Schema

VIEWS = ResultColumns("namespace string!", "viewName string!", "isTemporary boolean!")
_RESERVED = ("provider", "location", "format-version", QUERY_COLUMNS)


def run_views(session: SessionState, statement: ViewStatement, args: Any = None) -> DataFrame:
    match statement:
        case s.CreateView():
            return _create(session, statement, args)
        case s.ShowViews():
            return _show(session, statement)
        case s.DropView():
            return _drop(session, statement)
        case s.AlterViewProperties() | s.RenameView() | s.AlterViewAs():
            return _alter(session, statement)


# -- CREATE ------------------------------------------------------------------------------------------------------------
def _create(session: SessionState, statement: s.CreateView, args: Any) -> DataFrame:
    if statement.temporary or statement.global_temporary:
        return _create_temporary(session, statement)
    address = session.names.address(statement.view.parts)
    if address is None:
        if _reads_ours(session, statement.references):
            raise UnsupportedError(
                f"Cannot create view {statement.view.dotted} in Spark's own catalog over Iceberg tables: use CREATE TEMPORARY "
                f"VIEW, or a catalog that stores views"
            )
        return session.spark_sql(statement.text, args)
    if not address.catalog.supports_views:
        raise UnsupportedError(f"Creating a view is not supported by catalog: {address.catalog.name}")
    return _create_stored(session, statement, address)


def _reads_ours(session: SessionState, references: s.References) -> bool:
    """Whether a table or stored view of ours, or a temporary view over one, is among the references."""
    for reference in references.tables:
        if reference.place is not s.Place.TARGET and session.temporary_views.find(reference.parts) is not None:
            return True
        if reference.place is not s.Place.TARGET and isinstance(
            resolve(session, reference.parts), ResolvedTable | MetadataTable | StoredView
        ):
            return True
    return False


def _create_temporary(session: SessionState, statement: s.CreateView) -> DataFrame:
    if statement.provider is not None:
        return _create_over_table(session, statement)
    if not _reads_ours(session, statement.references):
        frame = session.spark_sql(statement.text)
        session.temporary_views.forget(statement.view.parts[-1])
        return frame
    if statement.if_not_exists:
        raise SqlError("It is not allowed to define a TEMPORARY view with IF NOT EXISTS.")
    with within(session.spark, statement.text, statement.query.start):
        session.temporary_views.create(
            statement.view.parts[-1],
            statement.query.of(statement.text),
            moved(statement.references, statement.query.start),
            columns=tuple(column.name for column in statement.columns),
            replace=statement.replace,
            is_global=statement.global_temporary,
        )
    return session.nothing


def _create_over_table(session: SessionState, statement: s.CreateView) -> DataFrame:
    """``USING iceberg OPTIONS (path 'db.t')``: the table of that name, read with the other options."""
    if not is_iceberg(statement.provider or ""):
        return session.spark_sql(statement.text)
    options = {key.lower(): value for key, value in statement.options}
    path = options.pop("path", None)
    if statement.columns:
        raise SqlError("iceberg does not support user specified schema. Please don't specify the schema.")
    if path is None:
        raise InvalidArgumentError("Cannot open table: path is not set")
    over = OverTable(path, options)
    session.temporary_views.create_over(statement.view.parts[-1], over, replace=statement.replace, is_global=statement.global_temporary)
    return session.nothing


def _create_stored(session: SessionState, statement: s.CreateView, address: Address) -> DataFrame:
    existing = find_view(address)
    if address.catalog.table_exists(address.identifier):
        if statement.if_not_exists:
            return session.nothing
        raise AlreadyExistsError(
            spark_message(
                "TABLE_OR_VIEW_ALREADY_EXISTS", f"Cannot create view {address.dotted} because a table of that name already exists."
            )
        )
    if existing is not None and statement.if_not_exists:
        return session.nothing
    if existing is not None and not statement.replace:
        raise AlreadyExistsError(
            spark_message("TABLE_OR_VIEW_ALREADY_EXISTS", f"Cannot create view {quoted(address.parts)} because it already exists.")
        )
    refuse_temporary(session, statement, address)
    text = statement.query.of(statement.text)
    with within(session.spark, statement.text, statement.query.start):
        frame = run_view_query(session, text)
    schema = _schema(session, statement, frame.schema)
    version = _version(session, text, address)
    properties = {**(dict(existing.properties) if existing is not None else {}), **_properties(session, statement, frame)}
    if existing is None:
        location = properties.pop("location", None) or address.catalog.default_location(address.identifier)
        metadata = new_view(view_uuid=str(uuid.uuid4()), location=location, schema=schema, version=version, properties=properties)
    else:
        metadata = replace_version(replace(existing, properties=properties), version, schema)
    _refuse_cycle(session, address, text)
    address.catalog.commit_view(address.identifier, existing, metadata)
    return session.nothing


def _refuse_cycle(session: SessionState, address: Address, text: str) -> None:
    """Running the query under the view's own name finds a view that would read itself."""
    with session.reading_view(address.dotted):
        run_view_query(session, text)


def _schema(session: SessionState, statement: s.CreateView, schema: Any) -> Schema:
    from pyspark.sql.types import StructField, StructType

    given = statement.columns
    if given and len(given) != len(schema.fields):
        kind = "NOT_ENOUGH_DATA_COLUMNS" if len(given) > len(schema.fields) else "TOO_MANY_DATA_COLUMNS"
        raise SqlError(
            spark_message(
                f"CREATE_VIEW_COLUMN_ARITY_MISMATCH.{kind}",
                f"Cannot create view {quoted(statement.view.parts)}: view columns and query columns differ in number.",
            )
        )
    names = [column.name for column in given] or list(schema.names)
    refuse_doubled(names, session.name_key)
    comments = [column.comment for column in given] or [None] * len(names)
    fields = [
        StructField(
            name,
            field.dataType,
            field.nullable,
            {"comment": comment} if comment is not None else {k: v for k, v in field.metadata.items() if k == "comment"},
        )
        for name, comment, field in zip(names, comments, schema.fields, strict=True)
    ]
    return assign_view_ids(from_spark(StructType(fields)))


def _version(session: SessionState, text: str, address: Address) -> ViewVersion:
    """The catalog in which names of the text are looked for is stated where it is not the view's own."""
    names = session.names
    return ViewVersion(
        version_id=1,
        timestamp_ms=time.time_ns() // 1_000_000,
        schema_id=0,
        summary={key: value for key, value in session.engine_summary.items() if key != "spark.app.id"},
        representations=(SqlRepresentation(sql=text, dialect=SPARK_DIALECT),),
        default_namespace=names.current_namespace if names.is_ours else ("default",),
        default_catalog=None if names.current_catalog == address.catalog.name else names.current_catalog,
    )


def _properties(session: SessionState, statement: s.CreateView, frame: DataFrame) -> dict[str, str]:
    properties = dict(statement.properties)
    stored_as = file_format(properties.pop("provider", None))
    if stored_as is not None:
        properties[DEFAULT_FILE_FORMAT] = stored_as
    if statement.comment is not None:
        properties["comment"] = statement.comment
    engine = f"Spark {session.spark.version}"
    return {**properties, QUERY_COLUMNS: ",".join(frame.columns), "create_engine_version": engine, "engine_version": engine}


# -- SHOW and DROP -----------------------------------------------------------------------------------------------------
def _show(session: SessionState, statement: s.ShowViews) -> DataFrame:
    where = session.names.namespace(None if statement.namespace is None else statement.namespace.parts)
    if where is None:
        return session.spark_sql(statement.text)
    catalog, namespace = where
    if catalog.supports_views and namespace and not catalog.namespace_exists(namespace):
        raise schema_not_found((catalog.name, *namespace))
    stored = [view[-1] for view in (catalog.list_views(namespace) if catalog.supports_views else [])]
    rows = [(".".join(namespace), name, False) for name in stored if matches(name, statement.pattern)]
    temporary = [v.name for v in session.spark.catalog.listTables() if v.isTemporary and matches(v.name, statement.pattern)]
    return VIEWS.frame(session.spark, rows + [("", name, True) for name in temporary])


def _drop(session: SessionState, statement: s.DropView) -> DataFrame:
    parts = statement.view.parts
    address = place(session, parts)
    if address is None:
        session.temporary_views.forget(".".join(parts))
        return session.spark_sql(statement.text)
    if find_view(address) is not None:
        address.catalog.drop_view(address.identifier)
    elif address.catalog.table_exists(address.identifier) and not statement.if_exists:
        raise SqlError(
            spark_message("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE", f"'DROP VIEW' expects a view but {quoted(address.parts)} is a table.")
        )
    elif not statement.if_exists:
        raise view_not_found(address.parts)
    return session.nothing


# -- ALTER -------------------------------------------------------------------------------------------------------------
def _alter(session: SessionState, statement: s.AlterViewProperties | s.RenameView | s.AlterViewAs) -> DataFrame:
    address, name = place(session, statement.view.parts), statement.view.parts[-1]
    if address is None:
        if not isinstance(statement, s.AlterViewAs) or not _reads_ours(session, statement.references):
            session.temporary_views.forget(name)
            return session.spark_sql(statement.text)
        query = statement.query
        session.temporary_views.create(name, query.of(statement.text), moved(statement.references, query.start), replace=True)
        return session.nothing
    if isinstance(statement, s.AlterViewAs):
        raise UnsupportedError("ALTER VIEW <viewName> AS is not supported. Use CREATE OR REPLACE VIEW instead")
    view = find_view(address)
    if view is None:
        raise view_not_found(address.parts)
    if isinstance(statement, s.RenameView):
        return rename(session, address, statement.new_name.parts)
    address.catalog.commit_view(address.identifier, view, replace(view, properties=_changed_properties(view, statement)))
    return session.nothing


def rename(session: SessionState, address: Address, new_name: Sequence[str]) -> DataFrame:
    """The new name is looked up as any other: without a catalog it means the current one. A bare name stays in the view's namespace."""
    if len(new_name) == 1:
        address.catalog.rename_view(address.identifier, (*address.namespace, *new_name))
        return session.nothing
    target = session.names.address(tuple(new_name))
    catalog = session.names.current_catalog if target is None else target.catalog.name
    if target is None or catalog != address.catalog.name:
        raise InvalidArgumentError(f"Cannot move view between catalogs: from={address.catalog.name} and to={catalog}")
    address.catalog.rename_view(address.identifier, target.identifier)
    return session.nothing


def _changed_properties(view: ViewMetadata, statement: s.AlterViewProperties) -> dict[str, str]:
    refuse_reserved([*(key for key, _ in statement.set), *statement.unset])
    properties = dict(view.properties)
    for key, value in statement.set:
        if key in _RESERVED:
            raise UnsupportedError(f"Cannot set reserved property: '{key}'")
        properties[key] = value
    for key in statement.unset:
        if key in _RESERVED:
            raise UnsupportedError(f"Cannot unset reserved property: '{key}'")
        if key not in properties and not statement.if_exists:
            raise ValidationError(f"Cannot remove property that is not set: '{key}'")
        properties.pop(key, None)
    return properties


def alter_as_view(session: SessionState, statement: s.AlterTable, stored: StoredView) -> DataFrame:
    """ALTER TABLE of a view: its name may change, nothing else."""
    if isinstance(statement, s.RenameTable):
        return rename(session, stored.address, statement.new_name.parts)
    raise not_found(session, statement.table.parts, text=statement.text, offset=statement.table.start)
