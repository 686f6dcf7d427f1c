"""``all_entries``: the entries of the manifests of every snapshot."""

from __future__ import annotations

import pyarrow as pa

from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport
from icesql.table.metadata_tables.file_columns import entries_schema
from icesql.table.metadata_tables.file_scan import all_manifests, entries_table


def rows(scan: MetadataScan) -> pa.Table:
    return entries_table(scan, all_manifests(scan))


TABLE = MetadataTable("all_entries", entries_schema, rows, TimeTravelSupport.REFUSED)
