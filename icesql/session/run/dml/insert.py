"""INSERT INTO, INSERT OVERWRITE and INSERT ... REPLACE WHERE: the query runs, tasks write its rows, one commit takes them in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from icesql.errors import SqlError, UnsupportedError, nearest
from icesql.expr.tree import TRUE, Expression, Op, Predicate, Reference, and_
from icesql.parser import statements as s
from icesql.parser.text.token_groups import name_place
from icesql.parser.text.tokens import tokenize
from icesql.session.resolve.ambiguous_columns import refuse_doubled
from icesql.session.resolve.file_filters import file_filter
from icesql.session.resolve.write_target import SessionSettings, WriteTarget, asks_dynamic, write_target
from icesql.session.rewrite.bound_text import BoundText, bound
from icesql.session.rewrite.default_keyword import default_edits
from icesql.session.run.dml import row_commits
from icesql.session.run.dml.row_commits import RowCommit, commit_rows, isolation_level
from icesql.session.run.dml.schema_merge import accepts_any_schema, evolved, filled
from icesql.session.run.queries import from_metadata, run_query
from icesql.session.sql_errors import quoted, unresolved_column
from icesql.session.views.targets import insert_target
from icesql.spark.functions.literals import sql_literal
from icesql.spark.jvm.types import sql_type, to_spark_type
from icesql.spark.write.data_files import WriteSettings, write_frame
from icesql.spark.write.store_assignment import assigned_frame
from icesql.spark_errors import spark_message
from icesql.spec.files import DataFile
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField, TimestamptzType, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState

_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"


def run_insert(session: SessionState, statement: s.Insert, args: Any = None) -> DataFrame:
    """Nothing of the table changes unless all rows were written. Raises Spark's errors for columns and types that do not fit."""
    options = dict(statement.options)
    target, statement = insert_target(session, statement)
    target = target or write_target(session, statement.target.parts, text=statement.text, offset=statement.target.start, options=options)
    if target is None:
        return run_query(session, statement.text, statement.references, args)
    if statement.if_not_exists:
        raise UnsupportedError(
            spark_message(
                "UNSUPPORTED_FEATURE.INSERT_PARTITION_SPEC_IF_NOT_EXISTS",
                f"INSERT INTO {quoted(target.resolved.address.parts)} with IF NOT EXISTS in the PARTITION spec.",
            )
        )
    if statement.mode is not s.InsertMode.APPEND:
        isolation_level(target)
    static = _static_partition(session, statement, target)
    session.temporary_views.refresh(statement.references)
    with bound(session, statement.text, statement.references) as text:
        frame = _query_frame(session, statement, target, text, args)
        written = evolved(session, target, _under_given_names(statement, target, frame))
        schema = written.table.metadata.schema
        values = {name: _static_value(schema, name, text.sql(span)) for name, span in static.items()}
        fitted = _fitted(session, statement, written, filled(written, frame), values)
        builder = _row_commit(session, statement, written, values)
        commit_rows(session, written, builder, write(session, written, fitted))
    return session.nothing


def run_multi_insert(session: SessionState, statement: s.MultiInsert, args: Any = None) -> DataFrame:
    """``FROM x INSERT ... INSERT ...``: one after the other, as Spark commits them."""
    for insert in statement.inserts:
        run_insert(session, insert, args)
    return session.nothing


def write(session: SessionState, target: WriteTarget, frame: DataFrame, **settings: Any) -> list[DataFile]:
    """Write the rows as data files of the target's table, none committed."""
    wanted = WriteSettings(
        options=target.options,
        session=SessionSettings(session),
        spec_id=target.output_spec_id,
        sort_order_id=target.output_sort_order_id,
        **settings,
    )
    return write_frame(session.spark, frame, target.table.metadata, target.table.io, wanted)


# -- the rows ----------------------------------------------------------------------------------------------------------
def _query_frame(session: SessionState, statement: s.Insert, target: WriteTarget, text: BoundText, args: Any) -> DataFrame:
    text.edits.extend(default_edits(statement, target.table.metadata.schema, case_sensitive=session.is_case_sensitive))
    return from_metadata(session, text, text.frame(*statement.query, args=args))


