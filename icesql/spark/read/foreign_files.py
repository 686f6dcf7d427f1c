"""Which manifests list data files that Spark's Parquet reader cannot read; known when a frame is built, before Spark plans it.

A table's properties do not tell: its default format may have changed, and any write may name a format of its own.
"""

from __future__ import annotations

import numpy as np

from icesql.io.lru import LruCache
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.manifests.columns import ManifestColumns
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import manifests_of, of_content

_MOST_READ = 256  # manifests a frame opens to find out
_known: LruCache[str, bool] = LruCache(100_000)  # by manifest: whether it lists a file that is not Parquet


def may_have_foreign_files(io: FileIO, metadata: TableMetadata, snapshot: Snapshot | None) -> bool:
    """False if every live data file of the snapshot is known to be Parquet. Manifests are remembered by path.

    Up to 256 manifests not seen before are read to find out; where there are more, the answer is True until planning has read them.
    """
    if snapshot is None:
        return False
    manifests = [m for m in of_content(manifests_of(io, snapshot), ManifestContent.DATA) if m.has_live_files]
    if any(_known.find(m.manifest_path) for m in manifests):
        return True
    unseen = [m for m in manifests if m.manifest_path not in _known]
    return len(unseen) > _MOST_READ or any(_lists_foreign(io, metadata, manifest) for manifest in unseen)


def _lists_foreign(io: FileIO, metadata: TableMetadata, manifest: ManifestFile) -> bool:
    return learn(read_manifest_columns(io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id)))


def learn(columns: ManifestColumns) -> bool:
    """Remember whether a data manifest lists a live file that is not Parquet."""
    path = columns.manifest.manifest_path
    return _known.find_or_make(
        path, lambda: any((name or "").lower() != "parquet" for name in set(columns.file_format.texts(np.flatnonzero(columns.live))))
    )
