"""``history``: which snapshots were current on main, and when."""

from __future__ import annotations

import pyarrow as pa

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import BooleanType, LongType, TimestamptzType
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows

SCHEMA = Schema(
    (
        column(1, "made_current_at", TimestamptzType(), required=True),
        column(2, "snapshot_id", LongType(), required=True),
        column(3, "parent_id", LongType()),
        column(4, "is_current_ancestor", BooleanType(), required=True),
    )
)


def schema(metadata: TableMetadata) -> Schema:
    return SCHEMA


def rows(scan: MetadataScan) -> pa.Table:
    metadata = scan.metadata
    ancestors = {snapshot.snapshot_id for snapshot in metadata.ancestors(metadata.current_snapshot_id)}
    known = metadata.snapshots_by_id
    return table_of_rows(
        scan.schema,
        (
            {
                "made_current_at": entry.timestamp_ms * 1000,
                "snapshot_id": entry.snapshot_id,
                "parent_id": known[entry.snapshot_id].parent_snapshot_id if entry.snapshot_id in known else None,
                "is_current_ancestor": entry.snapshot_id in ancestors,
            }
            for entry in metadata.snapshot_log
        ),
    )


TABLE = MetadataTable("history", schema, rows, TimeTravelSupport.IGNORED)
