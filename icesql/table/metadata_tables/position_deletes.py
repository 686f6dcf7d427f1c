"""``position_deletes``: every deleted position of a snapshot, from position delete files and deletion vectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from icesql.io.arrow.types import constant_array
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, NestedField, StringType, StructType
from icesql.table.metadata_tables.base import (
    MetadataScan,
    MetadataTable,
    TimeTravelSupport,
    arrow_type,
    column,
    empty_table,
    table_of_arrays,
)
from icesql.table.metadata_tables.file_columns import partition_column
from icesql.table.metadata_tables.file_rows import partition_array
from icesql.table.metadata_tables.file_scan import columns_of, snapshot_manifests
from icesql.table.scan.planning import live_rows
from icesql.table.scan.position_sets import deleted_positions

_MAX = 2**31 - 1


def schema(metadata: TableMetadata) -> Schema:
    partition = partition_column(metadata)
    doc = "Partition that position delete row belongs to"
    own = () if partition is None else (column(_MAX - 5, "partition", partition.type, required=True, doc=doc),)
    vectors = (
        column(_MAX - 104, "content_offset", LongType(), doc="The offset in the DV where the content starts"),
        column(_MAX - 105, "content_size_in_bytes", LongType(), doc="The length in bytes of the DV blob"),
    )
    return Schema(
        (
            column(_MAX - 101, "file_path", StringType(), required=True, doc="Path of a file in which a deleted row is stored"),
            column(_MAX - 102, "pos", LongType(), required=True, doc="Ordinal position of a deleted row in the data file"),
            column(_MAX - 103, "row", StructType(metadata.schema.fields), doc="Deleted row values"),
            *own,
            column(_MAX - 4, "spec_id", IntegerType(), required=True, doc="Spec ID used to track the file containing a row"),
            column(_MAX - 1, "delete_file_path", StringType(), required=True, doc="Path of the file in which a row is stored"),
            *(vectors if metadata.format_version >= 3 else ()),
        )
    )


def rows(scan: MetadataScan) -> pa.Table:
    tables = list(_tables(scan))
    return pa.concat_tables(tables) if tables else empty_table(scan.schema)


def _tables(scan: MetadataScan) -> Iterator[pa.Table]:
    for columns in columns_of(scan, snapshot_manifests(scan, (ManifestContent.DELETES,))):
        for row in live_rows(columns).tolist():
            if columns.content[row] != FileContent.POSITION_DELETES:
                continue
            file = columns.data_file(row)
            for path, bitmap in deleted_positions(scan.io, file).items():
                positions = np.array(bitmap, np.int64)
                if len(positions):
                    arrays = [
                        partition_array(columns, np.full(len(positions), row), field.type)
                        if field.name == "partition" and isinstance(field.type, StructType)
                        else _array(field, file, path, positions)
                        for field in scan.schema.fields
                    ]
                    yield table_of_arrays(scan.schema, arrays)


def _array(field: NestedField, file: DataFile, path: str, positions: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pa.Array:
    if field.name == "pos":
        return pa.array(positions)
    constant = {
        "file_path": path,
        "spec_id": file.spec_id,
        "delete_file_path": file.file_path,
        "content_offset": file.content_offset,
        "content_size_in_bytes": file.content_size_in_bytes,
    }.get(field.name)
    if constant is None:
        return pa.nulls(len(positions), arrow_type(field.type))
    return constant_array(field.type, constant, len(positions))


TABLE = MetadataTable("position_deletes", schema, rows, TimeTravelSupport.YES)
