"""Tables of Spark's own session catalog as sources of files, and metrics of very many files read by a Spark job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.io.storage.files import FileIO
from icesql.spark.jvm.paths import location_key
from icesql.spark.jvm.session_catalog import (
    CatalogTable,
    catalog_table,
    current_database,
    drop_table,
    make_external,
    partitions,
    rename_table,
    table_exists,
)
from icesql.spark.workers.shipping import ship
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.table.maintenance.import_files import ImportedFile, read_in_threads, read_one
from icesql.table.maintenance.import_source import FORMATS, SourcePartition, source_partitions

MANY_FILES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkTable:
    """A table of the session catalog."""

    name: tuple[str, str]
    location: str
    provider: str
    schema: StructType
    partition_columns: tuple[str, ...]
    properties: dict[str, str] = field(default_factory=dict)
    is_bucketed: bool = False

    @property
    def dotted(self) -> str:
        return ".".join(self.name)


def spark_table(spark: SparkSession, database: str | None, name: str) -> SparkTable:
    """Raises NotFoundError; InvalidArgumentError for a view or a format that cannot be taken over."""
    database = database or current_database(spark)
    if not table_exists(spark, database, name):
        raise NotFoundError(f"Cannot find source table '{database}.{name}': it does not exist", table=f"{database}.{name}")
    table = catalog_table(spark, database, name)
    if table.is_view:
        raise InvalidArgumentError(f"Cannot use non-v1 table '{database}.{name}' as a source")
    return SparkTable(
        name=(database, name),
        location=location_key(unquote(table.location)),
        provider=_provider(table),
        schema=StructType.fromJson(json.loads(table.schema_json)),
        partition_columns=table.partition_columns,
        properties=table.properties,
        is_bucketed=table.is_bucketed,
    )


def spark_table_exists(spark: SparkSession, database: str, name: str) -> bool:
    """Whether the session catalog has a table or view of that name."""
    return table_exists(spark, database, name)


def put_spark_table_aside(spark: SparkSession, name: tuple[str, str], new_name: str) -> None:
    """Rename a table of the session catalog within its database, and leave its files where they are: a managed one is made external."""
    make_external(spark, *name)
    rename_table(spark, *name, new_name)


def forget_spark_table(spark: SparkSession, name: tuple[str, str]) -> None:
    """Drop a table of the session catalog and leave its files: a managed one is made external first."""
    make_external(spark, *name)
    drop_table(spark, *name)


def _provider(table: CatalogTable) -> str:
    name = (table.provider or "hive").lower()
    if name != "hive":
        return name
    serde = (table.serde or "").lower()
    return next((known for known in FORMATS if known in serde), name)


def partitions_of(spark: SparkSession, io: FileIO, table: SparkTable) -> list[SourcePartition]:
    """The partitions that the catalog keeps, else those of the table's folders.

    Raises InvalidArgumentError for a format that is neither Parquet, ORC nor Avro.
    """
    if table.provider not in FORMATS:
        raise InvalidArgumentError(f"Unknown format while listing partition: {table.provider}", provider=table.provider)
    if not table.partition_columns:
        return [SourcePartition(location=table.location, file_format=table.provider)]
    listed = _listed(spark, table)
    return listed or source_partitions(io, table.location, table.provider)


def _listed(spark: SparkSession, table: SparkTable) -> list[SourcePartition]:
    return [
        SourcePartition(
            location=location_key(unquote(location)),
            values=tuple((name, values[name]) for name in table.partition_columns),
            file_format=table.provider,
        )
        for values, location in partitions(spark, *table.name)
    ]


def read_metrics(
    spark: SparkSession, io: FileIO, metadata: TableMetadata, files: Sequence[ImportedFile], parallelism: int
) -> list[DataFile]:
    """The DataFile values of files, in order; by threads here, by a Spark job where there are very many."""
    if len(files) <= MANY_FILES:
        return read_in_threads(io, metadata, files, parallelism)
    ship(spark)
    slices = max(parallelism, spark.sparkContext.defaultParallelism)
    read: list[DataFile] = spark.sparkContext.parallelize(list(files), slices).map(lambda file: read_one(io, metadata, file)).collect()
    return read
