"""Files written for a later commit: until the commit begins, their writer removes them on failure.

From then on the commit does, if the builder owns its files (``SnapshotUpdate.owning_files``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile


@contextmanager
def removed_if_it_fails(io: FileIO) -> Iterator[list[DataFile]]:
    """A list for the files that the block writes. If the block raises, all files in it are removed. The block must not commit."""
    written: list[DataFile] = []
    try:
        yield written
    except BaseException:
        remove_files(io, written)
        raise


def remove_files(io: FileIO, files: Iterable[DataFile]) -> None:
    """Remove data and delete files; files that are gone or cannot be removed are skipped. Several vectors may share one file."""
    locations = sorted({file.file_path for file in files})
    if locations:
        io.delete_many(locations)
