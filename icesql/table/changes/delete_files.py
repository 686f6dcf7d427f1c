"""DeleteFiles: remove data files by file, by path, or all whose rows all match a filter."""

from __future__ import annotations

from icesql.expr.tree import FALSE, Expression, or_
from icesql.spec.files import DataFile
from icesql.spec.snapshots import Operation
from icesql.table.manifests.filter import PATH_ONLY_SPEC_ID
from icesql.table.operations import TableOperations, TableVersion
from icesql.table.snapshot.produce import ProduceSnapshot
from icesql.table.snapshot.snapshot_update import SnapshotUpdate


def path_only(path: str) -> DataFile:
    """A data file of which only the path is known. Every manifest that may hold it is searched."""
    return DataFile(file_path=path, file_format="", spec_id=PATH_ONLY_SPEC_ID, record_count=0, file_size_in_bytes=0)


class DeleteFiles(SnapshotUpdate):
    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None) -> None:
        super().__init__(operations, base)
        self._files: list[DataFile] = []
        self._filter: Expression = FALSE
        self._case_sensitive, self._must_exist = True, False

    def delete_file(self, file: DataFile | str) -> DeleteFiles:
        self._files.append(path_only(file) if isinstance(file, str) else file)
        return self

    def delete_from_row_filter(self, expression: Expression) -> DeleteFiles:
        """Remove every file all of whose rows match. A file of which only some rows may match fails the commit (ValidationError)."""
        self._filter = or_(self._filter, expression)
        return self

    def case_sensitive(self, is_case_sensitive: bool) -> DeleteFiles:
        self._case_sensitive = is_case_sensitive
        return self

    def validate_files_exist(self) -> DeleteFiles:
        """Fail unless every listed file is in the table at commit time."""
        self._must_exist = True
        return self

    def change(self) -> ProduceSnapshot:
        return ProduceSnapshot(
            action=Operation.DELETE,
            remove_data_files=tuple(self._files),
            delete_row_filter=self._filter,
            case_sensitive=self._case_sensitive,
            fail_missing_deletes=self._must_exist,
            **self._common(),
        )
