"""A table of Spark's session catalog as a table of ours over the same files: what snapshot and migrate have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from icesql.catalog.base import Catalog, Identifier
from icesql.errors import InvalidArgumentError, NotFoundError
from icesql.spark.jvm.types import from_spark
from icesql.spark.maintenance.import_files import SparkTable, partitions_of, read_metrics
from icesql.spec.files import DataFile
from icesql.spec.name_mapping import mapping_for, name_mapping_to_json
from icesql.spec.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from icesql.spec.properties import DEFAULT_NAME_MAPPING, WRITE_DATA_LOCATION, WRITE_METADATA_LOCATION
from icesql.spec.schema import Schema
from icesql.spec.transforms import IDENTITY
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.update_properties import UpdateProperties
from icesql.table.maintenance.import_files import ImportedFile, chosen_files
from icesql.table.maintenance.import_source import is_missing
from icesql.table.transaction import Transaction

_SPARK_ONLY = frozenset({"path", "transient_lastDdlTime", "serialization.format", "location", WRITE_METADATA_LOCATION, WRITE_DATA_LOCATION})


@dataclass(frozen=True, kw_only=True)
class Adoption:
    """The new table, not yet committed, and the files it will have."""

    transaction: Transaction
    files: Sequence[ImportedFile]
    reader: Callable[[Sequence[ImportedFile]], list[DataFile]]

    def commit(self) -> int:
        """Create the table with all the files, in one commit. Returns how many there are."""
        count = self.stage()
        self.transaction.commit()
        return count

    def stage(self) -> int:
        """Read the files' metrics and put them into the transaction, which is not committed. Returns how many there are."""
        append = AppendFiles().append_files(self.reader(self.files) if self.files else [])
        partitioned = any(file.partition for file in self.files)
        if partitioned and self.transaction.metadata.format_version > 1:
            append.without_partition_counts()
        self.transaction.add(append.change())
        return len(self.files)


def adopt(
    spark: SparkSession,
    source: SparkTable,
    catalog: Catalog,
    identifier: Identifier,
    *,
    properties: Mapping[str, str],
    location: str | None,
    parallelism: int,
    ignore_missing: bool = False,
) -> Adoption:
    """Plan a table of ours over the source's files.

    Raises InvalidArgumentError, AlreadyExistsError; NotFoundError for a partition without a folder, unless ``ignore_missing``.
    """
    if source.is_bucketed:
        raise InvalidArgumentError(f"Cannot create an Iceberg table from a bucketed source table: {source.dotted}")
    if source.provider not in ("parquet", "orc", "avro"):
        raise InvalidArgumentError(f"Cannot create an Iceberg table from source provider: '{source.provider}'")
    schema = from_spark(source.schema)
    inherited = {key: value for key, value in source.properties.items() if key not in _SPARK_ONLY and not key.startswith("spark.sql.")}
    transaction = catalog.stage_create(
        identifier, schema, spec=_spec(schema, source.partition_columns), location=location, properties={**inherited, **properties}
    )
    staged = transaction.metadata
    if DEFAULT_NAME_MAPPING not in staged.properties:
        transaction.add(UpdateProperties().set(DEFAULT_NAME_MAPPING, name_mapping_to_json(mapping_for(staged.schema))))
    partitions = partitions_of(spark, catalog.io, source)
    missing = [] if ignore_missing else [partition.location for partition in partitions if is_missing(catalog.io, partition)]
    if missing:
        why = f"folders of {len(missing)} partitions do not exist, which ignore_missing_files => true passes by"
        raise NotFoundError(f"Cannot take over the files of {source.dotted}: {why}: {missing[0]}", location=missing[0])
    files = chosen_files(catalog.io, staged, catalog.full_name(identifier), partitions, source.partition_columns) if partitions else []
    return Adoption(
        transaction=transaction,
        files=files,
        reader=lambda chosen: read_metrics(spark, catalog.io, transaction.metadata, chosen, parallelism),
    )


def _spec(schema: Schema, columns: Sequence[str]) -> PartitionSpec:
    fields = []
    for place, name in enumerate(columns):
        source = schema.find(name, case_sensitive=False)
        assert source is not None, name
        fields.append(
            PartitionField(source_ids=(source.id,), field_id=PARTITION_FIELD_ID_START + place, transform=IDENTITY, name=source.name)
        )
    return PartitionSpec(spec_id=0, fields=tuple(fields))
