"""A DataFrame written into data files of a table: nothing is committed here.

Large results go through ``mapInArrow`` tasks, each of which writes its files to their final names. A small
one comes to the driver as one Arrow table and is written there: starting a Python worker would cost more than the work.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import DecimalType

from icesql.errors import InvalidArgumentError
from icesql.io.deletes.files import check_delete_format
from icesql.io.storage.files import FileIO
from icesql.spark.jobs.written_so_far import written_counts
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.expressions import unscaled_decimal
from icesql.spark.jvm.local_rows import collect_arrow, size_in_bytes
from icesql.spark.jvm.plans import output_attributes
from icesql.spark.read.columns import numbered
from icesql.spark.workers.shipping import ship
from icesql.spark.write.batches import LONG_ROW, short_rows, unmeasured_batches
from icesql.spark.write.distribution import distributed, distribution_of, integer, with_partition_values
from icesql.spark.write.left_files import remove_left
from icesql.spark.write.store_assignment import lineage_schema
from icesql.spark.write.write_tasks import RESULT_COLUMN, WriteJob, write_batches, write_task
from icesql.spec import properties as P
from icesql.spec.files import DataFile
from icesql.spec.metadata import TableMetadata
from icesql.table.manifests.location_provider import LocationProvider

SMALL_BYTES = 4 << 20
SMALL_VALUES = 1_000_000
TOO_LARGE = "spark.driver.maxResultSize"
MAX_LONG_DIGITS = 18
"""Decimals of so many digits are longs in Spark's own memory."""
FORMATS = ("parquet", "avro", "orc")


@dataclass(frozen=True, kw_only=True)
class WriteSettings:
    """``verb``: write, delete, update or merge, for properties that differ. ``row_lineage``: the frame's last two
    columns are ``_row_id`` and ``_last_updated_sequence_number``. ``sort_order_id``: stored in the files; ``None`` = the
    table's order. ``rows``: how many there are, where that is known beforehand.
    """

    verb: str = "write"
    options: Mapping[str, str] = field(default_factory=dict)
    session: Mapping[str, str] = field(default_factory=dict)
    spec_id: int | None = None
    row_lineage: bool = False
    sort_order_id: int | None = None
    distribute: bool = True
    rows: int | None = None


def write_frame(
    spark: SparkSession, frame: DataFrame, metadata: TableMetadata, io: FileIO, settings: WriteSettings | None = None
) -> list[DataFile]:
    """Write all rows and return the files; none for no rows. ``frame`` has exactly the columns of the table's schema.

    A write that fails removes its files and raises what made it fail.
    """
    settings = settings or WriteSettings()
    spec = metadata.spec if settings.spec_id is None else metadata.specs_by_id[settings.spec_id]
    wanted = distribution_of(metadata, spec, verb=settings.verb, options=settings.options, session=settings.session)
    job = write_job(metadata, io, settings, clustered=wanted.clustered)
    valued = with_partition_values(spark, frame, metadata.schema, spec)
    try:
        if is_small(frame, settings.rows):
            ordered = valued
            if not wanted.sort_order.is_unsorted and settings.distribute:
                ordered = distributed(spark, valued.coalesce(1), metadata.schema, spec, replace(wanted, mode="none"))
            try:
                return _write_rows(collect_arrow(ordered), job)
            except Exception as error:
                if TOO_LARGE not in str(error):
                    raise  # else few rows, but large ones
        if settings.distribute:
            valued = distributed(spark, valued, metadata.schema, spec, wanted)
        return _write_in_tasks(spark, valued, job)
    except BaseException as error:
        remove_left(partial(remove_files_of, job), error)
        raise


def write_rows(rows: pa.Table, metadata: TableMetadata, io: FileIO, settings: WriteSettings) -> list[DataFile]:
    """Write rows of the driver, as ``write_frame`` does: the columns in the types Spark sends, the partition values behind them.

    Rows of one partition are brought together, else their order is kept; the table's sort order is not applied.
    """
    spec = metadata.spec if settings.spec_id is None else metadata.specs_by_id[settings.spec_id]
    wanted = distribution_of(metadata, spec, verb=settings.verb, options=settings.options, session=settings.session)
    job = write_job(metadata, io, settings, clustered=wanted.clustered)
    try:
        return _write_rows(rows, job)
    except BaseException:
        remove_files_of(job)
        raise


