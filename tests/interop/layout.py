"""The versions of a file-system table as files: which is newest, and how to take one back so that another may be tried in its place."""

from __future__ import annotations

import re
from pathlib import Path

_VERSION = re.compile(r"v(\d+)\.metadata\.json")


def newest_version(location: str) -> int:
    return max(_versions(location))


def newest_metadata_file(location: str) -> str:
    held = _versions(location)
    return str(held[max(held)])


def put_aside(location: str, version: int, name: str) -> str | None:
    """Move what is newer than ``version`` to a folder of that name; the newest such file, ``None`` if there was nothing."""
    folder, aside, moved = Path(location, "metadata"), Path(location, name), None
    for number, path in sorted(_versions(location).items()):
        if number > version:
            aside.mkdir(exist_ok=True)
            moved = str(path.rename(aside / path.name))
            Path(folder, f".{path.name}.crc").unlink(missing_ok=True)
    if moved is not None:
        Path(folder, ".version-hint.text.crc").unlink(missing_ok=True)
        Path(folder, "version-hint.text").write_text(str(version))
    return moved


def _versions(location: str) -> dict[int, Path]:
    found = {}
    for path in Path(location, "metadata").iterdir():
        match = _VERSION.fullmatch(path.name)
        if match is not None:
            found[int(match.group(1))] = path
    return found
