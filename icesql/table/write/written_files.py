"""Files that were written for a commit to come: until it begins, whoever writes them answers for them.

Once it begins the commit does, if the builder owns its files (``SnapshotUpdate.owning_files``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from icesql.io.storage.files import FileIO
from icesql.spec.files import DataFile


@contextmanager
def removed_if_it_fails(io: FileIO) -> Iterator[list[DataFile]]:
    """A list for the files that the block writes. If the block raises, whatever is in it is removed. No commit belongs in the block."""
    written: list[DataFile] = []
    try:
        yield written
    except BaseException:
        remove_files(io, written)
        raise


def remove_files(io: FileIO, files: Iterable[DataFile]) -> None:
    """Remove data and delete files; those that are gone or cannot be removed are left. Several vectors may share one file."""
    locations = sorted({file.file_path for file in files})
    if locations:
        io.delete_many(locations)
