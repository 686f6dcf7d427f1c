"""FileIO over local files (plain system calls, durable and atomic) and, through pyarrow or fsspec, any other store."""

from __future__ import annotations

import contextlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
from pyarrow import fs

from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.io.files import FileInfo, FileIO

_DELETE_THREADS = 16


def scheme_of(location: str) -> str:
    """The scheme in lower case; ``"file"`` for a plain absolute path. Raises InvalidArgumentError for a relative path."""
    if location.startswith("/"):
        return "file"
    scheme, colon, _ = location.partition(":")
    if not colon or not scheme or "/" in scheme:
        raise InvalidArgumentError(f"Cannot open file: location must be an absolute path or a URI: {location}", location=location)
    return scheme.lower()


def local_path(location: str) -> str:
    """The path of a plain or ``file:`` location, byte for byte: nothing is percent-decoded. Raises InvalidArgumentError for other
    schemes."""
    if location.startswith("/"):
        return location
    if scheme_of(location) != "file":
        raise InvalidArgumentError(f"Cannot open file: not a local location: {location}", location=location)
    rest = location[5:]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host not in ("", "localhost") or not slash:
            raise InvalidArgumentError(f"Cannot open file: file URI names another host: {location}", location=location)
        return "/" + path
    if not rest.startswith("/"):
        raise InvalidArgumentError(f"Cannot open file: file URI must be absolute: {location}", location=location)
    return rest


