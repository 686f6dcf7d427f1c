"""Which manifests list data files that Spark's Parquet reader cannot read, found when a frame is built, before Spark plans it.

A table's properties do not tell: its default format may have changed, and any write may name a format of its own.
"""

from __future__ import annotations

import threading

import numpy as np

from icesql.io.files import FileIO
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.manifest_access import manifests_of, of_content

_MOST_READ = 256  # manifests a frame opens to find out; the rest show themselves when files are planned
_known: dict[str, bool] = {}
_lock = threading.Lock()


def has_foreign_files(io: FileIO, metadata: TableMetadata, snapshot: Snapshot | None) -> bool:
    """True if a manifest of the snapshot lists a live data file of a format other than Parquet. Manifests are remembered by path.

    Looks into the newest 256 manifests not seen before; of older ones beyond them it does not know.
    """
    if snapshot is None:
        return False
    manifests = [m for m in of_content(manifests_of(io, snapshot), ManifestContent.DATA) if m.has_live_files]
    if any(_known.get(m.manifest_path, False) for m in manifests):
        return True
    unseen = [m for m in manifests if m.manifest_path not in _known]
    newest = sorted(unseen, key=lambda m: m.sequence_number, reverse=True)[:_MOST_READ]
    return any(_lists_foreign(io, metadata, manifest) for manifest in newest)


def _lists_foreign(io: FileIO, metadata: TableMetadata, manifest: ManifestFile) -> bool:
    from icesql.io.manifest_columns import read_manifest_columns

    columns = read_manifest_columns(io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
    formats = columns.file_format.texts(np.flatnonzero(columns.live))
    found = any((name or "").lower() != "parquet" for name in formats)
    with _lock:
        if len(_known) > 100_000:
            _known.clear()
        _known[manifest.manifest_path] = found
    return found


__all__ = ["has_foreign_files"]
