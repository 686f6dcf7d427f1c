"""UpdateStatistics: attach Puffin statistics and partition statistics files to snapshots, or detach them."""

from __future__ import annotations

from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import PartitionStatisticsFile, StatisticsFile
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion


class UpdateStatistics(MetadataChange):
    """A snapshot has at most one file of each kind; setting one replaces it."""

    def __init__(self, operations: TableOperations, base: TableVersion | None = None) -> None:
        self._operations, self._base = operations, base
        self._updates: list[u.Update] = []

    def set_statistics(self, file: StatisticsFile) -> UpdateStatistics:
        self._updates.append(u.SetStatistics(file))
        return self

    def remove_statistics(self, snapshot_id: int) -> UpdateStatistics:
        self._updates.append(u.RemoveStatistics(snapshot_id))
        return self

    def set_partition_statistics(self, file: PartitionStatisticsFile) -> UpdateStatistics:
        self._updates.append(u.SetPartitionStatistics(file))
        return self

    def remove_partition_statistics(self, snapshot_id: int) -> UpdateStatistics:
        self._updates.append(u.RemovePartitionStatistics(snapshot_id))
        return self

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        return ChangeSet(tuple(self._updates), requirements_for(metadata, self._updates) if self._updates else ())

    def commit(self) -> TableVersion:
        return commit(self._operations, [self], base=self._base)