def _static_partition(session: SessionState, statement: s.Insert, target: WriteTarget) -> dict[str, s.Span]:
    """Table column -> expression of ``PARTITION (p = v)``. Raises SqlError for what is no identity-partition column, or is named twice."""
    metadata = target.table.metadata
    names = {metadata.schema.names_by_id.get(f.source_id, ""): f for f in metadata.spec.fields if f.transform.is_identity}
    key = session.name_key
    known = {key(name): name for name in names}
    static: dict[str, s.Span] = {}
    seen: set[str] = set()
    for partition in statement.partition:
        name = known.get(key(partition.column))
        if name is None:
            raise SqlError(
                spark_message(
                    "NON_PARTITION_COLUMN",
                    f"PARTITION clause cannot contain the non-partition column: {quoted([partition.column])}."
                    f"{nearest(partition.column, names)}",
                )
            )
        if name in seen:
            raise SqlError(spark_message("DUPLICATE_KEY", f"Found duplicate keys {quoted([name])}."))
        seen.add(name)
        if partition.value is not None:
            static[name] = partition.value
    listed = {key(".".join(path)) for path in statement.columns}
    for name in static:
        if key(name) in listed:
            raise _both_static_and_given(name)
    return static


def _both_static_and_given(name: str) -> SqlError:
    return SqlError(
        spark_message(
            "STATIC_PARTITION_COLUMN_IN_INSERT_COLUMN_LIST",
            f"Static partition column {quoted([name])} is also specified in the column list.",
        )
    )


def _fitted(session: SessionState, statement: s.Insert, target: WriteTarget, frame: DataFrame, static: Mapping[str, str]) -> DataFrame:
    """The query's rows with exactly the table's columns. ``static``: SQL of the values that the PARTITION clause gives."""
    schema = target.table.metadata.schema
    name = target.resolved.dotted
    columns = [_column_name(session, schema, path, statement) for path in statement.columns]
    refuse_doubled(columns, str)
    if not static and not columns:
        by_name = statement.by_name or accepts_any_schema(target)
        return assigned_frame(session.spark, frame, schema, table_name=name, by_name=by_name)
    if statement.by_name:
        return assigned_frame(session.spark, _with_static(session, frame, static), schema, table_name=name, by_name=True)
    if columns and not static and not _is_values(statement):
        return assigned_frame(session.spark, frame, schema, table_name=name, by_name=True, columns=columns)
    columns = columns or [field.name for field in schema.fields if field.name not in static]
    named = _with_static(session, _renamed(session, frame, schema, columns, name), static)
    if len(set(named.columns)) < len(named.columns) or _lacks_defaults(session, schema, named.columns):
        return assigned_frame(session.spark, named, schema, table_name=name, by_name=True)
    return assigned_frame(session.spark, _in_order(named, schema), schema, table_name=name)


def _is_values(statement: s.Insert) -> bool:
    """VALUES take the types of the columns they are for, so the fields of their structs count by position; a query's by name."""
    return tokenize(statement.query[-1].of(statement.text))[0].key == "VALUES"


def _lacks_defaults(session: SessionState, schema: Schema, given: Sequence[str]) -> bool:
    """Whether a column is left out for which there is no value."""
    nulls = session.conf("spark.sql.defaultColumn.useNullsForMissingDefaultValues", "true") == "true"
    missing = [field for field in schema.fields if field.name not in given]
    return any(field.write_default is None and (field.required or not nulls) for field in missing)


def _in_order(frame: DataFrame, schema: Schema) -> DataFrame:
    """The table's columns in its order; those left out have their defaults. Fields of structs stay in theirs: they count by position."""
    from pyspark.sql import functions as F

    def left_out(field: NestedField) -> Any:
        if field.write_default is None:
            return F.lit(None).cast(to_spark_type(field.type))  # the strict policy takes no null without a type
        return F.expr(sql_literal(field.type, field.write_default))

    given = set(frame.columns)
    return frame.select(
        *(F.col(quoted([field.name])) if field.name in given else left_out(field).alias(field.name) for field in schema.fields)
    )


