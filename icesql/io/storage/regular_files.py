"""Opening local files that others named: regular ones only. Opening a FIFO waits for a writer, and a device may have no end."""

from __future__ import annotations

import os
import stat

from icesql.errors import CorruptMetadataError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str, location: str) -> int:
    """A descriptor of the file, without waiting. Raises FileNotFoundError and NotADirectoryError; IsADirectoryError for a folder, and
    CorruptMetadataError for what is neither file nor folder."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError | PermissionError):  # a socket, a device that is not there
            _check(os.stat(path).st_mode, path, location)
        raise
    try:
        _check(os.fstat(descriptor).st_mode, path, location)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check(mode: int, path: str, location: str) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(path)
    if not stat.S_ISREG(mode):
        raise CorruptMetadataError(f"Cannot open file: not a regular file: {location}", location=location)
