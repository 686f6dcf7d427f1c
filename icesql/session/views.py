"""Views stored in our catalogs: what a name leads to when no table is there, and what SHOW and DESCRIBE say of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from icesql.errors import NotFoundError, SqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.parameters import quoted_pairs, quoted_string
from icesql.parser.parse import parse
from icesql.session import describing
from icesql.session.names import Address
from icesql.session.show_create import listed
from icesql.session.sql_errors import not_for_v2
from icesql.session.view_columns import refuse_narrowing

if TYPE_CHECKING:
    from icesql.session.session import Session
    from icesql.spec.views import ViewMetadata

SPARK_DIALECT = "spark"
QUERY_COLUMNS = "spark.query-column-names"
_HIDDEN = ("create_engine_version", "engine_version", QUERY_COLUMNS)


def find_view(address: Address) -> ViewMetadata | None:
    if not address.catalog.supports_views or len(address.identifier) < 2:
        return None
    try:
        return address.catalog.load_view(address.identifier)
    except NotFoundError:
        return None


def view_frame(session: Session, address: Address, view: ViewMetadata) -> Any:
    """The view's rows: its query, run where it was written. Raises SqlError for a view that reads itself, or that has no SQL for Spark."""
    sql = view.current_version.sql_for(SPARK_DIALECT)
    if sql is None:
        dialects = ", ".join(r.dialect for r in view.current_version.representations)
        raise UnsupportedError(f"Cannot read view {address.dotted}: it has no SQL for Spark, only for: {dialects}")
    if address.dotted in session.open_views:
        cycle = " -> ".join((*session.open_views, address.dotted))
        raise SqlError(f"Recursive cycle in view detected: {address.dotted} (cycle: {cycle})")
    with written_in(session, address, view):
        session.open_views.append(address.dotted)
        try:
            frame = run_view_query(session, sql.sql)
        finally:
            session.open_views.pop()
    return _shown(frame, view)


def written_in(session: Session, address: Address, view: ViewMetadata) -> AbstractContextManager[None]:
    """A with-block in which names mean what they meant where the view was written."""
    version = view.current_version
    return session.names.at(version.default_catalog or address.catalog.name, version.default_namespace)


def view_references(view: ViewMetadata) -> s.References:
    """The tables and views that the view's text for Spark names."""
    sql = view.current_version.sql_for(SPARK_DIALECT)
    return s.References() if sql is None else _references(sql.sql)


def _references(text: str) -> s.References:
    statement = parse(text)
    return statement.references if isinstance(statement, s.Query | s.Other) else s.References()


def run_view_query(session: Session, text: str) -> Any:
    from icesql.session.run_query import run_query

    return run_query(session, text, _references(text))


def _shown(frame: Any, view: ViewMetadata) -> Any:
    """The query's columns under the view's names, types and comments."""
    from pyspark.sql import functions as F

    from icesql.spark.types import to_spark_schema

    schema = to_spark_schema(view.schema)
    frame = _query_columns(frame, view)
    if len(schema.fields) != len(frame.columns):
        raise SqlError(f"Cannot read view: its query has {len(frame.columns)} columns, the view has {len(schema.fields)}")
    named = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))
    columns = []
    for index, field in enumerate(schema.fields):
        metadata = {"comment": field.metadata["comment"]} if "comment" in field.metadata else {}
        column = F.col(f"c{index}")
        same = named.schema.fields[index].dataType == field.dataType
        if not same:
            refuse_narrowing(frame, index, frame.columns[index], field.dataType)
        columns.append((column if same else column.cast(field.dataType)).alias(field.name, metadata=metadata))
    return named.select(*columns)


def _query_columns(frame: Any, view: ViewMetadata) -> Any:
    """The columns that the query had when the view was made, by name: those that ``SELECT *`` has gained since are not the view's."""
    names = [name for name in view.properties.get(QUERY_COLUMNS, "").split(",") if name]
    have = [column.lower() for column in frame.columns]
    if not names or [name.lower() for name in names] == have or any(have.count(name.lower()) > 1 for name in names):
        return frame
    missing = [name for name in names if name.lower() not in have]
    if missing:
        raise SqlError(f"Cannot read view: its query no longer has the column: {missing[0]}")
    return frame.select(*(frame[frame.columns[have.index(name.lower())]] for name in names))


