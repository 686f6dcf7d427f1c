"""Columns that hold no null in a snapshot, by the counts in its manifests: what reads them need not test each value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from icesql.io.lru import LruCache
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import Snapshot
from icesql.spec.types import children
from icesql.table.manifests.access import manifests_of, of_content
from icesql.table.scan.planning import total_live_files

FEWEST_ROWS = 100_000  # below, a test of each value costs less than to look
_MOST_FILES = 1_000  # above, reading the counts of all may cost more than a query of some is worth
_known: LruCache[tuple[str, tuple[int, ...]], frozenset[int]] = LruCache(10_000)  # by manifest and columns


def never_null(io: FileIO, metadata: TableMetadata, snapshot: Snapshot | None, schema: Schema) -> frozenset[int]:
    """Ids of optional columns of ``schema`` of which every live data file counts its values and no null among them.

    Only columns that are not nested, and only for snapshots of at least 100,000 rows in at most 1,000 files: for others the answer is
    empty. A file that lacks the column, or its counts, may hold nulls. Answers are remembered by manifest.
    """
    optional = tuple(field.id for field in schema.fields if not field.required and not children(field.type))
    manifests = [m for m in of_content(manifests_of(io, snapshot), ManifestContent.DATA) if m.has_live_files]
    if not optional or not _is_worth_it(manifests):
        return frozenset()
    columns = frozenset(optional)
    for manifest in manifests:
        columns &= _of_manifest(io, metadata, manifest, optional)
        if not columns:
            break
    return columns


def _is_worth_it(manifests: Sequence[ManifestFile]) -> bool:
    rows = sum((m.added_rows_count or 0) + (m.existing_rows_count or 0) for m in manifests)
    files = total_live_files(manifests)
    return rows >= FEWEST_ROWS and files is not None and files <= _MOST_FILES


def _of_manifest(io: FileIO, metadata: TableMetadata, manifest: ManifestFile, ids: tuple[int, ...]) -> frozenset[int]:
    def counted() -> frozenset[int]:
        spec = metadata.specs_by_id.get(manifest.partition_spec_id)
        columns = read_manifest_columns(io, manifest, spec=spec, bounds_for=frozenset(ids))
        return frozenset(i for i in ids if _holds_no_null(columns, i))

    return _known.find_or_make((manifest.manifest_path, ids), counted)


def _holds_no_null(columns: ManifestColumns, field_id: int) -> bool:
    rows = columns.live & (columns.record_count > 0)
    (values, has_values), (nulls, has_nulls) = columns.value_count(field_id), columns.null_count(field_id)
    counted = has_values & has_nulls & (nulls == 0) & (values == columns.record_count)
    return bool(np.all(counted[rows]))
