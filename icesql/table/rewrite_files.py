"""RewriteFiles: the same rows in other files (compaction). Never changes what a reader sees."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.errors import InvalidArgumentError
from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.produce import CommitValidation, NotAllowedNewDeletesForDataFiles, ProduceSnapshot, RequiredDeleteFiles
from icesql.table.snapshot_update import SnapshotUpdate


class RewriteFiles(SnapshotUpdate):
    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None) -> None:
        super().__init__(operations, base)
        self._added: list[DataFile] = []
        self._added_deletes: list[DataFile] = []
        self._delete_numbers: dict[tuple[str, int | None], int] = {}
        self._removed: list[DataFile] = []
        self._removed_deletes: list[DataFile] = []
        self._data_sequence_number: int | None = None
        self._from_snapshot: int | None = None

    def delete_file(self, file: DataFile) -> RewriteFiles:
        (self._removed_deletes if file.content else self._removed).append(file)
        return self

    def add_file(self, file: DataFile, data_sequence_number: int | None = None) -> RewriteFiles:
        """A data or delete file; a delete file may keep the sequence number of what it replaces."""
        if not file.content:
            self._added.append(file)
            return self
        self._added_deletes.append(file)
        if data_sequence_number is not None:
            self._delete_numbers[file.key] = data_sequence_number
        return self

    def rewrite_files(
        self,
        *,
        delete_data: Iterable[DataFile] = (),
        delete_deletes: Iterable[DataFile] = (),
        add_data: Iterable[DataFile] = (),
        add_deletes: Iterable[DataFile] = (),
    ) -> RewriteFiles:
        for file in (*delete_data, *delete_deletes):
            self.delete_file(file)
        for file in (*add_data, *add_deletes):
            self.add_file(file)
        return self

    def data_sequence_number(self, sequence_number: int) -> RewriteFiles:
        """The number the new data files get, so that equality deletes committed meanwhile still apply to them."""
        self._data_sequence_number = sequence_number
        return self

    def validate_from_snapshot(self, snapshot_id: int | None) -> RewriteFiles:
        self._from_snapshot = snapshot_id
        return self

    def change(self) -> ProduceSnapshot:
        self._check()
        return ProduceSnapshot(
            action=Operation.REPLACE,
            base_snapshot_id=self._from_snapshot,
            add_data_files=tuple(self._added),
            add_delete_files=tuple(self._added_deletes),
            remove_data_files=tuple(self._removed),
            remove_delete_files=tuple(self._removed_deletes),
            data_sequence_number=self._data_sequence_number,
            delete_sequence_numbers=dict(self._delete_numbers),
            fail_missing_deletes=True,
            validations=tuple(self._validations()),
            **self._common(),
        )

    def _check(self) -> None:
        if not self._removed and not self._removed_deletes:
            raise InvalidArgumentError("Files to delete cannot be empty")
        if self._added and not self._removed:
            raise InvalidArgumentError("Data files to add must be empty because there's no data file to be rewritten")
        if self._added_deletes and not self._removed_deletes:
            raise InvalidArgumentError("Delete files to add must be empty because there's no delete file to be rewritten")

    def _validations(self) -> list[CommitValidation]:
        if not self._removed:  # what the new delete files leave out was found out on the base: nothing it had may be undone
            paths = frozenset(file.file_path for file in self._removed_deletes)
            return [] if self._from_snapshot is None else [RequiredDeleteFiles(file_paths=paths)]
        paths = frozenset(file.file_path for file in self._removed)
        ignore = self._data_sequence_number is not None
        return [NotAllowedNewDeletesForDataFiles(file_paths=paths, ignore_equality_deletes=ignore)]
