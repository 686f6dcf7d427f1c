"""Files on this machine with plain system calls: durable, and atomic where the kernel can be."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, cast

from icesql.io.storage.durable import make_folders, remove_quietly, sync_folder, sync_names, write_whole
from icesql.io.storage.files import FileInfo
from icesql.io.storage.locations import delete_each, local_path, missing
from icesql.io.storage.new_names import came_true, give_name, read_whole
from icesql.io.storage.regular_files import open_regular


class LocalFileIO:
    """Files on this machine. ``write`` is atomic: a reader sees the whole file or none, also after a power cut. What ``write`` and closed
    outputs made is durable, with the folders on the way to it. After an error of ``write`` the file may be there or not."""

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
            import pyarrow as pa  # slow to import, and metadata files are read without it

            return cast(BinaryIO, pa.OSFile(path, "rb"))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise missing(location) from None

    def open_output(self, location: str) -> BinaryIO:
        from icesql.io.storage.durable_output import DurableOutput

        path = local_path(location)
        make_folders(os.path.dirname(path))
        return cast(BinaryIO, DurableOutput(path, "wb"))

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        path = local_path(location)
        folder, name = os.path.split(path)
        make_folders(folder)
        temporary = os.path.join(folder, f".{name[:100]}.{uuid.uuid4().hex}.tmp")
        try:
            write_whole(temporary, data)
            if overwrite:
                os.replace(temporary, path)
            else:
                give_name(temporary, path, location)
        except OSError:
            if not came_true(temporary, path, data):
                raise
        finally:
            remove_quietly(temporary)
        sync_names(folder)

    def creates_atomically(self, folder: str) -> bool:
        return True

    def size(self, location: str) -> int:
        try:
            return os.stat(local_path(location)).st_size
        except (FileNotFoundError, NotADirectoryError):
            raise missing(location) from None

    def exists(self, location: str) -> bool:
        try:
            return stat.S_ISREG(os.stat(local_path(location)).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False

    def delete(self, location: str) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(local_path(location))

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        return delete_each(self, locations)

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        folder, name = os.path.split(local_path(location))
        try:
            held = os.open(folder, os.O_RDONLY)  # another folder that takes its place keeps its files
        except (FileNotFoundError, NotADirectoryError):
            return False
        try:
            if not is_the_one(read_whole(name, held)):
                return False
            os.unlink(name, dir_fd=held)
        except FileNotFoundError:
            return False
        finally:
            os.close(held)
        return True

    def make_folder(self, location: str) -> None:
        path = local_path(location).rstrip("/") or "/"
        make_folders(path)
        sync_names(os.path.dirname(path))

    def move_folder(self, source: str, target: str) -> None:
        try:
            os.rename(local_path(source), local_path(target))
        except FileNotFoundError:
            raise missing(source) from None
        sync_folder(os.path.dirname(local_path(source)))

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
        source_path, target_path = local_path(source), local_path(target)
        folder = os.path.dirname(target_path)
        if os.path.dirname(source_path) != folder:  # a folder that was removed with the source must not come back
            make_folders(folder)
        try:
            give_name(source_path, target_path, target)
        except OSError as error:
            if not _happened(source_path, target_path):
                if isinstance(error, FileNotFoundError):
                    raise missing(source) from None
                raise
        remove_quietly(source_path)
        sync_names(folder)


def _happened(source: str, target: str) -> bool:
    """Whether a move that ended in an error took place all the same. Raises OSError if nobody can tell."""
    try:
        data = read_whole(source)
    except FileNotFoundError:
        return False
    return came_true(source, target, data)