def show_view(session: Session, statement: Any, parts: Sequence[str]) -> Any:
    """SHOW and DESCRIBE of a name that is no table. Raises NotFoundError if it is no view either."""
    address = session.names.address(parts)
    view = None if address is None else find_view(address)
    if address is None or view is None:
        if session.falls_back_to_spark(parts):
            return session.spark_sql(statement.text)
        name = statement.table
        raise session.names.not_found(parts, text=statement.text, offset=name.start)
    from icesql.session import run_show

    match statement:
        case s.ShowCreateTable():
            return run_show.CREATE_STATEMENT.frame(session.spark, [(create_view_text(session, address, view),)])
        case s.ShowTableProperties():
            return _properties(session, statement, address, view)
        case s.ShowColumns():
            return run_show.COLUMN_NAMES.frame(session.spark, [(field.name,) for field in view.schema.fields])
        case s.DescribeTable():
            return _describe(session, statement, address, view)
    raise UnsupportedError(f"Cannot show partitions: it is a view: {address.dotted}")


def _properties(session: Session, statement: s.ShowTableProperties, address: Address, view: ViewMetadata) -> Any:
    from icesql.session import run_show

    properties = _shown_properties(session, view)
    if statement.key is None:
        return run_show.PROPERTIES.frame(session.spark, sorted(properties.items()))
    value = properties.get(statement.key, f"View {address.dotted} does not have property: {statement.key}")
    return run_show.PROPERTIES.frame(session.spark, [(statement.key, value)])


def _shown_properties(session: Session, view: ViewMetadata) -> dict[str, str]:
    """The stored properties but those that have a place of their own, and what the metadata says beside them; no secrets."""
    stored = {k: v for k, v in view.properties.items() if k not in (*describing.HIDDEN_PROPERTIES, *_HIDDEN)}
    told = {"provider": "iceberg", "location": view.location, "format-version": str(view.format_version)}
    return {**describing.redacted(session, stored), **told}


def _describe(session: Session, statement: s.DescribeTable, address: Address, view: ViewMetadata) -> Any:
    from icesql.session import run_show
    from icesql.spark.types import to_spark_schema

    if statement.as_json:
        raise not_for_v2("DESCRIBE TABLE AS JSON")
    fields = to_spark_schema(view.schema).fields
    if statement.column is not None:
        return run_show.describe_column(session, statement.column, address.parts, fields)
    rows: list[tuple[str, str, str | None]] = [(f.name, describing.type_text(f.dataType), f.metadata.get("comment", "")) for f in fields]
    if statement.extended:
        properties = "[" + quoted_pairs(dict(sorted(_shown_properties(session, view).items()))) + "]"
        rows += [
            ("", "", ""),
            ("# Detailed View Information", "", ""),
            ("Comment", view.properties.get("comment", ""), ""),
            ("View Catalog and Namespace", ".".join(address.parts[:-1]), ""),
            ("View Query Output Columns", f"[{', '.join(view.properties.get(QUERY_COLUMNS, '').split(','))}]", ""),
            ("View Properties", properties, ""),
            ("Created By", view.properties.get("create_engine_version", ""), ""),
        ]
    return run_show.DESCRIPTION.frame(session.spark, rows)


def create_view_text(session: Session, address: Address, view: ViewMetadata) -> str:
    """The statement that would make the view again."""
    columns = ",\n  ".join(field.name + (f" COMMENT {quoted_string(field.doc)}" if field.doc else "") for field in view.schema.fields)
    text = f"CREATE VIEW {describing.quoted_if_needed(*address.parts)} (\n  {columns})\n"
    if view.properties.get("comment"):
        text += f"COMMENT {quoted_string(view.properties['comment'])}\n"
    text += listed("TBLPROPERTIES", _shown_properties(session, view))
    sql = view.current_version.sql_for(SPARK_DIALECT)
    return text + f"AS\n{sql.sql if sql else ''}\n"


def alter_as_view(session: Session, statement: s.AlterTable) -> Any:
    """ALTER TABLE of a view: its name may change, nothing else. Raises NotFoundError where there is no view either."""
    from icesql.session import run_views

    parts = statement.table.parts
    address = session.names.address(parts)
    view = None if address is None else find_view(address)
    if address is None or view is None:
        raise session.names.not_found(parts, text=statement.text, offset=statement.table.start)
    match statement:
        case s.RenameTable():
            return run_views.rename(session, address, statement.new_name.parts)
    raise session.names.not_found(parts, text=statement.text, offset=statement.table.start)


__all__ = ["alter_as_view", "create_view_text", "find_view", "show_view", "view_frame"]
