"""``metadata_log_entries``: the metadata files of the log, the current one last, with the snapshot that was latest on main then."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, StringType, TimestamptzType
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows

SCHEMA = Schema(
    (
        column(1, "timestamp", TimestamptzType(), required=True),
        column(2, "file", StringType(), required=True),
        column(3, "latest_snapshot_id", LongType()),
        column(4, "latest_schema_id", IntegerType()),
        column(5, "latest_sequence_number", LongType()),
    )
)


def schema(metadata: TableMetadata) -> Schema:
    return SCHEMA


def rows(scan: MetadataScan) -> pa.Table:
    metadata = scan.metadata
    files = [(entry.timestamp_ms, entry.metadata_file) for entry in metadata.metadata_log]
    if scan.metadata_location is not None:
        files.append((metadata.last_updated_ms, scan.metadata_location))
    return table_of_rows(scan.schema, (_row(metadata, timestamp_ms, file) for timestamp_ms, file in files))


def _row(metadata: TableMetadata, timestamp_ms: int, file: str) -> dict[str, Any]:
    latest = None
    for entry in metadata.snapshot_log:
        if entry.timestamp_ms <= timestamp_ms:
            latest = entry.snapshot_id
    snapshot = None if latest is None else metadata.snapshots_by_id.get(latest)
    return {
        "timestamp": timestamp_ms * 1000,
        "file": file,
        "latest_snapshot_id": latest,
        "latest_schema_id": None if snapshot is None else snapshot.schema_id,
        "latest_sequence_number": None if snapshot is None else snapshot.sequence_number,
    }


TABLE = MetadataTable("metadata_log_entries", schema, rows, TimeTravelSupport.IGNORED)
