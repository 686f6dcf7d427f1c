"""What a scan asks a reader to do, as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from icesql.expr.tree import TRUE, Expression
from icesql.spec.files import DataFile, FileContent


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
    def is_whole_file(self) -> bool:
        return self.start == 0 and (self.length is None or self.length >= self.data_file.file_size_in_bytes)

    @property
    def size_bytes(self) -> int:
        """Bytes of the data file this task reads, and of all delete files it has to read."""
        own = self.data_file.file_size_in_bytes if self.length is None else self.length
        return own + sum(delete_size_bytes(file) for file in self.delete_files)

    @property
    def files_count(self) -> int:
        return 1 + len(self.delete_files)


def delete_size_bytes(file: DataFile) -> int:
    """Bytes to read of a delete file: of a deletion vector its blob alone."""
    if file.content is FileContent.POSITION_DELETES and file.content_size_in_bytes is not None:
        return file.content_size_in_bytes
    return file.file_size_in_bytes


@dataclass(frozen=True, slots=True)
class CombinedScanTask:
    """Tasks that one worker reads one after another."""

    tasks: tuple[FileScanTask, ...]

    @property
    def size_bytes(self) -> int:
        return sum(task.size_bytes for task in self.tasks)


def total_size_bytes(tasks: Sequence[FileScanTask]) -> int:
    return sum(task.size_bytes for task in tasks)
