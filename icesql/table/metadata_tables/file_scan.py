"""Manifests to rows of the file tables: which manifests and rows, and what a filter on partitions leaves out early."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

from icesql.io.manifest_columns import ManifestColumns, read_manifest_columns
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.types import StructType
from icesql.table.column_predicates import Rows
from icesql.table.manifest_access import manifests_of
from icesql.table.metadata_tables.base import MetadataScan, empty_table, table_of_arrays
from icesql.table.metadata_tables.file_rows import FileRows
from icesql.table.planning import RowChoice, live_rows

EVERY_CONTENT = (ManifestContent.DATA, ManifestContent.DELETES)


def all_rows(columns: ManifestColumns) -> Rows:
    return np.arange(len(columns))


def snapshot_manifests(scan: MetadataScan, contents: Iterable[ManifestContent] = EVERY_CONTENT) -> list[ManifestFile]:
    """Manifests of the selected snapshot."""
    wanted = set(contents)
    return [manifest for manifest in manifests_of(scan.io, scan.snapshot) if manifest.content in wanted]


def all_manifests(scan: MetadataScan, contents: Iterable[ManifestContent] = EVERY_CONTENT) -> list[ManifestFile]:
    """Manifests of every snapshot of the table, each path once."""
    wanted = set(contents)
    found: dict[str, ManifestFile] = {}
    for snapshot in scan.metadata.snapshots:
        for manifest in manifests_of(scan.io, snapshot):
            if manifest.content in wanted:
                found.setdefault(manifest.manifest_path, manifest)
    return list(found.values())


def columns_of(scan: MetadataScan, manifests: Iterable[ManifestFile]) -> Iterator[ManifestColumns]:
    specs = scan.metadata.specs_by_id
    for manifest in manifests:
        yield read_manifest_columns(scan.io, manifest, spec=specs.get(manifest.partition_spec_id))


def files_table(scan: MetadataScan, manifests: Iterable[ManifestFile], choose: RowChoice = live_rows) -> pa.Table:
    """A row a file, in the columns of the scan."""
    return _tables(scan, manifests, choose, lambda part: [part.array(field) for field in scan.schema.fields])


def entries_table(scan: MetadataScan, manifests: Iterable[ManifestFile], choose: RowChoice = all_rows) -> pa.Table:
    """A row an entry, deleted ones too."""

    def arrays(part: FileRows) -> list[pa.Array]:
        made = []
        for field in scan.schema.fields:
            if field.name == "data_file":
                assert isinstance(field.type, StructType)
                made.append(part.struct(field.type.fields))
            else:
                made.append(part.array(field))
        return made

    return _tables(scan, manifests, choose, arrays)


def _tables(
    scan: MetadataScan, manifests: Iterable[ManifestFile], choose: RowChoice, arrays: Callable[[FileRows], list[pa.Array]]
) -> pa.Table:
    tables = []
    for columns in columns_of(scan, manifests):
        rows = choose(columns)
        if len(rows):
            tables.append(table_of_arrays(scan.schema, arrays(FileRows(scan.metadata, columns, rows))))
    return pa.concat_tables(tables) if tables else empty_table(scan.schema)
