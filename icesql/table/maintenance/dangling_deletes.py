"""When a delete file may go, and the removal of those that may. Spec: "Scan Planning", the rules on applying deletes.

The rule: a delete file may go once no data file that it applies to is live in the very version that the commit makes. An equality delete
applies to strictly lower data sequence numbers, a position delete to those not higher, a deletion vector to the one file it references;
paths and bounds say of which files none has a row for it.

- What counts is the data sequence number of every live file *after* the commit: of files that stay, of manifests that are added, and of
  the files being added, which may keep an older number (a rewrite's ``data_sequence_number``).
- It is worked out on the version that the commit builds on, at each attempt: a rollback, a branch set elsewhere or any other commit in
  between may have brought older data files back.

Every commit that removes data files also removes what ``icesql.table.snapshot.oldest_data`` proves to apply to nothing; ``DanglingDeletes``
looks at each data file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from icesql.expr.tree import TRUE
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.changes.rewrite_files import RewriteFiles
from icesql.table.commit import commit
from icesql.table.manifests.access import manifests_of, of_content
from icesql.table.operations import ChangeSet
from icesql.table.scan.delete_index import DeleteIndex
from icesql.table.scan.planning import PlanContext, PlannedManifest, plan_manifests
from icesql.table.snapshot.producer import SnapshotProducer

if TYPE_CHECKING:
    from icesql.table.table import Table


class DanglingDeletes:
    """A Change that removes the dangling delete files of a branch, as one ``replace`` snapshot.

    They are looked for in the version each attempt builds on, never in one read before.
    """

    def __init__(self, table: Table, branch: str = MAIN) -> None:
        self.table, self.branch = table, branch
        self._removed: list[DataFile] = []
        self._attempts: list[SnapshotProducer] = []

    def commit(self) -> list[DataFile]:
        """The files removed. Without any, nothing is committed."""
        commit(self.table.operations, [self], base=self.table.version)
        return self._removed

    def find(self) -> list[DataFile]:
        """The dangling delete files of the version the table object holds."""
        return dangling_deletes(self.table.io, self.table.metadata, self.table.metadata.head(self.branch))

    # -- Change --------------------------------------------------------------------------------------------------
    def apply(self, metadata: TableMetadata) -> ChangeSet:
        head = metadata.head(self.branch)
        self._removed = [] if head is None else dangling_deletes(self.table.io, metadata, head)
        if not self._removed:
            return ChangeSet()
        rewrite = RewriteFiles().to_branch(self.branch).rewrite_files(delete_deletes=self._removed)
        self._attempts.append(SnapshotProducer(rewrite.change(), self.table.io, self.table.name))
        return self._attempts[-1].apply(metadata)

    def committed(self, metadata: TableMetadata) -> None:
        for attempt in self._attempts:
            if attempt.snapshot_id in metadata.snapshots_by_id:
                attempt.committed(metadata)
            else:
                attempt.abandoned()

    def abandoned(self) -> None:
        for attempt in self._attempts:
            attempt.abandoned()


def dangling_deletes(io: FileIO, metadata: TableMetadata, head: Snapshot | None) -> list[DataFile]:
    """Live delete files of a snapshot that its planning gives to no data file, by numbers, partitions, paths and bounds."""
    manifests = manifests_of(io, head)
    if not of_content(manifests, ManifestContent.DELETES):
        return []
    planned = plan_manifests(PlanContext(metadata=metadata, io=io, schema=metadata.schema, filter=TRUE), manifests, head)
    index = planned.deletes
    applied = {delete.key for manifest in planned.manifests for delete in _deletes_of(manifest, index)}
    return [file for file in _live_deletes(io, metadata, manifests) if file.key not in applied]


def _deletes_of(manifest: PlannedManifest, index: DeleteIndex) -> Iterator[DataFile]:
    for row in manifest.rows.tolist():
        yield from index.for_file(manifest.columns.data_file(row), max(int(manifest.columns.sequence_number[row]), 0))


def _live_deletes(io: FileIO, metadata: TableMetadata, manifests: Sequence[ManifestFile]) -> Iterator[DataFile]:
    """Read again, for where no data file is left, planning reads none."""
    for manifest in of_content(manifests, ManifestContent.DELETES):
        columns = read_manifest_columns(io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
        yield from map(columns.data_file, columns.live.nonzero()[0].tolist())
