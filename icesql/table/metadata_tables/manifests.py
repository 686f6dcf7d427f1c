"""``manifests``: the manifests of a snapshot."""

from __future__ import annotations

import pyarrow as pa

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, StringType
from icesql.table.manifests.access import with_counts
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows
from icesql.table.metadata_tables.file_scan import snapshot_manifests
from icesql.table.metadata_tables.manifest_rows import manifest_row, summaries_column

SCHEMA = Schema(
    (
        column(14, "content", IntegerType(), required=True),
        column(1, "path", StringType(), required=True),
        column(2, "length", LongType(), required=True),
        column(3, "partition_spec_id", IntegerType(), required=True),
        column(4, "added_snapshot_id", LongType(), required=True),
        column(5, "added_data_files_count", IntegerType(), required=True),
        column(6, "existing_data_files_count", IntegerType(), required=True),
        column(7, "deleted_data_files_count", IntegerType(), required=True),
        column(15, "added_delete_files_count", IntegerType(), required=True),
        column(16, "existing_delete_files_count", IntegerType(), required=True),
        column(17, "deleted_delete_files_count", IntegerType(), required=True),
        summaries_column(8, required=True, nan_required=False),
    )
)


def schema(metadata: TableMetadata) -> Schema:
    return SCHEMA


def rows(scan: MetadataScan) -> pa.Table:
    counted = (with_counts(scan.io, manifest, scan.metadata.specs_by_id) for manifest in snapshot_manifests(scan))
    return table_of_rows(scan.schema, (manifest_row(scan.metadata, manifest) for manifest in counted))


TABLE = MetadataTable("manifests", schema, rows, TimeTravelSupport.YES)
