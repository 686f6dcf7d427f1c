"""``~/.icesql``: what icesql keeps for one user. Statements may hold secrets, so no one else may read there."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


def own_folder() -> Path:
    """The folder, made if need be and closed to others. Raises OSError where the home cannot be written."""
    folder = own_folder_path()
    folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    _close(folder, _FOLDER_MODE)
    return folder


def own_folder_path() -> Path:
    return Path.home() / ".icesql"


def own_file(name: str) -> Path:
    """A file in it, made empty if need be and closed to others. Raises OSError."""
    path = own_folder() / name
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, _FILE_MODE))
    _close(path, _FILE_MODE)
    return path


def _close(path: Path, mode: int) -> None:
    """Take the rights of group and others away; what the owner has stays as it is."""
    held = path.stat().st_mode & 0o777
    if held & ~mode:
        path.chmod(held & mode)
