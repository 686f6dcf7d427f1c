"""ReplacePartitions: the added files replace everything in their partitions (dynamic overwrite)."""

from __future__ import annotations

from icesql.errors import InvalidArgumentError
from icesql.expr.tree import FALSE, TRUE
from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.snapshot.produce import CommitValidation, NotAllowedAddedDataFiles, NotAllowedAddedDeleteFiles, ProduceSnapshot
from icesql.table.snapshot.snapshot_update import SnapshotUpdate

REPLACE_PARTITIONS = "replace-partitions"


class ReplacePartitions(SnapshotUpdate):
    """In an unpartitioned table the whole table is replaced. All files must be of one spec."""

    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None) -> None:
        super().__init__(operations, base)
        self._added: list[DataFile] = []
        self._from_snapshot: int | None = None
        self._no_new_data = self._no_new_deletes = self._append_only = False

    def add_file(self, file: DataFile) -> ReplacePartitions:
        self._added.append(file)
        return self

    def validate_append_only(self) -> ReplacePartitions:
        """Fail if any partition already holds data."""
        self._append_only = True
        return self

    def validate_from_snapshot(self, snapshot_id: int | None) -> ReplacePartitions:
        self._from_snapshot = snapshot_id
        return self

    def validate_no_conflicting_data(self) -> ReplacePartitions:
        self._no_new_data = True
        return self

    def validate_no_conflicting_deletes(self) -> ReplacePartitions:
        self._no_new_deletes = True
        return self

    def change(self) -> ProduceSnapshot:
        replaces_all = self._replaces_all()
        partitions = frozenset() if replaces_all else frozenset((file.spec_id, file.partition) for file in self._added)
        return ProduceSnapshot(
            action=Operation.OVERWRITE,
            base_snapshot_id=self._from_snapshot,
            add_data_files=tuple(self._added),
            drop_partitions=partitions,
            delete_row_filter=TRUE if replaces_all else FALSE,
            fail_any_delete=self._append_only,
            validations=tuple(self._validations(None if replaces_all else partitions)),
            **{**self._common(), "summary": {REPLACE_PARTITIONS: "true", **self._summary}},
        )

    def _replaces_all(self) -> bool:
        spec_ids = {file.spec_id for file in self._added}
        if len(spec_ids) > 1:
            raise InvalidArgumentError(f"Cannot replace partitions: files of different partition specs were added: {sorted(spec_ids)}")
        specs = self.base_metadata.specs_by_id
        return any(spec_id in specs and specs[spec_id].is_unpartitioned for spec_id in spec_ids)

    def _validations(self, partitions: frozenset[tuple[int, tuple[object, ...]]] | None) -> list[CommitValidation]:
        validations: list[CommitValidation] = []
        if self._no_new_data:
            validations.append(NotAllowedAddedDataFiles(partitions=partitions))
        if self._no_new_deletes:
            validations.append(NotAllowedAddedDeleteFiles(partitions=partitions, and_deleted_data_files=True))
        return validations
