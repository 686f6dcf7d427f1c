"""``all_manifests``: the manifests of every snapshot, once for each snapshot that refers to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import BinaryType, IntegerType, LongType, StringType
from icesql.table.manifests.access import manifests_of
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows
from icesql.table.metadata_tables.manifest_rows import manifest_row, summaries_column

SCHEMA = Schema(
    (
        column(14, "content", IntegerType(), required=True),
        column(1, "path", StringType(), required=True),
        column(2, "length", LongType(), required=True),
        column(3, "partition_spec_id", IntegerType()),
        column(4, "added_snapshot_id", LongType()),
        column(5, "added_data_files_count", IntegerType()),
        column(6, "existing_data_files_count", IntegerType()),
        column(7, "deleted_data_files_count", IntegerType()),
        column(15, "added_delete_files_count", IntegerType(), required=True),
        column(16, "existing_delete_files_count", IntegerType(), required=True),
        column(17, "deleted_delete_files_count", IntegerType(), required=True),
        summaries_column(8, required=False, nan_required=True),
        column(18, "reference_snapshot_id", LongType(), required=True),
        column(19, "key_metadata", BinaryType()),
    )
)


def schema(metadata: TableMetadata) -> Schema:
    return SCHEMA


def rows(scan: MetadataScan) -> pa.Table:
    return table_of_rows(scan.schema, _rows(scan))


def _rows(scan: MetadataScan) -> Iterator[dict[str, Any]]:
    for snapshot in scan.metadata.snapshots:
        for manifest in manifests_of(scan.io, snapshot):
            yield {**manifest_row(scan.metadata, manifest, nan_required=True), "reference_snapshot_id": snapshot.snapshot_id}


TABLE = MetadataTable("all_manifests", schema, rows, TimeTravelSupport.REFUSED)
