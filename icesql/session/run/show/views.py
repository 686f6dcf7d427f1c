"""SHOW and DESCRIBE of views that our catalogs keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.errors import UnsupportedError
from icesql.parser import statements as s
from icesql.parser.statements.families import TableDescription
from icesql.parser.text.parameters import quoted_pairs, quoted_string
from icesql.session.resolve.resolved import StoredView
from icesql.session.resolve.stored_views import QUERY_COLUMNS, SPARK_DIALECT
from icesql.session.run.show import describing
from icesql.session.run.show.show_create import listed
from icesql.session.sql_errors import not_for_v2
from icesql.session.state.names import Address
from icesql.spark.jvm.spark_session import redacted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spec.views import ViewMetadata

_HIDDEN = ("create_engine_version", "engine_version", QUERY_COLUMNS)


def show_view(session: SessionState, statement: TableDescription, stored: StoredView) -> DataFrame:
    """SHOW and DESCRIBE of the name of a view."""
    address, view = stored.address, stored.view
    from icesql.session.run.show import tables as run_show

    match statement:
        case s.ShowCreateTable():
            return run_show.CREATE_STATEMENT.frame(session.spark, [(create_view_text(session, address, view),)])
        case s.ShowTableProperties():
            return _properties(session, statement, address, view)
        case s.ShowColumns():
            return run_show.COLUMN_NAMES.frame(session.spark, [(field.name,) for field in view.schema.fields])
        case s.DescribeTable():
            return _describe(session, statement, address, view)
        case s.ShowPartitions():
            raise UnsupportedError(f"Cannot show partitions: it is a view: {address.dotted}")


def _properties(session: SessionState, statement: s.ShowTableProperties, address: Address, view: ViewMetadata) -> DataFrame:
    from icesql.session.run.show import tables as run_show

    properties = _shown_properties(session, view)
    if statement.key is None:
        return run_show.PROPERTIES.frame(session.spark, sorted(properties.items()))
    value = properties.get(statement.key, f"View {address.dotted} does not have property: {statement.key}")
    return run_show.PROPERTIES.frame(session.spark, [(statement.key, value)])


def _shown_properties(session: SessionState, view: ViewMetadata) -> dict[str, str]:
    """The stored properties but those that have a place of their own, and what the metadata says beside them; no secrets."""
    stored = {k: v for k, v in view.properties.items() if k not in (*describing.HIDDEN_PROPERTIES, *_HIDDEN)}
    told = {"provider": "iceberg", "location": view.location, "format-version": str(view.format_version)}
    return {**redacted(session.spark, stored), **told}


def _describe(session: SessionState, statement: s.DescribeTable, address: Address, view: ViewMetadata) -> DataFrame:
    from icesql.session.run.show import tables as run_show
    from icesql.spark.jvm.types import to_spark_schema

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


def create_view_text(session: SessionState, address: Address, view: ViewMetadata) -> str:
    """The statement that would make the view again."""
    columns = ",\n  ".join(field.name + (f" COMMENT {quoted_string(field.doc)}" if field.doc else "") for field in view.schema.fields)
    text = f"CREATE VIEW {describing.quoted_if_needed(*address.parts)} (\n  {columns})\n"
    if view.properties.get("comment"):
        text += f"COMMENT {quoted_string(view.properties['comment'])}\n"
    text += listed("TBLPROPERTIES", _shown_properties(session, view))
    sql = view.current_version.sql_for(SPARK_DIALECT)
    return text + f"AS\n{sql.sql if sql else ''}\n"
