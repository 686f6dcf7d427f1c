"""A writer with the verbs of Spark's DataFrameWriterV2, for DataFrames of any origin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from icesql.errors import InvalidArgumentError, SqlError, UnsupportedError
from icesql.expr.tree import TRUE, Expression
from icesql.parser import statements as s
from icesql.parser.partition_terms import parse_partition_terms
from icesql.parser.text.identifiers import parse_name
from icesql.session.resolve.file_filters import file_filter
from icesql.session.resolve.path_tables import require_named
from icesql.session.resolve.resolved import Readable
from icesql.session.resolve.resolver import is_table
from icesql.session.resolve.write_target import SessionSettings, WriteTarget, asks_dynamic, target_of
from icesql.session.run.ddl.create_as import create_from_frame
from icesql.session.run.dml import row_commits
from icesql.session.run.dml.insert import write
from icesql.session.run.dml.schema_merge import evolved, filled
from icesql.session.sql_errors import table_exists, table_not_found
from icesql.session.state.names import Address
from icesql.spark.jvm.queries import column_text
from icesql.spark.read.filters import exact_filter
from icesql.spark.row_level.checks import require_deterministic
from icesql.spark.row_level.target import Target
from icesql.spark.write.store_assignment import assigned_frame
from icesql.table.arguments import checked

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from icesql.session.session import Session
    from icesql.session.state.session_state import SessionState


Verb: TypeAlias = Literal["append", "overwrite", "overwritePartitions"]


def write_rows(session: SessionState, target: WriteTarget, frame: DataFrame, verb: Verb, where: Expression = TRUE) -> None:
    """``append``, ``overwrite`` (of the rows that match) or ``overwritePartitions``; columns match by name. One commit."""
    target = evolved(session, target, frame)
    match verb:
        case "append":
            builder: row_commits.RowCommit = row_commits.append(target)
        case "overwrite" if where == TRUE and asks_dynamic(target.options):
            builder = row_commits.replace_partitions(target)
        case "overwrite":
            builder = row_commits.overwrite(target, where)
        case "overwritePartitions":
            builder = row_commits.replace_partitions(target)
    rows = assigned_frame(
        session.spark, filled(target, frame), target.table.metadata.schema, table_name=target.resolved.dotted, by_name=True
    )
    row_commits.commit_rows(session, target, builder, write(session, target, rows))


@checked
class Writer:
    """``session.write_to(df, "db.t").option("branch", "audit").append()``; made by ``Session.write_to`` and, enabled, ``df.writeTo``."""

    def __init__(self, session: Session, frame: DataFrame, name: str) -> None:
        self._session, self._frame, self._name = session, frame, name
        self._options: dict[str, str] = {}
        self._properties: dict[str, str] = {}
        self._partitioning: tuple[str, ...] = ()
        self._provider: str | None = None

    # -- settings ------------------------------------------------------------------------------------------------
    def using(self, provider: str) -> Writer:
        self._provider = provider
        return self

    def option(self, key: str, value: Any) -> Writer:
        self._options[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return self

    def options(self, **options: Any) -> Writer:
        for key, value in options.items():
            self.option(key, value)
        return self

    def tableProperty(self, key: str, value: str) -> Writer:
        self._properties[key] = value
        return self

    def partitionedBy(self, *terms: Any) -> Writer:
        """Columns and transforms, as Columns (``F.days("ts")``) or as SQL text (``"bucket(16, id)"``)."""
        self._partitioning = tuple(_term_text(term) for term in terms)
        return self

    def clusterBy(self, *columns: Any) -> Writer:
        """Raises UnsupportedError: Iceberg's tables are partitioned."""
        raise UnsupportedError(f"Transform is not supported: cluster_by({', '.join(map(str, columns))})")

    # -- verbs ---------------------------------------------------------------------------------------------------
    def append(self) -> None:
        self._write("append")

    def overwrite(self, condition: Column | str) -> None:
        """Replace the rows for which the condition (a Column or SQL text) is true; if that is all of them and the option
        ``overwrite-mode`` is ``dynamic``, those of the partitions that get rows."""
        with self._session.statement() as state:
            table = require_named(state, self._name)
            where = _text_filter(state, table, condition) if isinstance(condition, str) else _column_filter(state, table, condition)
            write_rows(state, target_of(state, table, self._options), self._frame, "overwrite", where)

    def overwritePartitions(self) -> None:
        self._write("overwritePartitions")

    def create(self) -> None:
        self._make(create=True, replace=False)

    def replace(self) -> None:
        self._make(create=False, replace=True)

    def createOrReplace(self) -> None:
        self._make(create=True, replace=True)

    def _write(self, verb: Verb) -> None:
        with self._session.statement() as state:
            write_rows(state, target_of(state, require_named(state, self._name), self._options), self._frame, verb)

    def _make(self, *, create: bool, replace: bool) -> None:
        with self._session.statement() as state:
            self._make_in(state, create=create, replace=replace)

    def _make_in(self, session: SessionState, *, create: bool, replace: bool) -> None:
        parts = parse_name(self._name)
        address = session.names.address(parts)
        if address is None:
            raise InvalidArgumentError(f"Cannot write table: no catalog of ours holds it: {self._name}")
        _check_exists(session, address, create=create, replace=replace)
        statement = s.CreateTable(
            text="",
            table=s.TableName(parts=tuple(parts), start=0, end=0),
            create=create,
            replace=replace,
            partitioning=_partition_terms(self._partitioning),
            provider=self._provider or self._properties.get("provider"),
            location=self._properties.get("location"),
        )
        given = {key: value for key, value in self._properties.items() if key not in ("location", "provider")}
        create_from_frame(session, statement, address, self._frame, properties=given, options=self._options)


def _partition_terms(texts: Sequence[str]) -> tuple[s.TransformTerm, ...]:
    try:
        return parse_partition_terms(texts)
    except SqlError:
        raise SqlError(f"Invalid partition transformation: {', '.join(texts)}") from None


def _text_filter(session: SessionState, table: Readable, condition: str) -> Expression:
    where = file_filter(session, table.table, condition, exact_names=True)
    if where is None:
        raise SqlError(f"Cannot overwrite: the condition is no filter of files: {condition}")
    return where


def _column_filter(session: SessionState, table: Readable, condition: Any) -> Expression:
    """A Column as Spark resolves it against the table. Raises SqlError for one that has no counterpart in filters of files."""
    target = Target(spark=session.spark, table=table.table, alias=table.address.identifier[-1], session=SessionSettings(session))
    rows = target.read.shape().where(condition)
    require_deterministic(rows)
    where = exact_filter(rows, target.metadata.schema, target.read.columns.names)
    if where is None:
        raise SqlError(f"Cannot overwrite: the condition is no filter of files: {column_text(condition)}")
    return where


def _check_exists(session: SessionState, address: Address, *, create: bool, replace: bool) -> None:
    exists = is_table(session, address)
    if exists and not replace:
        raise table_exists(address.parts)
    if not exists and not create:
        raise table_not_found(address.parts)


def _term_text(term: Any) -> str:
    """``partition_transform_days(ts)`` and the like come from ``pyspark.sql.functions``."""
    if isinstance(term, str):
        return term
    return column_text(term).removeprefix("partition_transform_")
