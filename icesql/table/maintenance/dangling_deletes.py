"""Delete files that no data file of their partition is old enough for. Spec: "Scan Planning", the rules on applying deletes."""

from __future__ import annotations

from collections.abc import Iterator

from icesql.io.manifest_columns import read_manifest_columns
from icesql.spec.files import DataFile, FileContent, ManifestContent
from icesql.spec.snapshots import MAIN
from icesql.table.manifests.access import manifests_of, of_content
from icesql.table.scan.delete_index import PartitionKey, partition_key
from icesql.table.table import Table


class DanglingDeletes:
    """``find`` them, or ``commit`` their removal as one ``replace`` snapshot."""

    def __init__(self, table: Table, branch: str = MAIN) -> None:
        self.table, self.branch = table, branch

    def commit(self) -> list[DataFile]:
        """The files removed; nothing is committed for none."""
        dangling = self.find()
        if dangling:
            rewrite = self.table.new_rewrite_files().to_branch(self.branch)
            for file in dangling:
                rewrite.delete_file(file)
            rewrite.commit()
        return dangling

    def find(self) -> list[DataFile]:
        metadata = self.table.metadata
        if len(metadata.partition_specs) == 1 and metadata.spec.is_unpartitioned:
            return []  # every commit drops them from such a table
        oldest, paths = self._data_files()
        oldest_of_all = min(oldest.values(), default=None)
        return [file for file, number in self._delete_files() if self._dangles(file, number, oldest, oldest_of_all, paths)]

    def _dangles(
        self, file: DataFile, number: int, oldest: dict[PartitionKey, int], oldest_of_all: int | None, paths: frozenset[str]
    ) -> bool:
        if file.is_deletion_vector:
            return file.referenced_data_file not in paths
        everywhere = file.content is FileContent.EQUALITY_DELETES and self.table.metadata.specs_by_id[file.spec_id].is_unpartitioned
        first = oldest_of_all if everywhere else oldest.get(partition_key(file.spec_id, file.partition))
        if first is None:
            return True
        return number <= first if file.content is FileContent.EQUALITY_DELETES else number < first

    def _data_files(self) -> tuple[dict[PartitionKey, int], frozenset[str]]:
        """The lowest data sequence number of each partition, and all paths."""
        oldest: dict[PartitionKey, int] = {}
        paths: set[str] = set()
        for file, number in self._live(ManifestContent.DATA):
            key = partition_key(file.spec_id, file.partition)
            oldest[key] = min(number, oldest.get(key, number))
            paths.add(file.file_path)
        return oldest, frozenset(paths)

    def _delete_files(self) -> Iterator[tuple[DataFile, int]]:
        return self._live(ManifestContent.DELETES)

    def _live(self, content: ManifestContent) -> Iterator[tuple[DataFile, int]]:
        metadata, io = self.table.metadata, self.table.io
        for manifest in of_content(manifests_of(io, metadata.head(self.branch)), content):
            columns = read_manifest_columns(io, manifest, spec=metadata.specs_by_id.get(manifest.partition_spec_id))
            for row in columns.live.nonzero()[0].tolist():
                yield columns.data_file(row), max(int(columns.sequence_number[row]), 0)
