"""Files of stores that are neither this machine's nor object stores: HDFS through pyarrow, any other through fsspec."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, BinaryIO, cast

from pyarrow import fs

from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.io.storage.files import FileInfo
from icesql.io.storage.locations import delete_each, missing, scheme_of

HADOOP_SCHEMES = frozenset({"hdfs", "viewfs"})


class StoreFileIO:
    """Files of HDFS and of fsspec's file systems. ``properties`` with the prefix ``fsspec.`` are arguments of fsspec's file system."""

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        self.properties = dict(properties or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return (StoreFileIO, (self.properties,))

    @cached_property
    def _systems(self) -> dict[tuple[str, str], fs.FileSystem]:
        return {}

    def _resolve(self, location: str) -> tuple[fs.FileSystem, str]:
        scheme, _, rest = location.partition("://")
        if not rest:
            raise InvalidArgumentError(f"Cannot open file: not a URI with an authority: {location}", location=location)
        scheme, authority = scheme.lower(), rest.partition("/")[0]
        key = (scheme, authority if scheme in HADOOP_SCHEMES else "")
        system = self._systems.get(key)
        if system is None:
            system = self._systems[key] = open_store(scheme, authority, self.properties)
        return system, "/" + rest.partition("/")[2] if scheme in HADOOP_SCHEMES else rest

    def read(self, location: str) -> bytes:
        with self.open_input(location) as stream:
            return stream.read()

    def open_input(self, location: str) -> BinaryIO:
        system, path = self._resolve(location)
        try:
            return cast(BinaryIO, system.open_input_file(path))
        except FileNotFoundError:
            raise missing(location) from None

    def open_output(self, location: str) -> BinaryIO:
        system, path = self._resolve(location)
        _make_store_parent(system, path)
        return cast(BinaryIO, system.open_output_stream(path))

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        if not overwrite and self.exists(location):
            raise AlreadyExistsError(f"Cannot create file: it already exists: {location}", location=location)
        with self.open_output(location) as stream:
            stream.write(data)

    def creates_atomically(self, folder: str) -> bool:
        return False

    def size(self, location: str) -> int:
        info = self._info(location)
        if info.type != fs.FileType.File:
            raise missing(location)
        return int(info.size)

    def exists(self, location: str) -> bool:
        return bool(self._info(location).type == fs.FileType.File)

    def _info(self, location: str) -> fs.FileInfo:
        system, path = self._resolve(location)
        return system.get_file_info(path)

    def delete(self, location: str) -> None:
        system, path = self._resolve(location)
        with contextlib.suppress(FileNotFoundError):
            system.delete_file(path)

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        return delete_each(self, locations)

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        try:
            if not is_the_one(self.read(location)):
                return False
        except NotFoundError:
            return False
        self.delete(location)
        return True

    def make_folder(self, location: str) -> None:
        system, path = self._resolve(location)
        system.create_dir(path, recursive=True)

    def delete_folder(self, location: str) -> None:
        system, path = self._resolve(location)
        with contextlib.suppress(FileNotFoundError):
            system.delete_dir(path)

    def move_folder(self, source: str, target: str) -> None:
        system, path = self._resolve(target)
        try:
            system.move(self._resolve(source)[1], path)
        except FileNotFoundError:
            raise missing(source) from None

    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        system, path = self._resolve(prefix)
        root, shown = path.rstrip("/"), prefix.rstrip("/")
        for info in system.get_file_info(fs.FileSelector(root, recursive=recursive, allow_not_found=True)):
            if info.type == fs.FileType.File:
                modified_ms = 0 if info.mtime_ns is None else info.mtime_ns // 1_000_000
                yield FileInfo(shown + info.path.lstrip("/")[len(root.lstrip("/")) :], int(info.size), modified_ms)

    def list_folders(self, location: str) -> list[str]:
        system, path = self._resolve(location)
        infos = system.get_file_info(fs.FileSelector(path.rstrip("/"), allow_not_found=True))
        return sorted(info.base_name for info in infos if info.type == fs.FileType.Directory)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        if scheme_of(target) not in HADOOP_SCHEMES:
            raise UnsupportedError(f"Cannot rename file: the store has no atomic rename: {target}", location=target)
        system, path = self._resolve(target)
        if self.exists(target):
            raise AlreadyExistsError(f"Cannot rename file: target already exists: {target}", location=target)
        _make_store_parent(system, path)
        try:
            system.move(self._resolve(source)[1], path)  # HDFS refuses a rename onto an existing file
        except FileNotFoundError:
            raise missing(source) from None
        except OSError as error:
            if self.exists(target) and self.exists(source):  # without a source the target may be ours
                raise AlreadyExistsError(f"Cannot rename file: target already exists: {target}", location=target) from error
            raise


def open_store(scheme: str, authority: str, properties: Mapping[str, str]) -> fs.FileSystem:
    """HDFS through pyarrow, any other scheme through fsspec. Raises UnsupportedError for a scheme that neither has."""
    if scheme in HADOOP_SCHEMES:
        host, _, port = authority.partition(":")
        return fs.HadoopFileSystem(host or "default", int(port or 0))
    return _fsspec(scheme, properties)


def _fsspec(scheme: str, properties: Mapping[str, str]) -> fs.FileSystem:
    try:
        import fsspec

        options = {key[len("fsspec.") :]: value for key, value in properties.items() if key.startswith("fsspec.")}
        system = fsspec.filesystem(scheme, **options)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"Cannot open file: no file system for scheme: {scheme} ({error})", scheme=scheme) from error
    return fs.PyFileSystem(fs.FSSpecHandler(system))


def _make_store_parent(system: fs.FileSystem, path: str) -> None:
    parent = path.rpartition("/")[0]
    if parent:
        system.create_dir(parent, recursive=True)
