"""``snapshots``: every snapshot the table still knows."""

from __future__ import annotations

import pyarrow as pa

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, MapType, StringType, TimestamptzType
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows

SCHEMA = Schema(
    (
        column(1, "committed_at", TimestamptzType(), required=True),
        column(2, "snapshot_id", LongType(), required=True),
        column(3, "parent_id", LongType()),
        column(4, "operation", StringType()),
        column(5, "manifest_list", StringType()),
        column(6, "summary", MapType(7, StringType(), 8, StringType(), True)),
    )
)


def schema(metadata: TableMetadata) -> Schema:
    return SCHEMA


def rows(scan: MetadataScan) -> pa.Table:
    return table_of_rows(
        scan.schema,
        (
            {
                "committed_at": snapshot.timestamp_ms * 1000,
                "snapshot_id": snapshot.snapshot_id,
                "parent_id": snapshot.parent_snapshot_id,
                "operation": snapshot.operation,
                "manifest_list": snapshot.manifest_list,
                "summary": {key: value for key, value in snapshot.summary.items() if key != "operation"},
            }
            for snapshot in scan.metadata.snapshots
        ),
    )


TABLE = MetadataTable("snapshots", schema, rows, TimeTravelSupport.IGNORED)
