"""How the groups of rewrite_data_files are written: bin-packed in Arrow (here, or in tasks where there is much), sorted by Spark."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StructField, StructType

from icesql.spark.read.columns import numbered, quoted
from icesql.spark.read.table_scan import scan_dataframe
from icesql.spark.workers.shipping import ship
from icesql.spark.workers.task_imports import archives_forgotten
from icesql.spark.write.data_files import WriteSettings, write_frame
from icesql.spark.write.distribution import PARTITION_PREFIX, sort_columns, with_partition_values
from icesql.spark.write.zorder import CURVE_VALUE
from icesql.spec.files import DataFile
from icesql.spec.metadata_columns import LINEAGE
from icesql.spec.sorting import SortOrder
from icesql.table.maintenance.compact import Compaction, parts_of
from icesql.table.maintenance.rewrite_data_files import Group, RewriteDataFiles
from icesql.table.scan.splits import split_options

DRIVER_BYTES = 64 << 20
_LINEAGE = tuple(field.name for field in LINEAGE)
_OWN_SPLITS = {"split-size": "1", "file-open-cost": "1"}  # in place of the table's; how many bins stay open is still the table's to say


@dataclass(frozen=True)
class BinPack:
    """Rows in the order they have, files put together. Little work is done in this process, much of it in tasks, one an output file."""

    spark: SparkSession
    rewrite: RewriteDataFiles

    def __call__(self, group: Group) -> list[DataFile]:
        split_options(self.rewrite.metadata.properties, _OWN_SPLITS)
        scattered = any(task.spec_id != self.rewrite.output_spec_id for task in group.tasks)
        if group.input_bytes <= DRIVER_BYTES:
            return self.rewrite.write_here(group)
        return Sorted(self.spark, self.rewrite, SortOrder(), 0)(group) if scattered else self._in_tasks(group)

    def _in_tasks(self, group: Group) -> list[DataFile]:
        ship(self.spark)
        operation_id = str(uuid.uuid4())
        compaction = self.rewrite.compaction(operation_id)
        parts = parts_of(group)
        try:
            written = self.spark.sparkContext.parallelize(parts, len(parts)).map(lambda part: _write(compaction, part)).collect()
        except BaseException:
            remove_files_of(compaction)
            raise
        return [file for files in written for file in files]


def _write(compaction: Compaction, part: Sequence[Any]) -> list[DataFile]:
    return compaction.write(part)


def remove_files_of(compaction: Compaction) -> None:
    """Remove what tasks of a failed write left: their files have its id in their names."""
    folder = f"{compaction.metadata.location.rstrip('/')}/data"
    compaction.io.delete_many([info.location for info in compaction.io.list_files(folder) if compaction.operation_id in info.location])


@dataclass(frozen=True)
class Sorted:
    """Rows sorted across the files of a group, and within each. ``sort_order_id`` is stored in the files."""

    spark: SparkSession
    rewrite: RewriteDataFiles
    order: SortOrder
    sort_order_id: int

    def __call__(self, group: Group) -> list[DataFile]:
        frame = _rows(self.spark, self.rewrite, group)
        schema = self.rewrite.metadata.schema
        keys = _partition_keys(self.spark, self.rewrite, group)
        valued = with_partition_values(self.spark, frame, schema, self.rewrite.metadata.specs_by_id[self.rewrite.output_spec_id])
        order = [*(valued[name].asc_nulls_first() for name in keys), *sort_columns(self.spark, valued, schema, self.order)]
        return _written(
            self.spark, self.rewrite, _sorted(valued, order, group, self.rewrite).select(*map(quoted, frame.columns)), self.sort_order_id
        )


@dataclass(frozen=True)
class AlongCurve:
    """Rows sorted by the values of a curve through several columns. ``with_curve_values`` adds these, ``CURVE_VALUE``; it runs in tasks."""

    spark: SparkSession
    rewrite: RewriteDataFiles
    with_curve_values: Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

    def __call__(self, group: Group) -> list[DataFile]:
        ship(self.spark)
        frame = _rows(self.spark, self.rewrite, group)
        keys = _partition_keys(self.spark, self.rewrite, group)
        with_curve_values = self.with_curve_values

        def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            with archives_forgotten():
                yield from with_curve_values(batches)

        plain = numbered(frame)
        woven = plain.mapInArrow(add, StructType([*plain.schema.fields, StructField(CURVE_VALUE, BinaryType())])).toDF(
            *frame.columns, CURVE_VALUE
        )
        valued = with_partition_values(
            self.spark, woven, self.rewrite.metadata.schema, self.rewrite.metadata.specs_by_id[self.rewrite.output_spec_id]
        )
        order = [*(valued[name].asc_nulls_first() for name in keys), valued[CURVE_VALUE].asc()]
        return _written(self.spark, self.rewrite, _sorted(valued, order, group, self.rewrite).select(*map(quoted, frame.columns)), 0)


def _rows(spark: SparkSession, rewrite: RewriteDataFiles, group: Group) -> DataFrame:
    lineage = _LINEAGE if rewrite.metadata.format_version >= 3 else ()
    return scan_dataframe(spark, rewrite.table, schema=rewrite.metadata.schema, metadata_columns=lineage, tasks=group.tasks)


def _partition_keys(spark: SparkSession, rewrite: RewriteDataFiles, group: Group) -> list[str]:
    """Columns of partition values to sort by first, where the group's files may go to several partitions."""
    if all(task.spec_id == rewrite.output_spec_id for task in group.tasks):
        return []
    spec = rewrite.metadata.specs_by_id[rewrite.output_spec_id]
    return [f"{PARTITION_PREFIX}{place}" for place, field in enumerate(spec.fields) if not field.transform.is_void]


def _sorted(frame: DataFrame, order: Sequence[Column], group: Group, rewrite: RewriteDataFiles) -> DataFrame:
    options = rewrite.options
    files = max(1, math.ceil(group.expected_files * options.compression_factor))
    count = files * options.shuffle_partitions_per_file
    if not order:
        return frame.coalesce(count)
    spread = frame.coalesce(1) if count == 1 and group.input_bytes <= DRIVER_BYTES else frame.repartitionByRange(count, *order)
    return spread.sortWithinPartitions(*order)


def _written(spark: SparkSession, rewrite: RewriteDataFiles, frame: DataFrame, sort_order_id: int) -> list[DataFile]:
    settings = WriteSettings(
        options={"target-file-size-bytes": str(rewrite.options.write_max_file_size_bytes)},
        spec_id=rewrite.output_spec_id,
        row_lineage=rewrite.metadata.format_version >= 3,
        sort_order_id=sort_order_id,
        distribute=False,
    )
    return write_frame(spark, frame, rewrite.metadata, rewrite.table.io, settings)