def _renamed(session: SessionState, frame: DataFrame, schema: Schema, columns: Sequence[str], name: str) -> DataFrame:
    """By position to the given columns. Raises Spark's arity error."""
    if len(frame.columns) != len(columns):
        part = Schema(tuple(schema.field(column) for column in columns), schema.schema_id)
        return assigned_frame(session.spark, frame, part, table_name=name, columns=columns)
    return frame.toDF(*columns)


def _with_static(session: SessionState, frame: DataFrame, static: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F

    key = session.name_key
    given = {key(name) for name in frame.columns}
    for name, value in static.items():
        if key(name) in given:
            raise _both_static_and_given(name)
        frame = frame.withColumn(name, F.expr(value))
    return frame


def _static_value(schema: Schema, name: str, text: str) -> str:
    """SQL of a PARTITION value in its column's type. Values of a partition are text, as in paths, until they are cast."""

    return f"CAST(CAST({text} AS STRING) AS {sql_type(schema.field(name).type)})"


def _column_name(session: SessionState, schema: Schema, path: Sequence[str], statement: s.Insert) -> str:
    field = schema.find(".".join(path), case_sensitive=session.is_case_sensitive) if len(path) == 1 else None
    if field is None:
        place = name_place(statement.text, path, behind=statement.target.end)
        raise unresolved_column(path, [known.name for known in schema.fields], text=statement.text, place=place)
    return field.name


# -- the commit --------------------------------------------------------------------------------------------------------
def _under_given_names(statement: s.Insert, target: WriteTarget, frame: DataFrame) -> DataFrame:
    """The rows as a table that accepts any schema checks them: under the names of the statement's column list."""
    names = [".".join(path) for path in statement.columns]
    return frame.toDF(*names) if accepts_any_schema(target) and len(names) == len(frame.columns) else frame


def _row_commit(session: SessionState, statement: s.Insert, target: WriteTarget, static: Mapping[str, str]) -> RowCommit:
    match statement.mode:
        case s.InsertMode.APPEND:
            return row_commits.append(target)
        case s.InsertMode.REPLACE_WHERE:
            assert statement.where is not None
            return row_commits.overwrite(target, _replaced_rows(session, target, statement.where.of(statement.text)))
        case s.InsertMode.OVERWRITE:
            if _is_dynamic(session, target, static):
                return row_commits.replace_partitions(target)
            return row_commits.overwrite(target, _static_filter(session, target.table.metadata.schema, static))


def _replaced_rows(session: SessionState, target: WriteTarget, where: str) -> Expression:
    """The condition of REPLACE WHERE. Raises SqlError for one that is no filter of files."""
    expression = file_filter(session, target.table, where, exact_names=True)
    if expression is None:
        raise SqlError(f"Cannot overwrite: cannot translate expression to source filter: {where}")
    return expression


def _is_dynamic(session: SessionState, target: WriteTarget, static: Mapping[str, str]) -> bool:
    """The option asks for it only where all rows would go, and cannot undo what the session asks for."""
    return (not static and asks_dynamic(target.options)) or (session.conf(_OVERWRITE_MODE) or "").lower() == "dynamic"


def _static_filter(session: SessionState, schema: Schema, static: Mapping[str, str]) -> Expression:
    values = {name: _evaluated(session, schema.field(name).type, text) for name, text in static.items()}
    parts = [
        Predicate(Op.IS_NULL, Reference(name)) if value is None else Predicate(Op.EQ, Reference(name), (value,))
        for name, value in values.items()
    ]
    return and_(TRUE, *parts)


def _evaluated(session: SessionState, type_: Type, text: str) -> Any:
    """The value of a constant of that type. Spark hands instants over without their zone, so they are asked for in microseconds."""
    if not isinstance(type_, TimestamptzType):
        return session.spark_sql(f"SELECT {text} AS value").collect()[0][0]
    micros = session.spark_sql(f"SELECT unix_micros({text}) AS value").collect()[0][0]
    return None if micros is None else datetime.fromtimestamp(0, timezone.utc) + timedelta(microseconds=micros)
