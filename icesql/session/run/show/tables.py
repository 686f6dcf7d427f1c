"""SHOW and DESCRIBE of tables, functions and procedures, with Spark's columns and rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icesql.errors import NotFoundError, SqlError, UnsupportedError, ValidationError
from icesql.parser import statements as s
from icesql.parser.statements.families import ShowStatement, TableDescription
from icesql.session.output.patterns import matches
from icesql.session.output.results import ResultColumns
from icesql.session.resolve.resolved import (
    CHANGES,
    MetadataTable,
    Missing,
    Readable,
    ResolvedTable,
    SparkOwned,
    StoredView,
    TemporaryView,
)
from icesql.session.resolve.resolver import not_found, readable, resolve
from icesql.session.resolve.time_travel import read_point
from icesql.session.run.queries import run_query
from icesql.session.run.show import describing
from icesql.session.run.show.show_create import create_table_text
from icesql.session.sql_errors import no_partition_management, not_for_v2, quoted, unresolved_column
from icesql.spark.jvm.queries import default_size
from icesql.spark.jvm.types import to_spark_schema, to_spark_struct
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import fold
from icesql.spec.metadata_columns import DELETED, FILE, LINEAGE, PARTITION, POS, SPEC_ID
from icesql.spec.types import StructType
from icesql.table.metadata.partition_types import union_partition_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

TABLES = ResultColumns("namespace string!", "tableName string!", "isTemporary boolean!")
TABLES_EXTENDED = ResultColumns("namespace string!", "tableName string!", "isTemporary boolean!", "information string!")
PROPERTIES = ResultColumns("key string!", "value string!")
COLUMN_NAMES = ResultColumns("col_name string!")
CREATE_STATEMENT = ResultColumns("createtab_stmt string!")
PARTITIONS = ResultColumns("partition string!")
DESCRIPTION = ResultColumns("col_name string!", "data_type string!", "comment string")
COLUMN_DESCRIPTION = ResultColumns("info_name string!", "info_value string!")


def run_show(session: SessionState, statement: ShowStatement, args: Any = None) -> DataFrame:
    match statement:
        case s.ShowTables():
            return _show_tables(session, statement)
        case s.DescribeQuery():
            return run_query(session, statement.text, statement.references, args)
        case s.ShowProcedures() | s.DescribeProcedure():
            from icesql.session.run.show.show_procedures import describe_procedure, show_procedures

            return (
                show_procedures(session, statement) if isinstance(statement, s.ShowProcedures) else describe_procedure(session, statement)
            )
        case s.ShowFunctions() | s.DescribeFunction():
            from icesql.session.run.show.show_functions import show_functions

            return show_functions(session, statement)
        case s.ShowColumns():
            return _of_table(session, statement, _column_parts(session, statement))
        case s.ShowTableProperties() | s.ShowCreateTable() | s.ShowPartitions() | s.DescribeTable():
            return _of_table(session, statement, statement.table.parts)


def _of_table(session: SessionState, statement: TableDescription, parts: Sequence[str]) -> DataFrame:
    match resolve(session, parts):
        case ResolvedTable() | MetadataTable() as table:
            return _of_ours(session, statement, table)
        case StoredView() as view:
            from icesql.session.run.show.views import show_view

            return show_view(session, statement, view)
        case TemporaryView() | SparkOwned():
            return session.spark_sql(statement.text)
        case Missing():
            raise not_found(session, parts, text=statement.text, offset=statement.table.start)


def _of_ours(session: SessionState, statement: TableDescription, resolved: Readable) -> DataFrame:
    match statement:
        case s.ShowColumns():
            return COLUMN_NAMES.frame(session.spark, [(field.name,) for field in describing.spark_fields(session, resolved)])
        case s.ShowTableProperties():
            return _show_properties(session, statement, resolved)
        case s.ShowCreateTable():
            if statement.as_serde:
                raise not_for_v2("SHOW CREATE TABLE AS SERDE")
            return CREATE_STATEMENT.frame(session.spark, [(create_table_text(session, resolved),)])
        case s.ShowPartitions():
            return _show_partitions(session, resolved)
        case s.DescribeTable():
            return _describe(session, statement, resolved)


# -- SHOW --------------------------------------------------------------------------------------------------------------
def _show_tables(session: SessionState, statement: s.ShowTables) -> DataFrame:
    where = session.names.namespace(None if statement.namespace is None else statement.namespace.parts)
    if where is None:
        return session.spark_sql(statement.text)
    catalog, namespace = where
    try:
        tables = catalog.list_tables(namespace)
    except NotFoundError:
        raise NotFoundError(f"Namespace does not exist: {'.'.join(namespace)}") from None
    if session.transaction_in_progress is not None:
        tables = sorted([*tables, *session.transaction_in_progress.names_made(catalog, namespace)])
    named = [t for t in tables if matches(t[-1], statement.pattern)]
    shown = describing.quoted_if_needed(*namespace)
    if not statement.extended:
        return TABLES.frame(session.spark, [(shown, t[-1], False) for t in named])
    if statement.partition is not None:
        raise not_for_v2("SHOW TABLE EXTENDED ... PARTITION")
    extended = []
    for identifier in named:
        resolved = readable(session, (catalog.name, *identifier))
        if resolved is not None:
            extended.append((shown, identifier[-1], False, _information(session, resolved)))
    return TABLES_EXTENDED.frame(session.spark, extended)


def _information(session: SessionState, resolved: Readable) -> str:
    """The ``information`` column. Spark puts commas between the characters of the properties' text, and so does this."""
    metadata = resolved.table.metadata
    lines = [
        f"Catalog: {resolved.address.catalog.name}",
        f"Namespace: {'.'.join(resolved.address.namespace)}",
        f"Table: {resolved.address.identifier[-1]}",
        "Type: MANAGED",
        *([f"Comment: {metadata.properties['comment']}"] if "comment" in metadata.properties else []),
        f"Location: {metadata.location}",
        "Provider: iceberg",
        *([f"Owner: {metadata.properties['owner']}"] if "owner" in metadata.properties else []),
        "Table_type: EXTERNAL",
        f"Table Properties: [{', '.join(describing.properties_text(session, resolved))}]",
        f"Schema: {to_spark_schema(metadata.schema).treeString()}",
        "",
    ]
    return "\n".join(lines)


