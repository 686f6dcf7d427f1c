"""AppendFiles: add data files. ``fast=True`` never merges manifests."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.snapshot.known_files import one_spelling
from icesql.table.snapshot.produce import CommitValidation, NotAllowedKnownDataFiles, ProduceSnapshot
from icesql.table.snapshot.snapshot_update import SnapshotUpdate


class AppendFiles(SnapshotUpdate):
    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None, *, fast: bool = False) -> None:
        super().__init__(operations, base)
        self._fast = fast
        self._files: list[DataFile] = []
        self._count_partitions, self._only_new = True, False

    def append_file(self, file: DataFile) -> AppendFiles:
        self._files.append(file)
        return self

    def append_files(self, files: Iterable[DataFile]) -> AppendFiles:
        self._files.extend(files)
        return self

    def without_partition_counts(self) -> AppendFiles:
        """Leave partition counts out of the summary, as the reference does where it adds whole manifests."""
        self._count_partitions = False
        return self

    def validate_files_are_new(self) -> AppendFiles:
        """Fail if the table has one of the files already, or another commit adds one before this one."""
        self._only_new = True
        return self

    def change(self) -> ProduceSnapshot:
        return ProduceSnapshot(
            action=Operation.APPEND,
            add_data_files=tuple(self._files),
            merge_manifests=not self._fast,
            count_partitions=self._count_partitions,
            validations=self._validations(),
            **self._common(),
        )

    def _validations(self) -> tuple[CommitValidation, ...]:
        if not self._only_new:
            return ()
        return (NotAllowedKnownDataFiles(file_paths=frozenset(one_spelling(file.file_path) for file in self._files)),)
