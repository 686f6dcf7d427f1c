"""``spark.readStream`` and ``df.writeStream`` of an enabled Spark session: tables of ours are icesql's, all else is Spark's as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamReader, DataStreamWriter

from icesql.catalog.config import catalog_type
from icesql.errors import InvalidArgumentError, SqlError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.partition_terms import parse_partition_terms
from icesql.parser.text.edits import quote
from icesql.parser.text.identifiers import parse_name
from icesql.session.dataframe_api.builders import is_ours, leads_to_ours
from icesql.session.dispatch import run_statement
from icesql.session.resolve.path_tables import is_path, require_named
from icesql.session.resolve.resolver import readable
from icesql.session.run.ddl.create_as import as_nullable
from icesql.session.run.ddl.table_properties import is_iceberg
from icesql.session.run.dml.micro_batch import write_micro_batch
from icesql.spark.jvm.types import from_spark
from icesql.table.scan.micro_batches import stream_options

if TYPE_CHECKING:
    from icesql.session.session import Session

_CHECKPOINTS = "spark.sql.streaming.checkpointLocation"
_QUERY_ID = "sql.streaming.queryId"  # of Spark's own, in the thread that runs a micro-batch
_SPLITS = ("split-size", "lookback", "file-open-cost")


class EnabledStreamReader(DataStreamReader):  # type: ignore[misc]  # PySpark's classes are untyped to us
    def __init__(self, session: Session) -> None:
        super().__init__(session.spark)
        self._session, self._asked, self._source, self._has_schema = session, dict[str, Any](), "", False

    def format(self, source: str) -> DataStreamReader:
        self._source = source
        return super().format(source)

    def option(self, key: str, value: Any) -> DataStreamReader:
        self._asked[key] = value
        return super().option(key, value)

    def options(self, **options: Any) -> DataStreamReader:
        self._asked.update(options)
        return super().options(**options)

    def schema(self, schema: Any) -> DataStreamReader:
        self._has_schema = True
        return super().schema(schema)

    def table(self, tableName: str) -> DataFrame:
        if not is_ours(self._session, tableName) or not leads_to_ours(self._session, tableName):
            return super().table(tableName)
        return self._stream(tableName)

    def load(self, path: str | None = None, format: str | None = None, schema: Any = None, **options: Any) -> DataFrame:
        name: Any = self._asked.get("path") if path is None else path
        if not is_iceberg(format or self._source) or not (is_path(name) or is_ours(self._session, name)):
            return super().load(path, format, schema, **options)
        self._asked.update(options)
        self._has_schema = self._has_schema or schema is not None
        return self._stream(name)

    def _stream(self, name: str) -> DataFrame:
        if self._has_schema:
            raise SqlError("iceberg does not support user specified schema. Please don't specify the schema.")
        from icesql.spark.streaming.source import stream_frame

        options = {key.lower(): _text(value) for key, value in self._asked.items()}
        with self._session.statement() as state:
            resolved = require_named(state, name)
            if resolved.metadata_table is not None:
                raise UnsupportedError(f"Cannot stream a metadata table: {resolved.dotted}.{resolved.metadata_table}")
            if not resolved.selector.is_empty or "branch" in options:
                raise UnsupportedError(f"Cannot stream a branch, tag or snapshot, only the table: {name}")
            catalog = resolved.address.catalog
            if catalog_type(catalog.name, catalog.properties) == "memory":
                raise UnsupportedError(f"Cannot stream a table that only this process knows: its catalog is in memory: {name}")
            splits = {key: options[key] for key in _SPLITS if key in options}
            frame = stream_frame(state.spark, catalog, resolved.table, stream_options(options), splits)
            return frame.alias(resolved.address.identifier[-1])


class EnabledStreamWriter(DataStreamWriter):  # type: ignore[misc]
    """A query that writes to a table of ours hands each micro-batch to the session, which writes and commits it as any other rows."""

    def __init__(self, session: Session, frame: DataFrame) -> None:
        super().__init__(frame)
        self._session, self._frame, self._asked = session, frame, dict[str, Any]()
        self._source, self._mode, self._columns, self._is_continuous = "", "append", list[str](), False

    def format(self, source: str) -> DataStreamWriter:
        self._source = source
        return super().format(source)

    def outputMode(self, outputMode: str) -> DataStreamWriter:
        self._mode = outputMode.lower()
        return super().outputMode(outputMode)

    def option(self, key: str, value: Any) -> DataStreamWriter:
        self._asked[key] = value
        return super().option(key, value)

    def options(self, **options: Any) -> DataStreamWriter:
        self._asked.update(options)
        return super().options(**options)

    def partitionBy(self, *cols: Any) -> DataStreamWriter:
        self._columns = [*cols[0]] if len(cols) == 1 and isinstance(cols[0], list | tuple) else [*cols]
        return self

    def trigger(self, **trigger: Any) -> DataStreamWriter:
        self._is_continuous = trigger.get("continuous") is not None
        return super().trigger(**trigger)

    def foreachBatch(self, func: Callable[[DataFrame, int], None]) -> DataStreamWriter:
        """As Spark's; the session of the batch knows the catalogs of this one."""
        sessions = _BatchSession(self._session)

        def enabled(frame: DataFrame, epoch: int) -> None:
            sessions.enable(frame.sparkSession)
            func(frame, epoch)

        return super().foreachBatch(enabled)

    def start(
        self,
        path: str | None = None,
        format: str | None = None,
        outputMode: str | None = None,
        partitionBy: Any = None,
        queryName: str | None = None,
        **options: Any,
    ) -> StreamingQuery:
        self._take(format, outputMode, partitionBy, queryName, options)
        name: Any = self._asked.get("path") if path is None else path
        if not is_iceberg(self._source) or not (is_path(name) or is_ours(self._session, name)):
            self._partition_in_spark()
            return super().start(path)
        with self._session.statement() as state:
            require_named(state, name)
        return self._started(name)

    def toTable(
        self,
        tableName: str,
        format: str | None = None,
        outputMode: str | None = None,
        partitionBy: Any = None,
        queryName: str | None = None,
        **options: Any,
    ) -> StreamingQuery:
        """A table that is not there is made, with the query's columns."""
        self._take(format, outputMode, partitionBy, queryName, options)
        if not is_ours(self._session, tableName) or not leads_to_ours(self._session, tableName):
            self._partition_in_spark()
            return super().toTable(tableName)
        if readable(self._session.state, parse_name(tableName)) is None:
            self._make(tableName)
        return self._started(tableName)

    def _take(self, format: str | None, mode: str | None, columns: Any, query_name: str | None, options: dict[str, Any]) -> None:
        self.options(**options)
        if format is not None:
            self.format(format)
        if mode is not None:
            self.outputMode(mode)
        if columns is not None:
            self.partitionBy(columns)
        if query_name is not None:
            self.queryName(query_name)

    def _partition_in_spark(self) -> None:
        if self._columns:
            super().partitionBy(*self._columns)

    def _make(self, name: str) -> None:
        columns = [
            s.ColumnDefinition(path=(field.name,), type=field.type, type_text=str(field.type))
            for field in from_spark(as_nullable(self._frame.schema)).fields
        ]
        statement = s.CreateTable(
            text="",
            table=s.TableName(parts=parse_name(name), start=0, end=0),
            columns=tuple(columns),
            partitioning=parse_partition_terms([quote(column) for column in self._columns]),
            provider=self._source or None,
        )
        with self._session.statement() as state:
            run_statement(state, statement)

    def _started(self, name: str) -> StreamingQuery:
        self._check(name)
        options = {key: _text(value) for key, value in self._asked.items() if key.lower() not in ("path", "checkpointlocation")}
        sessions, is_complete = _BatchSession(self._session), self._mode == "complete"

        def write(frame: DataFrame, epoch: int) -> None:
            spark = frame.sparkSession
            query_id = spark.sparkContext.getLocalProperty(_QUERY_ID)
            assert query_id is not None  # Spark sets it for the thread that runs micro-batches
            with sessions.enable(spark).statement() as state:
                write_micro_batch(state, name, frame, options, query_id=query_id, epoch=epoch, is_complete=is_complete)

        super().foreachBatch(write)
        return super().start()

    def _check(self, name: str) -> None:
        if self._mode not in ("append", "complete"):
            raise UnsupportedError(f"{name} does not support {self._mode.capitalize()} mode.")
        if self._is_continuous:
            raise UnsupportedError(f"Cannot write stream: continuous processing is not supported: {name}")
        has_checkpoint = any(key.lower() == "checkpointlocation" for key in self._asked)
        if not has_checkpoint and self._session.spark.conf.get(_CHECKPOINTS, None) is None:
            raise InvalidArgumentError(
                'checkpointLocation must be specified either through option("checkpointLocation", ...) '
                f'or SparkSession.conf.set("{_CHECKPOINTS}", ...).'
            )


class _BatchSession:
    """The icesql session of the Spark session that Spark makes for one query: catalogs and current names are those of the session that
    started it."""

    def __init__(self, started_by: Session) -> None:
        self._started_by, self._session = started_by, None

    _session: Session | None

    def enable(self, spark: SparkSession) -> Session:
        """Spark makes the Python object of its session anew for each micro-batch."""
        from icesql.session.dataframe_api.enable import enable_as

        if self._session is None:
            self._session = self._started_by.beside(spark)
        enable_as(spark, self._session)
        return self._session


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
