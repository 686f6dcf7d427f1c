"""The columns that describe a file, shared by ``files``, ``entries`` and the like. Spec: "Manifests", the ``data_file`` struct."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BinaryType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    Type,
    UnknownType,
    VariantType,
)
from icesql.table.metadata.partition_types import union_partition_type
from icesql.table.metadata_tables.base import column

READABLE_METRICS = "readable_metrics"
_READABLE_ID = 1_000_000
METRICS = {
    "column_size": "Total size on disk",
    "value_count": "Total count, including null and NaN",
    "null_value_count": "Null value count",
    "nan_value_count": "NaN value count",
    "lower_bound": "Lower bound",
    "upper_bound": "Upper bound",
}


def _counts(field_id: int, name: str, key: int, value: int, doc: str) -> NestedField:
    return column(field_id, name, MapType(key, IntegerType(), value, LongType(), True), doc=doc)


def _bounds(field_id: int, name: str, key: int, value: int, doc: str) -> NestedField:
    return column(field_id, name, MapType(key, IntegerType(), value, BinaryType(), True), doc=doc)


_BEFORE_PARTITION = (
    column(134, "content", IntegerType(), doc="Contents of the file: 0=data, 1=position deletes, 2=equality deletes"),
    column(100, "file_path", StringType(), required=True, doc="Location URI with FS scheme"),
    column(101, "file_format", StringType(), required=True, doc="File format name: avro, orc, or parquet"),
    column(141, "spec_id", IntegerType(), doc="Partition spec ID"),
)
_AFTER_PARTITION = (
    column(103, "record_count", LongType(), required=True, doc="Number of records in the file"),
    column(104, "file_size_in_bytes", LongType(), required=True, doc="Total file size in bytes"),
    _counts(108, "column_sizes", 117, 118, "Map of column id to total size on disk"),
    _counts(109, "value_counts", 119, 120, "Map of column id to total count, including null and NaN"),
    _counts(110, "null_value_counts", 121, 122, "Map of column id to null value count"),
    _counts(137, "nan_value_counts", 138, 139, "Map of column id to number of NaN values in the column"),
    _bounds(125, "lower_bounds", 126, 127, "Map of column id to lower bound"),
    _bounds(128, "upper_bounds", 129, 130, "Map of column id to upper bound"),
    column(131, "key_metadata", BinaryType(), doc="Encryption key metadata blob"),
    column(132, "split_offsets", ListType(133, LongType(), True), doc="Splittable offsets"),
    column(135, "equality_ids", ListType(136, IntegerType(), True), doc="Equality comparison field IDs"),
    column(140, "sort_order_id", IntegerType(), doc="Sort order ID"),
    column(142, "first_row_id", LongType(), doc="The first row ID assigned to the first row in the data file"),
    column(
        143,
        "referenced_data_file",
        StringType(),
        doc="Fully qualified location (URI with FS scheme) of a data file that all deletes reference",
    ),
    column(144, "content_offset", LongType(), doc="The offset in the file where the content starts"),
    column(145, "content_size_in_bytes", LongType(), doc="The length of referenced content stored in the file"),
)


def file_columns(metadata: TableMetadata) -> tuple[NestedField, ...]:
    """The columns of ``files``; without ``partition`` if no spec of the table has a field."""
    partition = partition_column(metadata)
    return (*_BEFORE_PARTITION, *(() if partition is None else (partition,)), *_AFTER_PARTITION)


def partition_column(metadata: TableMetadata) -> NestedField | None:
    struct = union_partition_type(metadata)
    if not struct.fields:
        return None
    return column(102, "partition", struct, required=True, doc="Partition data tuple, schema based on the partition spec")


def readable_metrics(metadata: TableMetadata) -> NestedField:
    """A struct for each leaf column of the current schema, under its dotted name, sorted by name."""
    ids = count(_READABLE_ID + 1)
    fields = tuple(
        column(next(ids), name, StructType(tuple(_metrics(ids, type_))), doc=f"Metrics for column {name}")
        for name, _, type_ in readable_leaves(metadata.schema)
    )
    return column(_READABLE_ID, READABLE_METRICS, StructType(fields), doc="Column metrics in readable form")


def _metrics(ids: Iterator[int], type_: Type) -> Iterator[NestedField]:
    for name, doc in METRICS.items():
        yield column(next(ids), name, type_ if name.endswith("_bound") else LongType(), doc=doc)


def readable_leaves(schema: Schema) -> list[tuple[str, int, PrimitiveType]]:
    """(dotted name, field id, type) of the leaves that have metrics, by name."""
    leaves = [
        (name, field.id, field.type)
        for name, field, _ in schema.walk()
        if isinstance(field.type, PrimitiveType) and not isinstance(field.type, (VariantType, UnknownType))
    ]
    return sorted(leaves, key=lambda leaf: leaf[0])


def files_schema(metadata: TableMetadata) -> Schema:
    return Schema((*file_columns(metadata), readable_metrics(metadata)))


def entries_schema(metadata: TableMetadata) -> Schema:
    return Schema(
        (
            column(0, "status", IntegerType(), required=True),
            column(1, "snapshot_id", LongType()),
            column(3, "sequence_number", LongType()),
            column(4, "file_sequence_number", LongType()),
            column(2, "data_file", StructType(file_columns(metadata)), required=True),
            readable_metrics(metadata),
        )
    )
