"""``refs``: branches and tags."""

from __future__ import annotations

import pyarrow as pa

from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, StringType
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport, column, table_of_rows

SCHEMA = Schema(
    (
        column(1, "name", StringType(), required=True),
        column(2, "type", StringType(), required=True),
        column(3, "snapshot_id", LongType(), required=True),
        column(4, "max_reference_age_in_ms", LongType()),
        column(5, "min_snapshots_to_keep", IntegerType()),
        column(6, "max_snapshot_age_in_ms", LongType()),
    )
)


def schema(metadata: TableMetadata) -> Schema:
    return SCHEMA


def rows(scan: MetadataScan) -> pa.Table:
    return table_of_rows(
        scan.schema,
        (
            {
                "name": name,
                "type": ref.type.value.upper(),
                "snapshot_id": ref.snapshot_id,
                "max_reference_age_in_ms": ref.max_ref_age_ms,
                "min_snapshots_to_keep": ref.min_snapshots_to_keep,
                "max_snapshot_age_in_ms": ref.max_snapshot_age_ms,
            }
            for name, ref in scan.metadata.refs.items()
        ),
    )


TABLE = MetadataTable("refs", schema, rows, TimeTravelSupport.IGNORED)
