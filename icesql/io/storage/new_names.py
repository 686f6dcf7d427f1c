"""Gives a file a name that must be free: how catalogs without a database commit.

A server may carry out ``link`` and lose the answer; asked again it answers that the name is taken (NFS). So "taken" counts only once the
file under the name is known not to be ours.
"""

from __future__ import annotations

import contextlib
import errno
import os
import uuid

from icesql.errors import AlreadyExistsError
from icesql.io.storage.durable import remove_quietly

_NO_LINKS = frozenset({errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_CLAIM = ".claim"
CLAIM_PATIENCE_S = 10
"""How long a name that is claimed but empty is left to its writer. Only politeness hangs on it: see ``_claim``."""


def give_name(source: str, target: str, location: str) -> None:
    """Afterwards ``target`` holds what ``source`` held, whole; ``source`` may be gone or not.

    Raises AlreadyExistsError only if the name is another file's. Any other error says nothing about the outcome.
    """
    try:
        os.link(source, target)
    except FileExistsError:
        if os.stat(target).st_size == 0 and os.stat(source).st_size:
            _claim(source, target, location)
        elif not _same(source, target):
            raise _taken(location) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with contextlib.suppress(FileNotFoundError):
            if _same(source, target):
                return
        _claim(source, target, location)


def came_true(source: str, target: str, data: bytes) -> bool:
    """After a link or rename that failed with an error: whether it took place all the same.

    The source is removed first: without it an operation still under way can no longer happen, so that ``False`` stays true.
    Raises OSError if nobody can tell.
    """
    remove_for_sure(source)
    try:
        return os.stat(target).st_size == len(data) and read_whole(target) == data
    except (FileNotFoundError, NotADirectoryError):
        return False


def read_whole(path: str, folder: int | None = None) -> bytes:
    """The bytes of a file; ``folder`` is the descriptor of the folder that a bare name is looked up in."""
    with open(os.open(path, os.O_RDONLY, dir_fd=folder), "rb") as file:  # noqa: PTH123 - of a descriptor
        return file.read()


def _same(source: str, target: str) -> bool:
    """Whether the two names are one file: by inode, or by link count and bytes where inode numbers are made up as one goes (SMB)."""
    ours, theirs = os.stat(source), os.stat(target)
    if (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino):
        return True
    return ours.st_nlink > 1 and ours.st_size == theirs.st_size and read_whole(source) == read_whole(target)


def _taken(location: str) -> AlreadyExistsError:
    return AlreadyExistsError(f"Cannot create file: it already exists: {location}", location=location)


# -- without hard links ------------------------------------------------------------------------------------------------
def _claim(source: str, target: str, location: str) -> None:
    """For file systems without hard links: make the name, empty, if it is free; then rename a whole file over it.

    A writer that dies between the two leaves an empty file, which readers pass over. The next writer takes the name over after removing
    every file that was waiting to be renamed over it: a writer that was only slow then finds its file gone and has failed, or had
    renamed before, and the name is no longer empty. Which of the two is decided by one removal or one rename, never by a clock.
    """
    folder, name = os.path.split(target)
    claim = os.path.join(folder, f".{name}.{uuid.uuid4().hex}{_CLAIM}")
    data = read_whole(source)
    os.rename(source, claim)
    try:
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            _take_over(claim, target, location)
        os.replace(claim, target)
    except OSError as error:
        if came_true(claim, target, data):
            return
        if isinstance(error, FileNotFoundError) and os.path.isdir(folder):
            raise _taken(location) from error
        raise
    finally:
        remove_quietly(claim)


def _take_over(claim: str, target: str, location: str) -> None:
    """Make sure that nobody else can still rename a file over the empty ``target``. Raises AlreadyExistsError if it is not ours to take."""
    existing = os.stat(target)
    if existing.st_size or abs(os.stat(claim).st_mtime - existing.st_mtime) < CLAIM_PATIENCE_S:
        raise _taken(location)
    folder, name = os.path.split(target)
    for entry in os.listdir(folder):
        if entry.startswith(f".{name}.") and entry.endswith(_CLAIM) and entry != os.path.basename(claim):
            remove_for_sure(os.path.join(folder, entry))
    if os.stat(target).st_size:
        raise _taken(location)


def remove_for_sure(path: str) -> None:
    """Afterwards no one can link or rename the file. Raises OSError if that is not certain."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
