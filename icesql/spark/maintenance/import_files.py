"""Tables of Spark's own session catalog as sources of files, and metrics of very many files read by a Spark job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.io.storage.files import FileIO
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.paths import location_key
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
    catalog = bridge_of(spark).session.sessionState().catalog()
    database = database or str(catalog.getCurrentDatabase())
    identifier = _identifier(spark, database, name)
    if not catalog.tableExists(identifier):
        raise NotFoundError(f"Cannot find source table '{database}.{name}': it does not exist", table=f"{database}.{name}")
    found = catalog.getTableMetadata(identifier)
    if str(found.tableType().name()) == "VIEW":
        raise InvalidArgumentError(f"Cannot use non-v1 table '{database}.{name}' as a source")
    bridge = bridge_of(spark)
    return SparkTable(
        name=(database, name),
        location=location_key(unquote(str(found.location().toString()))),
        provider=_provider(found),
        schema=StructType.fromJson(json.loads(str(found.schema().json()))),
        partition_columns=tuple(map(str, bridge.as_java(found.partitionColumnNames()))),
        properties={str(key): str(value) for key, value in dict(bridge.as_java(found.properties())).items()},
        is_bucketed=bool(found.bucketSpec().isDefined()),
    )


def _identifier(spark: SparkSession, database: str, name: str) -> Any:
    bridge = bridge_of(spark)
    some = bridge.jvm.scala.Option.apply(database)
    return bridge.jvm.org.apache.spark.sql.catalyst.TableIdentifier(name, some)


def spark_table_exists(spark: SparkSession, database: str, name: str) -> bool:
    """Whether the session catalog has a table or view of that name."""
    return bool(bridge_of(spark).session.sessionState().catalog().tableExists(_identifier(spark, database, name)))


def put_spark_table_aside(spark: SparkSession, name: tuple[str, str], new_name: str) -> None:
    """Rename a table of the session catalog within its database, and leave its files where they are: a managed one is made external."""
    catalog = bridge_of(spark).session.sessionState().catalog()
    _make_external(spark, name)
    catalog.renameTable(_identifier(spark, *name), _identifier(spark, name[0], new_name))


def forget_spark_table(spark: SparkSession, name: tuple[str, str]) -> None:
    """Drop a table of the session catalog and leave its files: a managed one is made external first."""
    _make_external(spark, name)
    bridge_of(spark).session.sessionState().catalog().dropTable(_identifier(spark, *name), True, False)


def _make_external(spark: SparkSession, name: tuple[str, str]) -> None:
    bridge = bridge_of(spark)
    catalog = bridge.session.sessionState().catalog()
    catalog.alterTable(_as_external(bridge, catalog.getTableMetadata(_identifier(spark, *name))))


def _as_external(bridge: Bridge, found: Any) -> Any:
    """A copy of a ``CatalogTable`` that differs in its type; ``copy`` takes all its fields by position, the type second."""
    fields = [getattr(found, f"copy$default${place}")() for place in range(1, found.productArity() + 1)]
    fields[1] = bridge.jvm.org.apache.spark.sql.catalyst.catalog.CatalogTableType.EXTERNAL()
    return found.copy(*fields)


def _provider(found: Any) -> str:
    provider = found.provider()
    name = str(provider.get()).lower() if provider.isDefined() else "hive"
    if name != "hive":
        return name
    serde = found.storage().serde()
    text = str(serde.get()).lower() if serde.isDefined() else ""
    return next((known for known in FORMATS if known in text), name)


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
    bridge = bridge_of(spark)
    catalog = bridge.session.sessionState().catalog()
    found = []
    for partition in bridge.as_java(catalog.listPartitions(_identifier(spark, *table.name), bridge.none)):
        values = dict(bridge.as_java(partition.spec()))
        location = location_key(unquote(str(partition.location().toString())))
        pairs = tuple((name, str(values[name])) for name in table.partition_columns)
        found.append(SourcePartition(location=location, values=pairs, file_format=table.provider))
    return found


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
