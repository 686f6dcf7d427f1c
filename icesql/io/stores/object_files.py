"""Files of object stores: S3 (``s3``, ``s3a``, ``s3n``), Google Cloud Storage (``gs``, ``gcs``) and Azure (``abfs``, ``abfss``, ``wasb``,
``wasbs``).

An object is there whole or not at all, and durable once a write has returned. There are no folders, and no rename.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from operator import methodcaller
from typing import Any, BinaryIO, cast

from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.io.storage.files import FileInfo
from icesql.io.storage.locations import delete_each, missing
from icesql.io.stores.azure_settings import azure_settings
from icesql.io.stores.clients import ObjectClient, client_of
from icesql.io.stores.failures import StoreError
from icesql.io.stores.gcs_settings import gcs_settings
from icesql.io.stores.inputs import ObjectInput
from icesql.io.stores.known_keys import tell_of_unserved
from icesql.io.stores.outputs import ObjectOutput
from icesql.io.stores.requests import Level, Listed, TakenError
from icesql.io.stores.s3_settings import s3_settings
from icesql.io.stores.settings import StoreSettings
from icesql.io.stores.signing import RequestSigner

S3_SCHEMES = frozenset({"s3", "s3a", "s3n"})
GCS_SCHEMES = frozenset({"gs", "gcs"})
AZURE_SCHEMES = frozenset({"abfs", "abfss", "wasb", "wasbs"})
OBJECT_SCHEMES = S3_SCHEMES | GCS_SCHEMES | AZURE_SCHEMES

_WRITE_TOKEN = "icesqlwrite"  # Azure takes letters and digits only
_LIST_THREADS = 8


class ObjectFileIO:
    """``properties``: Iceberg's FileIO keys. ``signer``: who signs requests to S3 where no keys are to be had."""

    def __init__(self, properties: Mapping[str, str] | None = None, signer: RequestSigner | None = None) -> None:
        self.properties, self.signer = dict(properties or {}), signer
        tell_of_unserved(self.properties)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ObjectFileIO, (self.properties, self.signer))

    # -- clients -----------------------------------------------------------------------------------------------------
    @cached_property
    def _settings(self) -> dict[tuple[str, str], StoreSettings]:
        return {}

    def client(self, location: str) -> tuple[ObjectClient, str]:
        """The client of a location's bucket, and the name of the object in it. Raises InvalidArgumentError."""
        scheme, _, rest = location.partition("://")
        authority, _, path = rest.partition("/")
        if not authority:
            raise InvalidArgumentError(f"Cannot open file: not a URI with a bucket: {location}", location=location)
        key = (scheme.lower(), authority)
        settings = self._settings.get(key)
        if settings is None:
            settings = self._settings[key] = settings_of(scheme.lower(), authority, self.properties, self.signer)
        return client_of(settings), path

    # -- reading -----------------------------------------------------------------------------------------------------
    def read(self, location: str) -> bytes:
        client, path = self.client(location)
        return client.call("read", location, lambda store: store.read(path).data)

    def open_input(self, location: str) -> BinaryIO:
        return object_input(lambda: self, location)

    def size(self, location: str) -> int:
        return self._head(location)

    def exists(self, location: str) -> bool:
        try:
            self._head(location)
        except NotFoundError:
            return False
        return True

    def _head(self, location: str) -> int:
        client, path = self.client(location)
        if not path.rstrip("/"):
            raise missing(location)
        try:
            return client.call("read", location, lambda store: store.size(path))
        except NotFoundError:
            if not client.has_served:
                self._ask_why(client, path, location)
            raise
        except StoreError as error:
            if error.context.get("code") is None and error.context.get("status") is not None:
                self._ask_why(client, path, location)
            raise

    def _ask_why(self, client: ObjectClient, path: str, location: str) -> None:
        """An answer to HEAD has no text: ask again in a way that says what is wrong, the object, the bucket or the keys."""
        client.call("read", location, lambda store: store.read_start(path))

    # -- writing -----------------------------------------------------------------------------------------------------
    def open_output(self, location: str) -> BinaryIO:
        client, path = self._writable(location)

        def put(data: Any) -> None:
            client.call("write", location, lambda store: store.put(path, data))

        def put_parts(parts: Any) -> None:
            client.call("write", location, lambda store: store.put_parts(path, parts), is_repeatable=False)  # they come from an iterator

        return cast(BinaryIO, ObjectOutput(put, put_parts, client.settings.part_bytes))

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        client, path = self._writable(location)
        if overwrite:
            client.call("write", location, lambda store: store.put(path, data))
            return
        self._create(client, path, location, data)

    def _create(self, client: ObjectClient, path: str, location: str, data: bytes) -> None:
        """A conditional put. A retry may find what the try before it made, so each write leaves a token of its own in the object."""
        token = uuid.uuid4().hex
        try:
            client.call("create", location, lambda store: store.create(path, data, {_WRITE_TOKEN: token}))
        except TakenError:
            held = client.call("read", location, lambda store: store.read(path))
            if held.attributes.get(_WRITE_TOKEN) != token:
                raise AlreadyExistsError(f"Cannot create file: it already exists: {location}", location=location) from None

    def _writable(self, location: str) -> tuple[ObjectClient, str]:
        client, path = self.client(location)
        if client.settings.refused_writes is not None:
            raise UnsupportedError(f"Cannot write {location}: {client.settings.refused_writes}", location=location)
        return client, path

    def creates_atomically(self, folder: str) -> bool:
        """Tried once a process and bucket, with an object of its own below the folder: some servers take the condition and ignore it."""
        client, _ = self.client(folder)
        if client.creates_atomically is None:
            client.creates_atomically = self._tried_twice(f"{folder.rstrip('/')}/.icesql-probe-{uuid.uuid4().hex}")
        return client.creates_atomically

    def _tried_twice(self, probe: str) -> bool:
        try:
            self.write(probe, b"1", overwrite=False)
            self.write(probe, b"2", overwrite=False)
        except AlreadyExistsError:
            return True
        except UnsupportedError:
            return False
        except StoreError as error:
            if error.context.get("status") != 501:  # not implemented
                raise
            return False
        finally:
            with contextlib.suppress(Exception):
                self.delete(probe)
        return False

    # -- removing ----------------------------------------------------------------------------------------------------
    def delete(self, location: str) -> None:
        client, path = self.client(location)
        if not client.settings.deletes:
            return
        with contextlib.suppress(NotFoundError):
            client.call("delete", location, lambda store: store.delete([path]))

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        single: list[str] = []
        batches: dict[ObjectClient, list[tuple[str, str]]] = {}
        failures: list[tuple[str, str]] = []
        for location in locations:
            try:
                client, path = self.client(location)
            except Exception as error:
                failures.append((location, str(error)))
                continue
            if client.settings.kind == "s3" and client.settings.deletes:
                batches.setdefault(client, []).append((location, path))
            elif client.settings.deletes:
                single.append(location)
        for client, members in batches.items():
            size = client.settings.delete_batch
            for start in range(0, len(members), size):
                batch = members[start : start + size]
                try:
                    client.call("delete", batch[0][0], methodcaller("delete", [path for _, path in batch]))
                except Exception:  # one by one, to know which
                    single += [location for location, _ in batch]
        return [*failures, *delete_each(self, single)]

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        try:
            if not is_the_one(self.read(location)):
                return False
        except NotFoundError:
            return False
        self.delete(location)
        return True

    # -- folders, which are only prefixes of names -------------------------------------------------------------------
    def make_folder(self, location: str) -> None:
        """Nothing: a folder is there with its first object."""

    def delete_folder(self, location: str) -> None:
        failures = self.delete_many(info.location for info in self.list_files(location))
        if failures:
            where, why = failures[0]
            raise StoreError(f"Cannot delete {location}: {len(failures)} objects stay, {where} because: {why}", location=location)

    def move_folder(self, source: str, target: str) -> None:
        raise UnsupportedError(f"Cannot rename folder: the store has no atomic rename: {source}", location=source)

    def rename_without_overwrite(self, source: str, target: str) -> None:
        raise UnsupportedError(f"Cannot rename file: the store has no atomic rename: {target}", location=target)

    # -- listing -----------------------------------------------------------------------------------------------------
    def list_files(self, prefix: str, *, recursive: bool = True) -> Iterator[FileInfo]:
        client, path = self.client(prefix)
        root = path.strip("/")
        shown = prefix.rstrip("/")[: len(prefix.rstrip("/")) - len(path.rstrip("/"))].rstrip("/")  # what stands before an object's name

        def info(listed: Listed) -> FileInfo:
            return FileInfo(f"{shown}/{listed.path}", listed.size, listed.modified_ms)

        if not recursive:
            yield from map(info, self._level(client, prefix, root).objects)
            return
        page, is_all = client.call("list", prefix, lambda store: store.first_page(root))
        yield from map(info, page if is_all else self._side_by_side(client, prefix, root))

    def _side_by_side(self, client: ObjectClient, location: str, root: str) -> Iterator[Listed]:
        """All objects below a prefix of more than a page: its folders are listed in parallel."""
        objects: list[Listed] = []
        folders = [root]
        for _ in range(3):
            levels = [self._level(client, location, folder) for folder in folders]
            objects += [listed for level in levels for listed in level.objects]
            folders = [folder for level in levels for folder in level.folders]
            if not folders or len(folders) >= _LIST_THREADS:
                break
        yield from objects
        with ThreadPoolExecutor(_LIST_THREADS, "icesql-list") as pool:
            for listed in pool.map(lambda folder: client.call("list", location, lambda store: store.all_below(folder)), folders):
                yield from listed

    def _level(self, client: ObjectClient, location: str, root: str) -> Level:
        return client.call("list", location, lambda store: store.level(root))

    def list_folders(self, location: str) -> list[str]:
        client, path = self.client(location)
        level = self._level(client, location, path.strip("/"))
        return sorted(folder.rstrip("/").rpartition("/")[2] for folder in level.folders)


def object_input(files: Callable[[], ObjectFileIO], location: str) -> BinaryIO:
    """A stream over an object; ``files`` is asked before each request, for keys may change while it is read. Raises NotFoundError."""

    def tail(length: int) -> tuple[int, Any]:
        client, path = files().client(location)
        return client.call("read", location, lambda store: store.tail(path, length))

    def fetch(start: int, end: int) -> Any:
        client, path = files().client(location)
        data = client.call("read", location, lambda store: store.range(path, start, end))
        if len(data) != end - start:
            raise StoreError(f"Cannot read {location}: the store gave {len(data)} of {end - start} bytes at {start}", location=location)
        return data

    stream = ObjectInput(tail, fetch)
    stream.size()  # a missing file is told here
    return cast(BinaryIO, stream)


def settings_of(scheme: str, authority: str, properties: Mapping[str, str], signer: RequestSigner | None = None) -> StoreSettings:
    """Raises InvalidArgumentError, UnsupportedError for properties that cannot be served."""
    if scheme in S3_SCHEMES:
        return s3_settings(authority, properties, signer)
    if scheme in GCS_SCHEMES:
        return gcs_settings(authority, properties)
    return azure_settings(authority, properties)
