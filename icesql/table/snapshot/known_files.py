"""Whether data files are in a table already: a file that is listed twice returns its rows twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from icesql.errors import ValidationError
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.manifests.access import manifests_of, of_content

_SHOWN = 10


def one_spelling(location: str) -> str:
    """Local paths with and without ``file:`` are the same."""
    return "/" + location[5:].lstrip("/") if location.startswith("file:") else location


def live_data_paths(io: FileIO, metadata: TableMetadata, head: Snapshot | None) -> Iterator[str]:
    """Paths of the live data files of a snapshot, as its manifests spell them."""
    for manifest in of_content(manifests_of(io, head), ManifestContent.DATA):
        if manifest.has_live_files:
            columns = read_manifest_columns(io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
            yield from columns.paths(np.flatnonzero(columns.live))


def already_in_table(paths: Iterable[str]) -> ValidationError:
    known = sorted(paths)
    return ValidationError(
        "Cannot complete import because data files to be imported already exist within the target table: "
        f"{','.join(known[:_SHOWN])}.  This is disabled by default as Iceberg is not designed for multiple references to the same file "
        "within the same table.  If you are sure, you may set 'check_duplicate_files' to false to force the import.",
        files=known,
    )
