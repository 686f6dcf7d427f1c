"""OverwriteFiles: replace the rows of a filter, or listed files, by new files (copy-on-write, INSERT OVERWRITE with a filter)."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.expr.tree import FALSE, TRUE, AlwaysFalse, Expression
from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.snapshot.produce import (
    CommitValidation,
    NotAllowedAddedDataFiles,
    NotAllowedAddedDeleteFiles,
    NotAllowedNewDeletesForDataFiles,
    ProduceSnapshot,
)
from icesql.table.snapshot.snapshot_update import SnapshotUpdate


class OverwriteFiles(SnapshotUpdate):
    """The snapshot's operation is ``append`` if files are only added, ``delete`` if they are only removed, else ``overwrite``."""

    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None) -> None:
        super().__init__(operations, base)
        self._added: list[DataFile] = []
        self._removed: list[DataFile] = []
        self._removed_deletes: list[DataFile] = []
        self._filter: Expression = FALSE
        self._conflict_filter: Expression | None = None
        self._from_snapshot: int | None = None
        self._case_sensitive = True
        self._match_filter = self._no_new_data = self._no_new_deletes = False

    def overwrite_by_row_filter(self, expression: Expression) -> OverwriteFiles:
        self._filter = expression
        return self

    def add_file(self, file: DataFile) -> OverwriteFiles:
        self._added.append(file)
        return self

    def delete_file(self, file: DataFile) -> OverwriteFiles:
        self._removed.append(file)
        return self

    def delete_files(self, data_files: Iterable[DataFile], delete_files: Iterable[DataFile]) -> OverwriteFiles:
        self._removed.extend(data_files)
        self._removed_deletes.extend(delete_files)
        return self

    def validate_added_files_match_overwrite_filter(self) -> OverwriteFiles:
        self._match_filter = True
        return self

    def validate_from_snapshot(self, snapshot_id: int | None) -> OverwriteFiles:
        """The snapshot the writer read: validations look at commits after it."""
        self._from_snapshot = snapshot_id
        return self

    def case_sensitive(self, is_case_sensitive: bool) -> OverwriteFiles:
        self._case_sensitive = is_case_sensitive
        return self

    def conflict_detection_filter(self, expression: Expression) -> OverwriteFiles:
        self._conflict_filter = expression
        return self

    def validate_no_conflicting_data(self) -> OverwriteFiles:
        self._no_new_data = True
        return self

    def validate_no_conflicting_deletes(self) -> OverwriteFiles:
        self._no_new_deletes = True
        return self

    def change(self) -> ProduceSnapshot:
        return ProduceSnapshot(
            action=self._action(),
            base_snapshot_id=self._from_snapshot,
            add_data_files=tuple(self._added),
            remove_data_files=tuple(self._removed),
            remove_delete_files=tuple(self._removed_deletes),
            delete_row_filter=self._filter,
            case_sensitive=self._case_sensitive,
            fail_missing_deletes=self._no_new_data or self._no_new_deletes,
            added_files_match_filter=self._filter if self._match_filter else None,
            validations=tuple(self._validations()),
            **self._common(),
        )

    def _action(self) -> Operation:
        removes = bool(self._removed) or not isinstance(self._filter, AlwaysFalse)
        if removes and not self._added:
            return Operation.DELETE
        return Operation.OVERWRITE if removes or not self._added else Operation.APPEND

    def _validations(self) -> list[CommitValidation]:
        validations: list[CommitValidation] = []
        if self._no_new_data:
            validations.append(NotAllowedAddedDataFiles(filter=self._data_conflict_filter()))
        if self._no_new_deletes:
            if not isinstance(self._filter, AlwaysFalse):
                conflict = self._filter if self._conflict_filter is None else self._conflict_filter
                validations.append(NotAllowedAddedDeleteFiles(filter=conflict, and_deleted_data_files=True))
            if self._removed:
                paths = frozenset(file.file_path for file in self._removed)
                conflict = TRUE if self._conflict_filter is None else self._conflict_filter
                validations.append(NotAllowedNewDeletesForDataFiles(file_paths=paths, filter=conflict))
        return validations

    def _data_conflict_filter(self) -> Expression:
        if self._conflict_filter is not None:
            return self._conflict_filter
        if not isinstance(self._filter, AlwaysFalse) and not self._removed:
            return self._filter
        return TRUE