def _show_properties(session: SessionState, statement: s.ShowTableProperties, resolved: Readable) -> DataFrame:
    properties = describing.shown_properties(session, resolved)
    if statement.key is None:
        return PROPERTIES.frame(session.spark, sorted(properties.items()))
    missing = f"Table {_full_name(resolved)} does not have property: {statement.key}"
    return PROPERTIES.frame(session.spark, [(statement.key, properties.get(statement.key, missing))])


def _column_parts(session: SessionState, statement: s.ShowColumns) -> tuple[str, ...]:
    """The namespace counts where the table's name has none, and must be the table's own: without its catalog."""
    parts, namespace = statement.table.parts, statement.namespace
    if namespace is None:
        return parts
    if len(parts) == 1:
        parts = (*namespace.parts, *parts)
    address = session.names.address(parts)
    inner = () if address is None else address.identifier[:-1]
    key = session.name_key
    if address is not None and tuple(map(key, inner)) != tuple(map(key, namespace.parts)):
        raise SqlError(
            spark_message(
                "SHOW_COLUMNS_WITH_CONFLICT_NAMESPACE",
                f"SHOW COLUMNS with conflicting namespaces: {quoted(namespace.parts)} != "
                f"{quoted(inner)}: name the table with its catalog and namespace instead.",
            )
        )
    return parts


def _show_partitions(session: SessionState, resolved: Readable) -> DataFrame:
    """Partition paths of the current files, an addition of ours: Iceberg's runtime refuses SHOW PARTITIONS."""
    from icesql.session.run.show.partitions import partition_paths

    if not resolved.is_plain:
        raise no_partition_management(resolved.address.parts)
    if resolved.table.metadata.spec.is_unpartitioned:
        raise ValidationError(f"Cannot show partitions: table is not partitioned: {resolved.dotted}")
    return PARTITIONS.frame(session.spark, [(path,) for path in partition_paths(resolved.table)])


# -- DESCRIBE ----------------------------------------------------------------------------------------------------------
def _describe(session: SessionState, statement: s.DescribeTable, resolved: Readable) -> DataFrame:
    if statement.as_json:
        raise not_for_v2("DESCRIBE TABLE AS JSON")
    if statement.partition is not None:
        raise no_partition_management(resolved.address.parts)
    fields = describing.spark_fields(session, resolved)
    if statement.column is not None:
        return describe_column(session, statement.column, resolved.parts, fields)
    rows: list[tuple[str, str, str | None]] = [_field_row(field) for field in fields]
    if resolved.metadata_table is None:
        rows += _partition_rows(resolved, fields)
    elif resolved.metadata_table == "position_deletes":
        rows += _partition_struct_rows(resolved, fields)
    if statement.extended:
        rows += _detail_rows(session, resolved, fields)
    return DESCRIPTION.frame(session.spark, rows)


def _field_row(field: Any) -> tuple[str, str, str | None]:
    return field.name, describing.type_text(field.dataType), field.metadata.get("comment")


def describe_column(session: SessionState, column: Sequence[str], table: Sequence[str], fields: Sequence[Any]) -> DataFrame:
    """The column under the name that it was asked for; the table's name, or its end, may stand before it."""

    by_name = {fold(field.name): field for field in fields}
    given = column
    for count in range(1, len(column)):
        if fold(column[0]) not in by_name and [*map(fold, column[:count])] == [*map(fold, table[-count:])]:
            column = column[count:]
            break
    field = by_name.get(fold(column[0]))
    if field is None:
        raise unresolved_column(given, [f.name for f in fields])
    if len(column) > 1:
        raise UnsupportedError(f"DESC TABLE COLUMN does not support nested column: {'.'.join(column)}.")
    rows = [
        ("col_name", column[0]),
        ("data_type", describing.type_text(field.dataType)),
        ("comment", field.metadata.get("comment", "NULL")),
    ]
    return COLUMN_DESCRIPTION.frame(session.spark, rows)


