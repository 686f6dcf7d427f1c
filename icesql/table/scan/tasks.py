"""The tasks of a scan, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from icesql.expr.tree import TRUE, Expression
from icesql.spec.files import DataFile, FileContent


class ScannedFile(Protocol):
    """What ``PlannedFile`` and ``FileScanTask`` have in common: a data file and the deletes that apply to it."""

    @property
    def file_path(self) -> str: ...
    @property
    def file_format(self) -> str: ...
    @property
    def file_size_in_bytes(self) -> int: ...
    @property
    def spec_id(self) -> int: ...
    @property
    def partition(self) -> tuple[object, ...]: ...
    @property
    def first_row_id(self) -> int | None: ...
    @property
    def data_sequence_number(self) -> int: ...
    @property
    def file_sequence_number(self) -> int | None: ...
    @property
    def delete_files(self) -> tuple[DataFile, ...]: ...


class PlannedFile(NamedTuple):
    """A planned data file without its metrics: made from columns, many times faster than a ``FileScanTask``."""

    file_path: str
    file_format: str
    file_size_in_bytes: int
    spec_id: int
    partition: tuple[object, ...]
    first_row_id: int | None
    data_sequence_number: int
    file_sequence_number: int | None
    delete_files: tuple[DataFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScanTask:
    """One data file, the delete files that apply to it, and the part of the filter that its rows must still be tested with.

    ``residual`` is bound to the scan's schema. ``start`` and ``length``: the bytes to read (whole row groups that start there).
    """

    data_file: DataFile
    delete_files: tuple[DataFile, ...] = ()
    residual: Expression = TRUE
    spec_id: int = 0
    data_sequence_number: int = 0
    file_sequence_number: int | None = None
    start: int = 0
    length: int | None = None

    @property
    def file_path(self) -> str:
        return self.data_file.file_path

    @property
    def file_format(self) -> str:
        return self.data_file.file_format

    @property
    def file_size_in_bytes(self) -> int:
        """The size of the whole file."""
        return self.data_file.file_size_in_bytes

    @property
    def partition(self) -> tuple[object, ...]:
        return self.data_file.partition

    @property
    def first_row_id(self) -> int | None:
        return self.data_file.first_row_id

    @property
    def is_whole_file(self) -> bool:
        return self.start == 0 and (self.length is None or self.length >= self.data_file.file_size_in_bytes)

    @property
    def size_bytes(self) -> int:
        """The bytes this task reads of the data file, and of all its delete files."""
        own = self.data_file.file_size_in_bytes if self.length is None else self.length
        return own + sum(delete_size_bytes(file) for file in self.delete_files)

    @property
    def files_count(self) -> int:
        return 1 + len(self.delete_files)


def delete_size_bytes(file: DataFile) -> int:
    """The bytes to read of a delete file; of a deletion vector only its blob."""
    if file.content is FileContent.POSITION_DELETES and file.content_size_in_bytes is not None:
        return file.content_size_in_bytes
    return file.file_size_in_bytes


@dataclass(frozen=True, slots=True)
class CombinedScanTask:
    """Tasks that one worker reads in turn."""

    tasks: tuple[FileScanTask, ...]

    @property
    def size_bytes(self) -> int:
        return sum(task.size_bytes for task in self.tasks)
