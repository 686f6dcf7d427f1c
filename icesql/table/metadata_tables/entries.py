"""``entries``: the entries of a snapshot's manifests, deleted ones too."""

from __future__ import annotations

import pyarrow as pa

from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport
from icesql.table.metadata_tables.file_columns import entries_schema
from icesql.table.metadata_tables.file_scan import entries_table, snapshot_manifests


def rows(scan: MetadataScan) -> pa.Table:
    return entries_table(scan, snapshot_manifests(scan))


TABLE = MetadataTable("entries", entries_schema, rows, TimeTravelSupport.YES)
