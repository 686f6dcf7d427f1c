"""Where bytes live: one small interface over local files and any Hadoop-style URI.

A *location* is what metadata holds: an absolute local path (``/a b/t``), a ``file:`` URI, or ``s3://``, ``hdfs://`` ... . A location is
never percent-decoded: ``file:/a%20b`` names the folder ``a%20b``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class FileInfo:
    location: str
    size_in_bytes: int
    modified_ms: int


class FileIO(Protocol):
    """File access for tables. Implementations are picklable, thread safe, and cheap to make."""

    def read(self, location: str) -> bytes:
        """Whole content. Raises NotFoundError."""

    def open_input(self, location: str) -> BinaryIO:
        """A seekable binary stream (a ``pyarrow.NativeFile``). Raises NotFoundError."""

    def open_output(self, location: str) -> BinaryIO:
        """A binary stream to a new file; parents are made. The file is whole once closed, and durable where the store can say so."""

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        """Write a whole file durably; parents are made.

        With ``overwrite=False`` raises AlreadyExistsError if it is there, atomically where the store can.
        """

    def creates_atomically(self, folder: str) -> bool:
        """Whether ``write`` with ``overwrite=False`` lets one of several writers win, in that folder's store."""

    def size(self, location: str) -> int:
        """Length in bytes. Raises NotFoundError."""

    def exists(self, location: str) -> bool: ...

    def delete(self, location: str) -> None:
        """Remove one file; a missing file is no error."""

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        """Remove files in parallel; returns (location, reason) of those that could not be removed."""

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        """Remove a file if its bytes are the ones meant; whether it was removed. A folder put in the place of this one loses nothing,
        where the store can hold a folder open."""

    def make_folder(self, location: str) -> None:
        """Make an empty folder, parents included; one that is there is no error. Nothing happens on stores without folders."""

    def delete_folder(self, location: str) -> None:
        """Remove a folder and all below it; a missing one is no error."""

    def move_folder(self, source: str, target: str) -> None:
        """Rename a folder with all it holds, atomically, to a name that is free. Raises NotFoundError."""

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        """All files below a folder, or only those in it; nothing if it does not exist. Locations keep the form of ``prefix``."""

    def list_folders(self, location: str) -> list[str]:
        """Names of the direct sub-folders."""

    def rename_without_overwrite(self, source: str, target: str) -> None:
        """Atomic move that raises AlreadyExistsError if another file is there. Raises UnsupportedError on stores without it.

        Any other error leaves the outcome open, NotFoundError (no source) too: a store may carry the move out and lose the answer.
        """


def discard(stream: BinaryIO) -> None:
    """Close an output whose file is not wanted: where the store can, nothing is made of what was written."""
    getattr(stream, "abandon", stream.close)()
