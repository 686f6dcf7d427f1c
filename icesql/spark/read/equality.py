"""Equality deletes as null-safe anti joins. Spec: "Equality Delete Files", "Scan Planning".

A row is deleted if a delete row of its partition (of any, under an unpartitioned spec) with a higher sequence number equals it on the
file's equality columns; null equals null. The deleted rows are read in the driver: writers that make them (streams) keep such files small.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from icesql.io.deletes.files import equality_schema, read_equality_deletes
from icesql.spark.jvm.arrow_schema import to_arrow_type
from icesql.spark.jvm.local_rows import arrow_frame
from icesql.spark.jvm.types import to_spark_type
from icesql.spark.read.columns import FileConstant, quoted
from icesql.spark.read.fallback_reader import name_mapping_of
from icesql.spark.read.fallback_tasks import spark_array
from icesql.spec.files import EntryStatus, FileContent, ManifestContent, ManifestEntry
from icesql.spec.metadata_columns import DELETED
from icesql.spec.schema import Schema
from icesql.table.manifests.access import live_entries, manifests_of, of_content
from icesql.table.scan.delete_index import partition_key
from icesql.table.scan.tasks import FileScanTask

if TYPE_CHECKING:
    from icesql.spark.read.table_scan import Read

_SEQUENCE, _PARTITION = "__delete_sequence", "__delete_partition"


def partition_text(spec_id: int, partition: tuple[object, ...]) -> str:
    """One text for each partition of each spec."""
    return repr(partition_key(spec_id, partition))


DATA_SEQUENCE = FileConstant(StructField("__data_sequence", LongType(), False), lambda file: file.data_sequence_number)
DATA_PARTITION = FileConstant(
    StructField("__data_partition", StringType(), False), lambda file: partition_text(file.spec_id, file.partition)
)


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """Rows that delete files with these equality columns delete, in columns ``__eq_<id>``; of any partition if ``is_global``."""

    ids: tuple[int, ...]
    is_global: bool
    frame: DataFrame

    def __iter__(self) -> Iterator[Any]:
        return iter((self.ids, self.is_global, self.frame))


def equality_delete_entries(read: Read) -> list[ManifestEntry]:
    """Live equality delete files of the read: of its tasks where they are given, else of its snapshot."""
    if read.settings.tasks is not None:
        return _entries_of_tasks(read.settings.tasks)
    return [
        entry
        for manifest in of_content(manifests_of(read.io, read.snapshot), ManifestContent.DELETES)
        if manifest.has_live_files
        for entry in live_entries(read.io, manifest, read.metadata.specs_by_id)
        if entry.data_file.content is FileContent.EQUALITY_DELETES
    ]


def _entries_of_tasks(tasks: Sequence[FileScanTask]) -> list[ManifestEntry]:
    """Given tasks name exactly the deletes that apply, so any sequence number above their files' will do."""
    deletes = {file.key: file for task in tasks for file in task.delete_files if file.content is FileContent.EQUALITY_DELETES}
    above = max((task.data_sequence_number for task in tasks), default=0) + 1
    return [
        ManifestEntry(status=EntryStatus.EXISTING, snapshot_id=None, sequence_number=above, data_file=file) for file in deletes.values()
    ]


def deleted_rows(read: Read, known: Schema) -> list[DeletedRows]:
    """Deleted rows for every set of equality columns."""
    groups: dict[tuple[tuple[int, ...], bool], list[ManifestEntry]] = defaultdict(list)
    for entry in equality_delete_entries(read):
        spec = read.metadata.specs_by_id[entry.data_file.spec_id]
        groups[tuple(sorted(entry.data_file.equality_ids)), spec.is_unpartitioned].append(entry)
    return [DeletedRows(ids, is_global, _deleted_rows(read, known, ids, entries)) for (ids, is_global), entries in groups.items()]


def without(frame: DataFrame, names: dict[int, str], groups: Sequence[DeletedRows]) -> DataFrame:
    """The rows of ``frame`` that no group deletes. ``names``: its column of each field id."""
    for group in groups:
        frame = frame.join(group.frame, _match(frame, names, group), "left_anti")
    return frame


def marked(frame: DataFrame, names: dict[int, str], groups: Sequence[DeletedRows]) -> DataFrame:
    """All rows, with ``_deleted`` true for those that a group deletes."""
    for group in groups:
        kept = frame.join(group.frame, _match(frame, names, group), "left_anti")
        deleted = frame.join(group.frame, _match(frame, names, group), "left_semi").withColumn(DELETED.name, F.lit(True))
        frame = kept.unionByName(deleted)
    return frame


def _deleted_rows(read: Read, known: Schema, ids: tuple[int, ...], entries: Sequence[ManifestEntry]) -> DataFrame:
    mapping = name_mapping_of(read.metadata)
    fields = equality_schema(known, ids).fields
    spark_fields = [StructField(f"__eq_{field.id}", to_spark_type(field.type)) for field in fields]
    schema = StructType([*spark_fields, StructField(_SEQUENCE, LongType()), StructField(_PARTITION, StringType())])
    tables = []
    for entry in entries:
        rows = read_equality_deletes(read.io, entry.data_file, known, name_mapping=mapping).combine_chunks()
        order = [list(entry.data_file.equality_ids).index(i) for i in ids]
        columns = [
            spark_array(_one(rows.column(place)), field.type, to_arrow_type(spark_field.dataType))
            for place, field, spark_field in zip(order, fields, spark_fields, strict=True)
        ]
        text = partition_text(entry.data_file.spec_id, entry.data_file.partition)
        columns += [pa.repeat(pa.scalar(entry.sequence_number or 0, pa.int64()), rows.num_rows), pa.repeat(pa.scalar(text), rows.num_rows)]
        tables.append(pa.table(columns, names=schema.names))
    return arrow_frame(read.spark, pa.concat_tables(tables), schema)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return (
        column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    )


def _match(frame: DataFrame, names: dict[int, str], group: DeletedRows) -> Column:
    """When a row of ``frame`` equals a deleted row that is newer than the row's file."""
    condition = F.col(_SEQUENCE) > F.col("__data_sequence")
    if not group.is_global:
        condition = (F.col(_PARTITION) == F.col("__data_partition")) & condition
    for field_id in group.ids:
        condition = condition & F.col(quoted(names[field_id])).eqNullSafe(F.col(f"__eq_{field_id}"))
    return condition
