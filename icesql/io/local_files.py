"""Files on this machine with plain system calls: durable, and atomic where the kernel can be."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from icesql.errors import AlreadyExistsError
from icesql.io.files import FileInfo
from icesql.io.locations import delete_each, local_path, missing
from icesql.io.regular_files import open_regular


class LocalFileIO:
    """Files on this machine. ``write`` is atomic and durable: a reader sees the whole file or none, also after a power cut."""

    def read(self, location: str) -> bytes:
        try:
            with open(open_regular(local_path(location), location), "rb") as stream:  # noqa: PTH123 - of a descriptor
                return stream.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise missing(location) from None

    def open_input(self, location: str) -> BinaryIO:
        try:
            path = local_path(location)
            os.close(open_regular(path, location))
            return cast(BinaryIO, pa.OSFile(path, "rb"))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise missing(location) from None

    def open_output(self, location: str) -> BinaryIO:
        path = Path(local_path(location))
        _make_parent(path)
        return cast(BinaryIO, pa.OSFile(str(path), "wb"))

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        path = Path(local_path(location))
        _make_parent(path)
        temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}.tmp")
        try:
            with open(temporary, "xb") as out:  # noqa: PTH123 - a plain descriptor is needed for fsync
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            if overwrite:
                os.replace(temporary, path)
            else:
                _link_new(temporary, path, location)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)

    def size(self, location: str) -> int:
        try:
            return Path(local_path(location)).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            raise missing(location) from None

    def exists(self, location: str) -> bool:
        return Path(local_path(location)).is_file()

    def delete(self, location: str) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            Path(local_path(location)).unlink()

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        return delete_each(self, locations)

    def make_folder(self, location: str) -> None:
        Path(local_path(location)).mkdir(parents=True, exist_ok=True)

    def delete_folder(self, location: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(local_path(location))

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        root, shown = local_path(prefix).rstrip("/") or "/", prefix.rstrip("/")
        pending = [""]
        while pending:
            below = pending.pop()
            try:
                entries = sorted(os.scandir(root + below), key=lambda entry: entry.name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            for entry in entries:
                name = f"{below}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.extend([name] if recursive else [])
                    continue
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat()
                    yield FileInfo(shown + name, status.st_size, status.st_mtime_ns // 1_000_000)

    def list_folders(self, location: str) -> list[str]:
        try:
            return sorted(entry.name for entry in os.scandir(local_path(location)) if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def rename_without_overwrite(self, source: str, target: str) -> None:
        source_path, target_path = Path(local_path(source)), Path(local_path(target))
        _make_parent(target_path)
        try:
            _link_new(source_path, target_path, target)
        except FileNotFoundError:
            raise missing(source) from None
        source_path.unlink(missing_ok=True)
        _sync_folder(target_path.parent)


def _make_parent(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _link_new(temporary: Path, path: Path, location: str) -> None:
    """Give the file its name only if that name is free: ``link`` fails where ``rename`` would overwrite."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise AlreadyExistsError(f"Cannot create file: it already exists: {location}", location=location) from None
    except PermissionError:  # file systems without hard links
        _copy_new(temporary, path, location)


def _copy_new(temporary: Path, path: Path, location: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        raise AlreadyExistsError(f"Cannot create file: it already exists: {location}", location=location) from None
    os.close(descriptor)
    os.replace(temporary, path)


def _sync_folder(folder: Path) -> None:
    """Make a new name durable; not every file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