def _partition_rows(resolved: Readable, fields: Sequence[Any]) -> list[tuple[str, str, str | None]]:
    metadata = resolved.table.metadata
    shown = [field for field in metadata.spec.fields if not field.transform.is_void]
    if not shown:
        return []
    by_name = {field.name: field for field in fields}
    if all(field.transform.is_identity and metadata.schema.names_by_id.get(field.source_id) in by_name for field in shown):
        columns = [by_name[metadata.schema.names_by_id[field.source_id]] for field in shown]
        described = [(describing.quoted_if_needed(name), text, comment) for name, text, comment in map(_field_row, columns)]
        return [("# Partition Information", "", ""), ("# col_name", "data_type", "comment"), *described]
    texts = describing.partitioning(metadata.spec, metadata.schema)
    return [("", "", ""), ("# Partitioning", "", ""), *((f"Part {number}", text, "") for number, text in enumerate(texts))]


def _partition_struct_rows(resolved: Readable, fields: Sequence[Any]) -> list[tuple[str, str, str | None]]:
    names = describing.partition_struct_names(resolved.table.metadata)
    parts = [part for field in fields if field.name == "partition" for part in field.dataType.fields if part.name in names]
    if not parts:
        return []
    described = [(f"partition.{describing.quoted_if_needed(name)}", text, comment) for name, text, comment in map(_field_row, parts)]
    return [("# Partition Information", "", ""), ("# col_name", "data_type", "comment"), *described]


def _detail_rows(session: SessionState, resolved: Readable, fields: Sequence[Any]) -> list[tuple[str, str, str | None]]:
    metadata = resolved.table.metadata
    stored = metadata.properties if resolved.metadata_table is None else {}
    name = _full_name(resolved)
    rows: list[tuple[str, str, str | None]] = [("", "", ""), ("# Metadata Columns", "", "")]
    rows += [*((column, text, "") for column, text in _metadata_columns(resolved)), ("", "", "")]
    rows += [("# Detailed Table Information", "", ""), ("Name", name, ""), ("Type", "MANAGED", "")]
    rows += [(key.capitalize(), stored[key], "") for key in ("comment", "collation") if key in stored]
    if resolved.metadata_table != CHANGES:
        rows += [("Location", metadata.location, ""), ("Provider", "iceberg", "")]
    if "owner" in stored:
        rows.append(("Owner", stored["owner"], ""))
    if resolved.metadata_table != CHANGES:
        rows.append(("Table_type", "EXTERNAL", ""))
    rows.append(("Table Properties", describing.properties_text(session, resolved), ""))
    rows.append(("Statistics", _statistics(session, resolved, fields), None))
    return rows


def _full_name(resolved: Readable) -> str:
    return resolved.dotted if resolved.metadata_table is None else f"{resolved.dotted}.{resolved.metadata_table}"


def _statistics(session: SessionState, resolved: Readable, fields: Sequence[Any]) -> str:
    metadata = resolved.table.metadata
    if resolved.metadata_table is None:
        return describing.statistics_text(metadata, read_point(resolved, None, "", session.microseconds).snapshot)
    if resolved.metadata_table != CHANGES:
        from pyspark.sql.types import StructType as SparkStruct

        row_bytes = default_size(session.spark, SparkStruct(list(fields)))
        point = read_point(resolved, None, "", session.microseconds)
        of_table = resolved.metadata_table == "position_deletes" and not metadata.spec.is_unpartitioned
        rows = describing.records(point.snapshot) if of_table else session.plans.scan(resolved, point, {}).frame.count()
        return f"{rows * row_bytes} bytes, {rows} rows"
    from icesql.table.scan.changelog import ChangelogScan, changelog_schema
    from icesql.table.scan.snapshot_ranges import changelog_range

    scan = ChangelogScan(resolved.table.io, metadata, changelog_range(metadata, {}), name=resolved.table.name)
    rows = sum(task.task.data_file.record_count for task in scan.plan())
    return f"{rows * describing.default_size(changelog_schema(metadata).as_struct())} bytes, {rows} rows"


def _metadata_columns(resolved: Readable) -> list[tuple[str, str]]:
    metadata = resolved.table.metadata
    union = union_partition_type(metadata) if resolved.metadata_table in (None, "position_deletes", CHANGES) else StructType(())
    partition = describing.type_text(to_spark_struct(union))
    columns = [(SPEC_ID.name, "int"), (PARTITION, partition), (FILE.name, "string"), (POS.name, "bigint"), (DELETED.name, "boolean")]
    if metadata.format_version >= 3 and resolved.metadata_table is None:
        columns += [(field.name, "bigint") for field in LINEAGE]
    return columns