def write_job(metadata: TableMetadata, io: FileIO, settings: WriteSettings, *, clustered: bool = True) -> WriteJob:
    spec = metadata.spec if settings.spec_id is None else metadata.specs_by_id[settings.spec_id]
    properties = {**metadata.properties, **_overrides(metadata.properties, settings)}
    types = tuple(f.type for f in spec.partition_type(metadata.schema).fields)
    usual = P.property_as_string(properties, P.DEFAULT_FILE_FORMAT) or "parquet"
    file_format = (settings.options.get("write-format") or usual).lower()
    for name in (file_format, usual.lower()):
        if name not in FORMATS:
            raise InvalidArgumentError(f"Invalid file format: {name}", format=name)
    check_delete_format(metadata.properties, settings.options.get("delete-format") if metadata.format_version < 3 else None)
    target = settings.options.get("target-file-size-bytes")
    order_id = metadata.sort_order.order_id if settings.sort_order_id is None else settings.sort_order_id
    return WriteJob(
        io=io,
        locations=LocationProvider(metadata.location, dict(metadata.properties)),
        schema=lineage_schema(metadata.schema) if settings.row_lineage else metadata.schema,
        table_schema=metadata.schema,
        spec=spec,
        partition_types=types,
        file_format=file_format,
        properties=properties,
        sort_order_id=order_id,
        sorted_ids=tuple(f.source_id for f in metadata.sort_order.fields),
        target_file_size_bytes=integer(target) if target else P.property_as_int(properties, P.WRITE_TARGET_FILE_SIZE_BYTES),
        clustered=clustered,
        operation_id=str(uuid.uuid4()),
    )


def is_small(frame: DataFrame, rows: int | None = None) -> bool:
    """True if so many rows are few, or the optimiser knows the result to be small."""
    if rows is not None and rows * len(frame.columns) <= SMALL_VALUES:
        return True
    return size_in_bytes(frame) <= SMALL_BYTES


def remove_files_of(job: WriteJob, after_id: str = "") -> None:
    """Remove what a failed write left behind: files of finished tasks have the operation's id and ``after_id`` in their names."""
    marker = job.operation_id + after_id
    job.io.delete_many([info.location for info in job.io.list_files(job.locations.data_folder) if marker in info.location])


def _overrides(properties: Mapping[str, str], settings: WriteSettings) -> dict[str, str]:
    """Properties that an option or a session setting replaces for one write."""

    def given(name: str) -> str | None:
        return settings.options.get(name) or settings.session.get(f"spark.sql.iceberg.{name}")

    overrides = {}
    for name in ("compression-codec", "compression-level", "compression-strategy"):
        if (value := given(name)) is not None:
            overrides.update({f"write.{kind}.{name}": value for kind in FORMATS})
    if (shreds := given("shred-variants")) is not None:
        overrides[P.PARQUET_SHRED_VARIANTS] = shreds
    if P.property_as_bool({**properties, **overrides}, P.PARQUET_SHRED_VARIANTS) and (rows := given("variant-inference-buffer-size")):
        overrides[P.PARQUET_VARIANT_INFERENCE_BUFFER_SIZE] = str(integer(rows))
    return overrides


def _write_rows(rows: pa.Table, job: WriteJob) -> list[DataFile]:
    if job.spec.fields and job.clustered:
        rows = clustered(rows, len(job.schema.fields))
    return write_batches(job, rows.combine_chunks().to_batches())


def clustered(table: pa.Table, width: int) -> pa.Table:
    """Rows of equal partition values (the columns from ``width`` on) brought together, their order otherwise kept."""
    unnamed = table.rename_columns([f"c{i}" for i in range(table.num_columns)])
    keys = [f"c{i}" for i in range(width, table.num_columns) if not pa.types.is_null(table.schema.field(i).type)]
    return table.take(pc.sort_indices(unnamed, sort_keys=[(key, "ascending") for key in keys])) if keys else table


def _write_in_tasks(spark: SparkSession, frame: DataFrame, job: WriteJob) -> list[DataFile]:
    """Batches are measured in bytes only where a row may be long, or was found to be."""
    ship(spark)
    columns, fields = task_columns(spark, frame, len(job.schema.fields)), frame.schema.fields
    checked = short_rows(columns, fields)
    if checked is not None:
        try:
            with unmeasured_batches(spark):
                return _run_tasks(frame.select(*checked), job)
        except Exception as error:
            if LONG_ROW not in str(error):
                raise
            files = _run_tasks(frame.select(*columns), replace(job, operation_id=f"{job.operation_id}-measured"))
            remove_files_of(job, f".{job.file_format}")  # not before: tasks of a failed job run on for a while
            return files
    return _run_tasks(frame.select(*columns), job)


def _run_tasks(frame: DataFrame, job: WriteJob) -> list[DataFile]:
    counts = written_counts(frame.sparkSession)

    def task(batches):  # type: ignore[no-untyped-def]
        yield from write_task(job, batches, counts.add)

    rows = collect_arrow(numbered(frame).mapInArrow(task, f"{RESULT_COLUMN} binary"))
    return [file for data in rows.column(RESULT_COLUMN).to_pylist() for file in pickle.loads(data)]


def task_columns(spark: SparkSession, frame: DataFrame, width: int) -> list[Column]:
    """The columns of the frame, short decimals among the first ``width`` as their unscaled longs: Spark makes a BigDecimal of each decimal
    it sends to Python. ``table_batch`` makes them decimals again.
    """
    bridge = bridge_of(spark)
    columns = []
    for i, (column, attribute) in enumerate(zip(frame.schema.fields, output_attributes(frame), strict=True)):
        type_ = column.dataType
        if i < width and isinstance(type_, DecimalType) and type_.precision <= MAX_LONG_DIGITS:
            columns.append(unscaled_decimal(bridge, attribute).alias(column.name))
        else:
            columns.append(bridge.column(attribute))
    return columns
