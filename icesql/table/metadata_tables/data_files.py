"""``data_files``: the data files of a snapshot."""

from __future__ import annotations

import pyarrow as pa

from icesql.spec.files import ManifestContent
from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport
from icesql.table.metadata_tables.file_columns import files_schema
from icesql.table.metadata_tables.file_scan import files_table, snapshot_manifests


def rows(scan: MetadataScan) -> pa.Table:
    return files_table(scan, snapshot_manifests(scan, (ManifestContent.DATA,)))


TABLE = MetadataTable("data_files", files_schema, rows, TimeTravelSupport.YES)
