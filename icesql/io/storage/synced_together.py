"""Many new files, one wait for the disk: what is written is synced when the caller asks, all files at the same time.

Waiting for each file on its own costs a journal commit of the file system a file; together they share a few. For files that nobody refers
to before ``sync`` has returned.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import BinaryIO

from icesql.io.storage.durable import make_folders, remove_quietly, sync_file, sync_names
from icesql.io.storage.files import FileInfo, FileIO
from icesql.io.storage.locations import local_path, scheme_of

_THREADS = 16


class SyncedTogether:
    """A FileIO over another. New local files are whole, but not durable before ``sync``; all else is the other's. Thread safe."""

    def __init__(self, io: FileIO) -> None:
        self._io = io
        self._lock = threading.Lock()
        self._unsynced: list[str] = []

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        if scheme_of(location) != "file" or not self._written(local_path(location), data):
            self._io.write(location, data, overwrite=overwrite)

    def _written(self, path: str, data: bytes) -> bool:
        """False where a file is in the way."""
        make_folders(os.path.dirname(path))
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            remove_quietly(path)
            raise
        finally:
            os.close(descriptor)
        with self._lock:
            self._unsynced.append(path)
        return True

    def sync(self) -> None:
        """Wait until the disk has every file written so far, and its name. Raises OSError where it does not confirm that."""
        with self._lock:
            paths, self._unsynced = self._unsynced, []
        if not paths:
            return
        for _ in _pool().map(_sync_if_there, paths):
            pass
        for folder in {os.path.dirname(path) for path in paths}:
            sync_names(folder)

    # -- the other's -----------------------------------------------------------------------------------------------
    def read(self, location: str) -> bytes:
        return self._io.read(location)

    def open_input(self, location: str) -> BinaryIO:
        return self._io.open_input(location)

    def open_output(self, location: str) -> BinaryIO:
        return self._io.open_output(location)

    def creates_atomically(self, folder: str) -> bool:
        return self._io.creates_atomically(folder)

    def size(self, location: str) -> int:
        return self._io.size(location)

    def exists(self, location: str) -> bool:
        return self._io.exists(location)

    def delete(self, location: str) -> None:
        self._io.delete(location)

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        return self._io.delete_many(locations)

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        return self._io.delete_if(location, is_the_one)

    def make_folder(self, location: str) -> None:
        self._io.make_folder(location)

    def delete_folder(self, location: str) -> None:
        self._io.delete_folder(location)

    def move_folder(self, source: str, target: str) -> None:
        self._io.move_folder(source, target)

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        return self._io.list_files(prefix, recursive=recursive)

    def list_folders(self, location: str) -> list[str]:
        return self._io.list_folders(location)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        self._io.rename_without_overwrite(source, target)


def _sync_if_there(path: str) -> None:
    """One that was removed since, as of a change that failed, needs no sync."""
    with contextlib.suppress(FileNotFoundError):
        sync_file(path)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, "icesql-sync")
