"""Views that our catalogs keep, as DataFrames. Spec: "Iceberg View Spec"."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError, SqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.parsing import parse
from icesql.session.resolve.view_columns import refuse_narrowing
from icesql.session.state.names import Address
from icesql.spec.case_folding import fold

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState
    from icesql.spec.views import ViewMetadata

SPARK_DIALECT = "spark"
QUERY_COLUMNS = "spark.query-column-names"
BINDING_MODE = "spark.sql.iceberg.view.schema-binding-mode"


def view_frame(session: SessionState, address: Address, view: ViewMetadata) -> DataFrame:
    """The view's rows: its query, run in the catalog and namespace it was written in.

    Raises SqlError for a view that reads itself, or that has no SQL for Spark.
    """
    sql = view.current_version.sql_for(SPARK_DIALECT)
    if sql is None:
        dialects = ", ".join(r.dialect for r in view.current_version.representations)
        raise UnsupportedError(f"Cannot read view {address.dotted}: it has no SQL for Spark, only for: {dialects}")
    with session.reading_view(address.dotted), written_in(session, address, view):
        return _shown(run_view_query(session, sql.sql), view, may_narrow=_may_narrow(session))


def written_in(session: SessionState, address: Address, view: ViewMetadata) -> AbstractContextManager[None]:
    """Within the block names resolve in the catalog and namespace that the view was written in."""
    version = view.current_version
    return session.names.at(version.default_catalog or address.catalog.name, version.default_namespace)


def view_references(view: ViewMetadata) -> s.References:
    """The tables and views that the view's text for Spark names."""
    sql = view.current_version.sql_for(SPARK_DIALECT)
    return s.References() if sql is None else _references(sql.sql)


def _references(text: str) -> s.References:
    statement = parse(text)
    return statement.references if isinstance(statement, s.Query | s.Other) else s.References()


def run_view_query(session: SessionState, text: str) -> DataFrame:
    return session.query(text, _references(text))


def _may_narrow(session: SessionState) -> bool:
    """Whether columns that have come to hold more than the view's types do are cast, and not refused."""
    mode = (session.conf(BINDING_MODE) or "BINDING").strip()
    if mode.upper() not in ("BINDING", "COMPENSATION"):
        raise InvalidArgumentError(f"Invalid value for {BINDING_MODE}: {mode}, expected BINDING or COMPENSATION", value=mode)
    return mode.upper() == "COMPENSATION"


def _shown(frame: DataFrame, view: ViewMetadata, *, may_narrow: bool) -> DataFrame:
    """The query's columns under the view's names, types and comments."""
    from pyspark.sql import functions as F

    from icesql.spark.jvm.types import to_spark_schema

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
        if not same and not may_narrow:
            refuse_narrowing(frame, index, frame.columns[index], field.dataType)
        columns.append((column if same else column.cast(field.dataType)).alias(field.name, metadata=metadata))
    return named.select(*columns)


def _query_columns(frame: DataFrame, view: ViewMetadata) -> Any:
    """The columns that the query had when the view was made, by name: those that ``SELECT *`` has gained since are not the view's."""
    names = [name for name in view.properties.get(QUERY_COLUMNS, "").split(",") if name]
    have = [fold(column) for column in frame.columns]
    if not names or [fold(name) for name in names] == have or any(have.count(fold(name)) > 1 for name in names):
        return frame
    missing = [name for name in names if fold(name) not in have]
    if missing:
        raise SqlError(f"Cannot read view: its query no longer has the column: {missing[0]}")
    return frame.select(*(frame[frame.columns[have.index(fold(name))]] for name in names))
