"""When a delete file may go, and the removal of those that may. Spec: "Scan Planning", the rules on applying deletes.

The rule: a delete file may go once no data file that it applies to is live in the very version that the commit makes. An equality delete
applies to strictly lower data sequence numbers, a position delete to those not higher, a deletion vector to the one file it references.

- What counts is the data sequence number of every live file *after* the commit: of files that stay, of manifests that are added, and of
  the files being added, which may keep an older number (a rewrite's ``data_sequence_number``).
- It is worked out on the version that the commit builds on, at each attempt: a rollback, a branch set elsewhere or any other commit in
  between may have brought older data files back.

Every commit that removes data files also removes what ``icesql.table.snapshot.oldest_data`` proves to apply to nothing; ``DanglingDeletes``
looks at each partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, Snapshot
from icesql.table.changes.rewrite_files import RewriteFiles
from icesql.table.commit import commit
from icesql.table.manifests.access import manifests_of, of_content
from icesql.table.operations import ChangeSet
from icesql.table.scan.delete_index import PartitionKey, partition_key
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
    """Delete files of a snapshot for which every data file of their partition is too new."""
    if len(metadata.partition_specs) == 1 and metadata.spec.is_unpartitioned:
        return []  # every commit drops them from such a table
    oldest, paths = _data_files(io, metadata, head)
    oldest_of_all = min(oldest.values(), default=None)

    def dangles(file: DataFile, number: int) -> bool:
        if file.is_deletion_vector:
            return file.referenced_data_file not in paths
        everywhere = file.content is FileContent.EQUALITY_DELETES and metadata.specs_by_id[file.spec_id].is_unpartitioned
        first = oldest_of_all if everywhere else oldest.get(partition_key(file.spec_id, file.partition))
        if first is None:
            return True
        return number <= first if file.content is FileContent.EQUALITY_DELETES else number < first

    return [file for file, number in _live(io, metadata, head, ManifestContent.DELETES) if dangles(file, number)]


def _data_files(io: FileIO, metadata: TableMetadata, head: Snapshot | None) -> tuple[dict[PartitionKey, int], frozenset[str]]:
    """The lowest data sequence number of each partition, and all paths."""
    oldest: dict[PartitionKey, int] = {}
    paths: set[str] = set()
    for file, number in _live(io, metadata, head, ManifestContent.DATA):
        key = partition_key(file.spec_id, file.partition)
        oldest[key] = min(number, oldest.get(key, number))
        paths.add(file.file_path)
    return oldest, frozenset(paths)


def _live(io: FileIO, metadata: TableMetadata, head: Snapshot | None, content: ManifestContent) -> Iterator[tuple[DataFile, int]]:
    for manifest in of_content(manifests_of(io, head), content):
        columns = read_manifest_columns(io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
        for row in columns.live.nonzero()[0].tolist():
            yield columns.data_file(row), max(int(columns.sequence_number[row]), 0)
