"""``all_files``: the data and delete files of every snapshot; a file in several manifests has a row for each."""

from __future__ import annotations

import pyarrow as pa

from icesql.table.metadata_tables.base import MetadataScan, MetadataTable, TimeTravelSupport
from icesql.table.metadata_tables.file_columns import files_schema
from icesql.table.metadata_tables.file_scan import EVERY_CONTENT, all_manifests, files_table


def rows(scan: MetadataScan) -> pa.Table:
    return files_table(scan, all_manifests(scan, EVERY_CONTENT))


TABLE = MetadataTable("all_files", files_schema, rows, TimeTravelSupport.REFUSED)