class LocalFileIO:
    """Files on this machine. ``write`` is atomic and durable: a reader sees the whole file or none, also after a power cut."""

    def read(self, location: str) -> bytes:
        try:
            return Path(local_path(location)).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise _missing(location) from None

    def open_input(self, location: str) -> BinaryIO:
        try:
            return cast(BinaryIO, pa.OSFile(local_path(location), "rb"))
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise _missing(location) from None

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
            raise _missing(location) from None

    def exists(self, location: str) -> bool:
        return Path(local_path(location)).is_file()

    def delete(self, location: str) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            Path(local_path(location)).unlink()

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        return _delete_each(self, locations)

    def make_folder(self, location: str) -> None:
        Path(local_path(location)).mkdir(parents=True, exist_ok=True)

    def delete_folder(self, location: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(local_path(location))

    def list_files(self, prefix: str) -> Iterator[FileInfo]:
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
                    pending.append(name)
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
            raise _missing(source) from None
        source_path.unlink(missing_ok=True)
        _sync_folder(target_path.parent)


class StoreFileIO:
    """Files of any store pyarrow or fsspec can open. ``properties`` are Iceberg's FileIO keys (``s3.endpoint``, ``s3.access-key-id``
    ...)."""

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
        key = (scheme, authority if scheme in ("hdfs", "viewfs", "abfs", "abfss", "wasb", "wasbs") else "")
        system = self._systems.get(key)
        if system is None:
            system = self._systems[key] = open_store(scheme, authority, self.properties)
        if scheme in ("hdfs", "viewfs"):
            return system, "/" + rest.partition("/")[2]
        if scheme in ("abfs", "abfss", "wasb", "wasbs"):
            return system, f"{authority.partition('@')[0]}/{rest.partition('/')[2]}"
        return system, rest

    def read(self, location: str) -> bytes:
        with self.open_input(location) as stream:
            return stream.read()

    def open_input(self, location: str) -> BinaryIO:
        system, path = self._resolve(location)
        try:
            return cast(BinaryIO, system.open_input_file(path))
        except FileNotFoundError:
            raise _missing(location) from None

    def open_output(self, location: str) -> BinaryIO:
        system, path = self._resolve(location)
        _make_store_parent(system, path)
        return cast(BinaryIO, system.open_output_stream(path))

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        if not overwrite and self.exists(location):
            raise AlreadyExistsError(f"Cannot create file: it already exists: {location}", location=location)
        with self.open_output(location) as stream:
            stream.write(data)

    def size(self, location: str) -> int:
        info = self._info(location)
        if info.type != fs.FileType.File:
            raise _missing(location)
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
        return _delete_each(self, locations)

    def make_folder(self, location: str) -> None:
        system, path = self._resolve(location)
        if system.type_name not in ("s3", "gcs", "abfs"):
            system.create_dir(path, recursive=True)

    def delete_folder(self, location: str) -> None:
        system, path = self._resolve(location)
        with contextlib.suppress(FileNotFoundError):
            system.delete_dir(path)

    def list_files(self, prefix: str) -> Iterator[FileInfo]:
        system, path = self._resolve(prefix)
        root, shown = path.rstrip("/"), prefix.rstrip("/")
        for info in system.get_file_info(fs.FileSelector(root, recursive=True, allow_not_found=True)):
            if info.type == fs.FileType.File:
                modified_ms = 0 if info.mtime_ns is None else info.mtime_ns // 1_000_000
                yield FileInfo(shown + info.path.lstrip("/")[len(root.lstrip("/")) :], int(info.size), modified_ms)

    def list_folders(self, location: str) -> list[str]:
        system, path = self._resolve(location)
        found = system.get_file_info(fs.FileSelector(path.rstrip("/"), allow_not_found=True))
        return sorted(info.base_name for info in found if info.type == fs.FileType.Directory)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        if scheme_of(target) not in ("hdfs", "viewfs"):
            raise UnsupportedError(f"Cannot rename file: the store has no atomic rename: {target}", location=target)
        system, path = self._resolve(target)
        if self.exists(target):
            raise AlreadyExistsError(f"Cannot rename file: target already exists: {target}", location=target)
        _make_store_parent(system, path)
        try:
            system.move(self._resolve(source)[1], path)  # HDFS refuses a rename onto an existing file
        except FileNotFoundError:
            raise _missing(source) from None
        except OSError as error:
            if self.exists(target):
                raise AlreadyExistsError(f"Cannot rename file: target already exists: {target}", location=target) from error
            raise


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
        return _delete_each(self, locations)

    def make_folder(self, location: str) -> None:
        self._for(location).make_folder(location)

    def delete_folder(self, location: str) -> None:
        self._for(location).delete_folder(location)

    def list_files(self, prefix: str) -> Iterator[FileInfo]:
        return self._for(prefix).list_files(prefix)

    def list_folders(self, location: str) -> list[str]:
        return self._for(location).list_folders(location)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        self._for(target).rename_without_overwrite(source, target)


def load_file_io(properties: Mapping[str, str] | None = None, location: str | None = None) -> FileIO:
    """The FileIO for a catalog's or table's properties. ``location`` is checked to be one it can open; a Java ``io-impl`` is ignored."""
    if location is not None:
        scheme_of(location)
    return ArrowFileIO(properties)


_S3_KEYS = {
    "s3.access-key-id": "access_key",
    "s3.secret-access-key": "secret_key",
    "s3.session-token": "session_token",
    "s3.endpoint": "endpoint_override",
    "client.region": "region",
    "s3.region": "region",
}


def open_store(scheme: str, authority: str, properties: Mapping[str, str]) -> fs.FileSystem:
    """A pyarrow file system for a scheme: pyarrow's own where it has one, else fsspec's. Raises UnsupportedError for an unknown scheme."""
    if scheme in ("s3", "s3a", "s3n"):
        options: dict[str, Any] = {ours: properties[key] for key, ours in _S3_KEYS.items() if key in properties}
        if properties.get("s3.path-style-access", "true").lower() == "false":
            options["force_virtual_addressing"] = True
        return fs.S3FileSystem(**options)
    if scheme in ("gs", "gcs"):
        return fs.GcsFileSystem(**({"project_id": properties["gcs.project-id"]} if "gcs.project-id" in properties else {}))
    if scheme in ("abfs", "abfss", "wasb", "wasbs"):
        return _azure(authority, properties)
    if scheme in ("hdfs", "viewfs"):
        host, _, port = authority.partition(":")
        return fs.HadoopFileSystem(host or "default", int(port or 0))
    return _fsspec(scheme, properties)


def _azure(authority: str, properties: Mapping[str, str]) -> fs.FileSystem:
    account = authority.partition("@")[2].partition(".")[0] or properties.get("adls.account-name", "")
    key = properties.get(f"adls.auth.shared-key.account.key.{account}") or properties.get("adls.auth.shared-key.account.key")
    return fs.AzureFileSystem(account, **({"account_key": key} if key else {}))


def _fsspec(scheme: str, properties: Mapping[str, str]) -> fs.FileSystem:
    try:
        import fsspec

        options = {key[len("fsspec.") :]: value for key, value in properties.items() if key.startswith("fsspec.")}
        system = fsspec.filesystem(scheme, **options)
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"Cannot open file: no file system for scheme: {scheme} ({error})", scheme=scheme) from error
    return fs.PyFileSystem(fs.FSSpecHandler(system))


def _missing(location: str) -> NotFoundError:
    return NotFoundError(f"Cannot open file: File does not exist: {location}", location=location)


def _make_parent(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _make_store_parent(system: fs.FileSystem, path: str) -> None:
    if system.type_name in ("s3", "gcs", "abfs"):  # object stores have no folders
        return
    parent = path.rpartition("/")[0]
    if parent:
        system.create_dir(parent, recursive=True)


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


def _delete_each(io: FileIO, locations: Iterable[str]) -> list[tuple[str, str]]:
    def attempt(location: str) -> tuple[str, str] | None:
        try:
            io.delete(location)
        except Exception as error:  # reported, never raised: a clean-up goes on with the rest
            return (location, str(error))
        return None

    names = list(locations)
    if len(names) < 2:
        return [failure for failure in map(attempt, names) if failure]
    with ThreadPoolExecutor(min(_DELETE_THREADS, len(names))) as pool:
        return [failure for failure in pool.map(attempt, names) if failure]
