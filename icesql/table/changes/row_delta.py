"""RowDelta: new data files and delete files together (merge-on-read)."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.errors import ValidationError
from icesql.expr.tree import TRUE, Expression
from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.scan.delete_matching import referenced_path
from icesql.table.snapshot.produce import (
    CommitValidation,
    NotAllowedAddedDataFiles,
    NotAllowedAddedDeleteFiles,
    NotAllowedNewDeletesForDataFiles,
    ProduceSnapshot,
    RequiredDataFiles,
)
from icesql.table.snapshot.snapshot_update import SnapshotUpdate


class RowDelta(SnapshotUpdate):
    """The snapshot's operation is ``append`` if only rows are added, ``delete`` if only deletes are, else ``overwrite``."""

    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None) -> None:
        super().__init__(operations, base)
        self._rows: list[DataFile] = []
        self._deletes: list[DataFile] = []
        self._removed_rows: list[DataFile] = []
        self._removed_deletes: list[DataFile] = []
        self._referenced: set[str] = set()
        self._conflict_filter: Expression = TRUE
        self._from_snapshot: int | None = None
        self._case_sensitive = True
        self._deleted_files = self._no_new_data = self._no_new_deletes = False

    def add_rows(self, file: DataFile) -> RowDelta:
        self._rows.append(file)
        return self

    def add_deletes(self, file: DataFile) -> RowDelta:
        self._deletes.append(file)
        return self

    def remove_rows(self, file: DataFile) -> RowDelta:
        self._removed_rows.append(file)
        return self

    def remove_deletes(self, file: DataFile) -> RowDelta:
        """Remove a delete file that the added ones supersede."""
        self._removed_deletes.append(file)
        return self

    def validate_from_snapshot(self, snapshot_id: int | None) -> RowDelta:
        self._from_snapshot = snapshot_id
        return self

    def case_sensitive(self, is_case_sensitive: bool) -> RowDelta:
        self._case_sensitive = is_case_sensitive
        return self

    def validate_data_files_exist(self, paths: Iterable[str]) -> RowDelta:
        """Fail if a data file that the added deletes reference was rewritten or overwritten since the base."""
        self._referenced.update(paths)
        return self

    def validate_deleted_files(self) -> RowDelta:
        """With ``validate_data_files_exist``: fail for data files removed by deletes, too."""
        self._deleted_files = True
        return self

    def conflict_detection_filter(self, expression: Expression) -> RowDelta:
        self._conflict_filter = expression
        return self

    def validate_no_conflicting_data_files(self) -> RowDelta:
        self._no_new_data = True
        return self

    def validate_no_conflicting_delete_files(self) -> RowDelta:
        self._no_new_deletes = True
        return self

    def change(self) -> ProduceSnapshot:
        self._check_references()
        return ProduceSnapshot(
            action=self._action(),
            base_snapshot_id=self._from_snapshot,
            add_data_files=tuple(self._rows),
            add_delete_files=tuple(self._deletes),
            remove_data_files=tuple(self._removed_rows),
            remove_delete_files=tuple(self._removed_deletes),
            case_sensitive=self._case_sensitive,
            fail_missing_deletes=self._deleted_files,
            validations=tuple(self._validations()),
            **self._common(),
        )

    def _check_references(self) -> None:
        referenced = self._referenced | {path for file in self._deletes if (path := referenced_path(file)) is not None}
        both = sorted(file.file_path for file in self._removed_rows if file.file_path in referenced)
        if both:
            raise ValidationError(f"Cannot delete data files {both} that are referenced by new delete files", file_paths=both)

    def _action(self) -> Operation:
        adds, deletes = bool(self._rows), bool(self._deletes)
        removes = bool(self._removed_rows)
        if adds and not deletes and not removes and not self._removed_deletes:
            return Operation.APPEND
        if deletes and not adds:
            return Operation.DELETE
        return Operation.OVERWRITE

    def _validations(self) -> list[CommitValidation]:
        validations: list[CommitValidation] = []
        if self._referenced:
            allowed = frozenset() if self._deleted_files else frozenset({Operation.DELETE})
            validations.append(
                RequiredDataFiles(file_paths=frozenset(self._referenced), filter=self._conflict_filter, allowed_remove_operations=allowed)
            )
        if self._no_new_data:
            validations.append(NotAllowedAddedDataFiles(filter=self._conflict_filter))
        if self._no_new_deletes:
            if self._removed_rows:
                paths = frozenset(file.file_path for file in self._removed_rows)
                validations.append(NotAllowedNewDeletesForDataFiles(file_paths=paths, filter=self._conflict_filter))
            validations.append(NotAllowedAddedDeleteFiles(filter=self._conflict_filter))
        return validations
