"""AppendFiles: add data files. ``fast=True`` never merges manifests."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.known_files import one_spelling
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.produce import CommitValidation, NotAllowedKnownDataFiles, ProduceSnapshot
from icesql.table.snapshot_update import SnapshotUpdate


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
        """The summary will say nothing of partitions, as the reference's does where it takes over manifests whole."""
        self._count_partitions = False
        return self

    def validate_files_are_new(self) -> AppendFiles:
        """None of the files may be in the table already, nor come into it before this commit."""
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
