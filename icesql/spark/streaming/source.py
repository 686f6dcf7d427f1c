"""A stream of a table: Spark's Python data source, whose planner asks the catalog for new snapshots and whose tasks read Arrow batches.

The planner is a Python process beside the driver, one for each running query. It opens the catalog for itself, so that what it commits to
memory, and the credentials that a catalog lends it for storage, are its own and as new as its last look at the table.
"""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from icesql.spark.jvm.arrow_schema import to_arrow_schema
from icesql.spark.read.columns import shown_schema
from icesql.spark.read.fallback_reader import known_columns, name_mapping_of
from icesql.spark.read.fallback_tasks import ReadJob, read_task
from icesql.spark.workers.shipping import ship
from icesql.spec.schema import Schema
from icesql.table.scan.micro_batches import START, MicroBatches, StreamOffset, StreamOptions
from icesql.table.scan.splits import plan_combined, split_options
from icesql.table.scan.tasks import FileScanTask

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog, Identifier
    from icesql.table.table import Table

try:  # since Spark 4.2
    from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow as _AvailableNow
except ImportError:

    class _AvailableNow:  # type: ignore[no-redef]
        """Spark 4.0 and 4.1 do not tell a Python source that the query ends with what is there now."""


_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class StreamSettings:
    """The table, as a process that has nothing but this can open it, and the columns of the stream: those of the time when it began."""

    catalog: str
    properties: Mapping[str, str]
    identifier: Identifier
    schema: Schema
    arrow_schema: pa.Schema
    options: StreamOptions
    splits: Mapping[str, str]


def stream_frame(
    spark: SparkSession, catalog: Catalog, table: Table, options: StreamOptions, splits: Mapping[str, str] | None = None
) -> DataFrame:
    """The streaming DataFrame of a table of the catalog. ``splits``: read options for the size of tasks."""
    ship(spark)
    shown = shown_schema(table.metadata, table.schema, ())
    settings = StreamSettings(
        catalog=catalog.name,
        properties=dict(catalog.properties),
        identifier=table.identifier,
        schema=table.schema,
        arrow_schema=to_arrow_schema(shown),
        options=options,
        splits=dict(splits or {}),
    )
    source = _source(settings, shown, f"iceberg-{next(_numbers)}")
    spark.dataSource.register(source)
    frame: DataFrame = spark.readStream.format(source.name()).load()
    return frame


def _source(settings: StreamSettings, shown: StructType, name: str) -> type[DataSource]:
    """A class of its own for each stream, since Spark makes sources of classes: settings do not pass through options, which Spark shows."""

    class IcebergStream(DataSource):  # type: ignore[misc]  # PySpark's classes are untyped to us
        @classmethod
        def name(cls) -> str:
            return name

        def schema(self) -> StructType:
            return shown

        def streamReader(self, schema: StructType) -> DataSourceStreamReader:
            from icesql.spark.streaming.source import TableStream

            return TableStream(settings)

    return IcebergStream


class _Files(InputPartition):  # type: ignore[misc]
    """What one task reads: a pickled ReadJob, the same for all tasks of a micro-batch, and its files."""

    def __init__(self, job: bytes, tasks: Sequence[FileScanTask]) -> None:
        self.job, self.tasks = job, tuple(tasks)


class TableStream(DataSourceStreamReader, _AvailableNow):  # type: ignore[misc]
    """The planner's side, and in tasks ``read``.

    Spark tells a source where it is by ``partitions``: at a restart with the last offset twice, then with each micro-batch. Since Spark 4.2
    it also gives the start to ``latestOffset``.
    """

    def __init__(self, settings: StreamSettings) -> None:
        self._settings = settings
        self._reached: StreamOffset | None = None
        self._last_snapshot_id: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_table"}  # tasks have no use for it

    @cached_property
    def _table(self) -> Table:
        from icesql.catalog.loading import load_catalog  # tasks import this module too, and open none

        return load_catalog(self._settings.catalog, self._settings.properties).load_table(self._settings.identifier)

    def _batches(self) -> MicroBatches:
        table = self._table.refresh()
        return MicroBatches(table.io, table.metadata, self._settings.options)

    def initialOffset(self) -> dict[str, Any]:
        if self._reached is None:
            self._reached = self._batches().initial()
        return self._reached.to_json()

    def latestOffset(self, start: dict[str, Any] | None = None, limit: Any = None) -> dict[str, Any]:
        batches = self._batches()
        if start is not None:
            self._reached = StreamOffset.from_json(start)
        elif self._reached is None:
            self._reached = batches.initial()
        return batches.next(self._reached, self._last_snapshot_id).to_json()

    def prepareForTriggerAvailableNow(self) -> None:
        self._last_snapshot_id = self._table.refresh().metadata.current_snapshot_id

    def reportLatestOffset(self) -> dict[str, Any] | None:
        """What a micro-batch without limits would end at."""
        unlimited = replace(self._settings.options, max_files=None, max_rows=None)
        batches = replace(self._batches(), options=unlimited)
        return batches.next(self._reached or START).to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        self._reached = StreamOffset.from_json(end)
        batches = self._batches()
        tasks = batches.files(StreamOffset.from_json(start), self._reached)
        if not tasks:
            return []
        job = pickle.dumps(self._job(batches))
        wanted = split_options(batches.metadata.properties, self._settings.splits)
        return [_Files(job, combined.tasks) for combined in plan_combined(tasks, wanted)]

    def _job(self, batches: MicroBatches) -> ReadJob:
        metadata = batches.metadata
        return ReadJob(
            io=batches.io,
            schema=self._settings.schema,
            read=self._settings.schema,
            known=known_columns(metadata, self._settings.schema),
            metadata=replace(metadata, snapshots=(), refs={}, current_snapshot_id=None, snapshot_log=(), metadata_log=(), statistics=()),
            metadata_columns=(),
            name_mapping=name_mapping_of(metadata),
            arrow_schema=self._settings.arrow_schema,
        )

    def read(self, partition: _Files) -> Iterator[pa.RecordBatch]:
        job: ReadJob = pickle.loads(partition.job)
        for task in partition.tasks:
            yield from read_task(job, task)

    def commit(self, end: dict[str, Any]) -> None:
        """Spark's checkpoint remembers; a table has nothing to let go of."""
