"""A FileIO that hands each location to another one: by its scheme, or by the credentials that are good for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import BinaryIO

from icesql.io.storage.files import FileInfo, FileIO


class RoutedFileIO(ABC):
    """Implements ``FileIO`` but for ``delete_many``, which each kind batches in its own way. What concerns two locations goes to the FileIO
    of the target."""

    @abstractmethod
    def _for(self, location: str) -> FileIO:
        """The FileIO that holds the location."""

    def read(self, location: str) -> bytes:
        return self._for(location).read(location)

    def open_input(self, location: str) -> BinaryIO:
        return self._for(location).open_input(location)

    def open_output(self, location: str) -> BinaryIO:
        return self._for(location).open_output(location)

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        self._for(location).write(location, data, overwrite=overwrite)

    def creates_atomically(self, folder: str) -> bool:
        return self._for(folder).creates_atomically(folder)

    def size(self, location: str) -> int:
        return self._for(location).size(location)

    def exists(self, location: str) -> bool:
        return self._for(location).exists(location)

    def delete(self, location: str) -> None:
        self._for(location).delete(location)

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
