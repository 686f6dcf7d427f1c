"""Writing that survives a power cut: ``fsync`` of the file for its bytes, ``fsync`` of its folder for its name."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Hashable
from typing import Any

from icesql.io.lru import LruCache

_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})  # the file system has no such call
_NOT_OURS_TO_SYNC = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.ESTALE}
)  # a folder that may not be opened, or is gone with all it held
_known: LruCache[Hashable, tuple[int, int, int]] = LruCache(10_000, lambda _: 1)


class UnsyncedError(OSError):
    """A name was given and is visible, but the disk did not confirm it: a power cut may undo it."""


def write_whole(path: str, data: bytes) -> None:
    """Write a new file, and wait until the disk has it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        _sync(descriptor)
    finally:
        os.close(descriptor)


def sync_file(path: str) -> None:
    """Sync a file. Linux reports a failed background write to the next process that opens the file and syncs."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: str) -> None:
    """Make a folder and its parents; ``sync_names`` makes them durable. One that is there is no error."""
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent != folder:
        make_folders(parent)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def sync_names(folder: str) -> None:
    """Make the names in a folder durable, the folder's own name, its parent's, and so on up to the root.

    That a folder exists proves nothing: another writer may just have made it and not synced it yet. So this process syncs every folder
    on the way once, and again when the parent has changed since. Raises UnsyncedError.
    """
    sync_folder(folder)
    synced: list[tuple[str, tuple[int, int, int]]] = []
    child, parent = folder, os.path.dirname(folder)
    while parent != child:
        with contextlib.suppress(OSError):
            seen = _state(child, parent)
            if _known.find(child) == seen:
                break
            synced.append((child, seen))
        sync_folder(parent)
        child, parent = parent, os.path.dirname(parent)
    for name, seen in synced:
        _known.put(name, seen)


def _state(child: str, parent: str) -> tuple[int, int, int]:
    """Changes when the folder is made anew: inode numbers are used again, but the parent's time then moves."""
    status = os.stat(child)
    return status.st_dev, status.st_ino, os.stat(parent).st_mtime_ns


def sync_folder(folder: str) -> None:
    """Raises UnsyncedError when the disk refuses; nothing happens where folders cannot be synced."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            _sync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NOT_OURS_TO_SYNC:
            raise UnsyncedError(error.errno, f"folder cannot be synced: {error.strerror}", folder) from error


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def remove_quietly(*arguments: Any) -> None:
    """Remove a file of our own that nothing refers to; if that fails it stays as an orphan."""
    with contextlib.suppress(OSError):
        os.unlink(*arguments)
