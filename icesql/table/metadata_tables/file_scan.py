"""The rows of the file tables: which manifests and entries are read, and what a filter on partitions skips early."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from icesql.expr.rewrite import conjuncts, referenced_ids
from icesql.expr.tree import TRUE, Expression, and_
from icesql.io.arrow.filter import row_mask
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.columns import ManifestColumns
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.schema import Schema
from icesql.spec.types import NestedField, StructType
from icesql.table.manifests.access import manifests_of
from icesql.table.manifests.column_predicates import Rows
from icesql.table.metadata_tables.base import MetadataScan, empty_table, table_of_arrays
from icesql.table.metadata_tables.file_rows import FileRows, is_light
from icesql.table.scan.planning import RowChoice, live_rows

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
    manifests: dict[str, ManifestFile] = {}
    for snapshot in scan.metadata.snapshots:
        for manifest in manifests_of(scan.io, snapshot):
            if manifest.content in wanted:
                manifests.setdefault(manifest.manifest_path, manifest)
    return list(manifests.values())


def columns_of(scan: MetadataScan, manifests: Iterable[ManifestFile]) -> Iterator[ManifestColumns]:
    specs = scan.metadata.specs_by_id
    for manifest in manifests:
        yield read_manifest_columns(scan.io, manifest, spec=specs.get(manifest.partition_spec_id))


def files_table(scan: MetadataScan, manifests: Iterable[ManifestFile], choose: RowChoice = live_rows) -> pa.Table:
    """A row for each file, in the columns of the scan."""
    return _tables(scan, manifests, choose)


def entries_table(scan: MetadataScan, manifests: Iterable[ManifestFile], choose: RowChoice = all_rows) -> pa.Table:
    """A row for each entry, deleted ones too."""
    return _tables(scan, manifests, choose)


def _tables(scan: MetadataScan, manifests: Iterable[ManifestFile], choose: RowChoice) -> pa.Table:
    early, early_schema = _early_filter(scan)
    tables = []
    for columns in columns_of(scan, manifests):
        rows = choose(columns)
        if len(rows) and early != TRUE:
            light = table_of_arrays(early_schema, _arrays(FileRows(scan.metadata, columns, rows), early_schema))
            rows = rows[row_mask(light, early_schema, early).to_numpy()]
        if len(rows):
            tables.append(table_of_arrays(scan.schema, _arrays(FileRows(scan.metadata, columns, rows), scan.schema)))
    return pa.concat_tables(tables) if tables else empty_table(scan.schema)


def _arrays(part: FileRows, schema: Schema) -> list[pa.Array]:
    return [
        part.struct(field.type.fields) if field.name == "data_file" and isinstance(field.type, StructType) else part.array(field)
        for field in schema.fields
    ]


def _early_filter(scan: MetadataScan) -> tuple[Expression, Schema]:
    """The conjuncts over columns that need no file objects, and those columns."""
    light = [field for top in scan.schema.fields if (field := _light_part(top)) is not None]
    ids = Schema(tuple(light)).fields_by_id.keys()
    parts = [part for part in conjuncts(scan.filter) if referenced_ids(part) <= ids]
    wanted = {i for part in parts for i in referenced_ids(part)}
    used = tuple(field for field in light if wanted & Schema((field,)).fields_by_id.keys())
    return and_(*parts), Schema(used)


def _light_part(field: NestedField) -> NestedField | None:
    if field.name == "data_file" and isinstance(field.type, StructType):
        kept = tuple(part for part in field.type.fields if is_light(part.name))
        return NestedField(field.id, field.name, StructType(kept), field.required) if kept else None
    return field if is_light(field.name) else None
