"""The FileIO of a catalog: local files (``local_files``), and every other store (``store_files``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from icesql.io.storage.files import FileInfo, FileIO
from icesql.io.storage.local_files import LocalFileIO
from icesql.io.storage.locations import delete_each, local_path, scheme_of
from icesql.io.storage.store_files import StoreFileIO

__all__ = ["ArrowFileIO", "LocalFileIO", "StoreFileIO", "load_file_io", "local_path", "scheme_of"]


class ArrowFileIO:
    """The FileIO of a catalog: local locations go to ``LocalFileIO``, all others to ``StoreFileIO``."""

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        self.properties = dict(properties or {})
        self._local, self._store = LocalFileIO(), StoreFileIO(self.properties)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ArrowFileIO, (self.properties,))

    def _for(self, location: str) -> LocalFileIO | StoreFileIO:
        return self._local if scheme_of(location) == "file" else self._store

    def read(self, location: str) -> bytes:
        return self._for(location).read(location)

    def open_input(self, location: str) -> BinaryIO:
        return self._for(location).open_input(location)

    def open_output(self, location: str) -> BinaryIO:
        return self._for(location).open_output(location)

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        self._for(location).write(location, data, overwrite=overwrite)

    def size(self, location: str) -> int:
        return self._for(location).size(location)

    def exists(self, location: str) -> bool:
        return self._for(location).exists(location)

    def delete(self, location: str) -> None:
        self._for(location).delete(location)

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        return delete_each(self, locations)

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        return self._for(location).delete_if(location, is_the_one)

    def make_folder(self, location: str) -> None:
        self._for(location).make_folder(location)

    def delete_folder(self, location: str) -> None:
        self._for(location).delete_folder(location)

    def move_folder(self, source: str, target: str) -> None:
        self._for(target).move_folder(source, target)

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        return self._for(prefix).list_files(prefix, recursive=recursive)

    def list_folders(self, location: str) -> list[str]:
        return self._for(location).list_folders(location)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        self._for(target).rename_without_overwrite(source, target)


def load_file_io(properties: Mapping[str, str] | None = None, location: str | None = None) -> FileIO:
    """The FileIO for a catalog's or table's properties. ``location`` is checked to be one it can open; a Java ``io-impl`` is ignored."""
    if location is not None:
        scheme_of(location)
    return ArrowFileIO(properties)
