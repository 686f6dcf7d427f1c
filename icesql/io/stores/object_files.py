"""Files of object stores: S3 (``s3``, ``s3a``, ``s3n``), Google Cloud Storage (``gs``, ``gcs``) and Azure (``abfs``, ``abfss``, ``wasb``,
``wasbs``).

An object is there whole or not at all, and durable once a write has returned. There are no folders, and no rename.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
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
from icesql.io.stores.s3_settings import s3_settings
from icesql.io.stores.settings import StoreSettings

S3_SCHEMES = frozenset({"s3", "s3a", "s3n"})
GCS_SCHEMES = frozenset({"gs", "gcs"})
AZURE_SCHEMES = frozenset({"abfs", "abfss", "wasb", "wasbs"})
OBJECT_SCHEMES = S3_SCHEMES | GCS_SCHEMES | AZURE_SCHEMES

_WRITE_TOKEN = "icesqlwrite"  # Azure takes letters and digits only
_LIST_THREADS = 8
_PAGE = 1000


class ObjectFileIO:
    """``properties``: Iceberg's FileIO keys."""

    def __init__(self, properties: Mapping[str, str] | None = None) -> None:
        self.properties = dict(properties or {})
        tell_of_unserved(self.properties)

    def __reduce__(self) -> tuple[Any, ...]:
        return (ObjectFileIO, (self.properties,))

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
            settings = self._settings[key] = settings_of(scheme.lower(), authority, self.properties)
        return client_of(settings), path

    # -- reading -----------------------------------------------------------------------------------------------------
    def read(self, location: str) -> bytes:
        client, path = self.client(location)
        return client.call("read", location, lambda store: bytes(_get(store, path, None).bytes()))

    def open_input(self, location: str) -> BinaryIO:
        client, path = self.client(location)

        def tail(length: int) -> tuple[int, Any]:
            return client.call("read", location, lambda store: _tail(store, path, length, client.settings.kind))

        def fetch(start: int, end: int) -> Any:
            data = client.call("read", location, lambda store: _range(store, path, start, end))
            if len(data) != end - start:
                raise StoreError(f"Cannot read {location}: the store gave {len(data)} of {end - start} bytes at {start}", location=location)
            return data

        stream = ObjectInput(tail, fetch)
        stream.size()  # a missing file is told here
        return cast(BinaryIO, stream)

    def size(self, location: str) -> int:
        return int(self._head(location)["size"])

    def exists(self, location: str) -> bool:
        try:
            self._head(location)
        except NotFoundError:
            return False
        return True

    def _head(self, location: str) -> Any:
        client, path = self.client(location)
        if not path.rstrip("/"):
            raise missing(location)
        try:
            return client.call("read", location, lambda store: _obstore().head(store, path))
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
        client.call("read", location, lambda store: _get(store, path, {"range": (0, 1)}))

    # -- writing -----------------------------------------------------------------------------------------------------
    def open_output(self, location: str) -> BinaryIO:
        client, path = self._writable(location)
        options = _put_options(client.settings)
        threads, part = client.settings.upload_threads, client.settings.part_bytes

        def put(data: Any) -> None:
            client.call("write", location, lambda store: _obstore().put(store, path, data, use_multipart=False, **options))

        def put_parts(parts: Any) -> None:
            def upload(store: Any) -> Any:
                return _obstore().put(store, path, parts, use_multipart=True, chunk_size=part, max_concurrency=threads, **options)

            client.call("write", location, upload, is_repeatable=False)  # the parts come from an iterator

        return cast(BinaryIO, ObjectOutput(put, put_parts, part))

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        client, path = self._writable(location)
        options = _put_options(client.settings)
        if overwrite:
            client.call("write", location, lambda store: _obstore().put(store, path, data, use_multipart=False, **options))
            return
        self._create(client, path, location, data, options)

    def _create(self, client: ObjectClient, path: str, location: str, data: bytes, options: dict[str, Any]) -> None:
        """A conditional put. A retry may find what the try before it made, so each write leaves a token of its own in the object."""
        token = uuid.uuid4().hex
        attributes = {**options.pop("attributes", {}), _WRITE_TOKEN: token}
        try:
            client.call("create", location, lambda store: _create(store, path, data, attributes, options))
        except _TakenError:
            held = client.call("read", location, lambda store: _get(store, path, None))
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
            client.call("delete", location, lambda store: _obstore().delete(store, path))

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
                paths = [path for _, path in batch]
                try:
                    client.call("delete", batch[0][0], partial(_delete, paths=paths))
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

        def info(meta: Mapping[str, Any]) -> FileInfo:
            return FileInfo(f"{shown}/{meta['path']}", int(meta["size"]), int(meta["last_modified"].timestamp() * 1000))

        if not recursive:
            yield from map(info, self._level(client, prefix, root)["objects"])
            return
        page, is_all = client.call("list", prefix, lambda store: _first_page(store, root))
        for meta in page if is_all else self._side_by_side(client, prefix, root):
            yield info(meta)

    def _side_by_side(self, client: ObjectClient, location: str, root: str) -> Iterator[Mapping[str, Any]]:
        """All objects below a prefix of more than a page: its folders are listed in parallel."""
        objects: list[Mapping[str, Any]] = []
        folders = [root]
        for _ in range(3):
            levels = [self._level(client, location, folder) for folder in folders]
            objects += [meta for level in levels for meta in level["objects"]]
            folders = [folder for level in levels for folder in level["common_prefixes"]]
            if not folders or len(folders) >= _LIST_THREADS:
                break
        yield from objects
        with ThreadPoolExecutor(_LIST_THREADS, "icesql-list") as pool:
            for listed in pool.map(lambda folder: client.call("list", location, lambda store: _all_below(store, folder)), folders):
                yield from listed

    def _level(self, client: ObjectClient, location: str, root: str) -> Any:
        return client.call("list", location, lambda store: _obstore().list_with_delimiter(store, root or None))

    def list_folders(self, location: str) -> list[str]:
        client, path = self.client(location)
        level = self._level(client, location, path.strip("/"))
        return sorted(folder.rstrip("/").rpartition("/")[2] for folder in level["common_prefixes"])


def settings_of(scheme: str, authority: str, properties: Mapping[str, str]) -> StoreSettings:
    """Raises InvalidArgumentError, UnsupportedError for properties that cannot be served."""
    if scheme in S3_SCHEMES:
        return s3_settings(authority, properties)
    if scheme in GCS_SCHEMES:
        return gcs_settings(authority, properties)
    return azure_settings(authority, properties)


# -- requests ----------------------------------------------------------------------------------------------------------


class _TakenError(Exception):
    """The name has an object."""


def _obstore() -> Any:
    import obstore

    return obstore


def _delete(store: Any, paths: list[str]) -> None:
    _obstore().delete(store, paths)


def _get(store: Any, path: str, options: Any) -> Any:
    return _obstore().get(store, path, options=options)


def _tail(store: Any, path: str, length: int, kind: str) -> tuple[int, Any]:
    """(size, last bytes). Azure has no ranges that count from the end, and none has one of an empty object."""
    if kind != "azure":
        try:
            result = _get(store, path, {"range": {"suffix": length}})
            return int(result.meta["size"]), memoryview(result.bytes())
        except FileNotFoundError:
            raise
        except Exception as error:
            if "non-partial" not in str(error) and "416" not in str(error):
                raise
    size = int(_obstore().head(store, path)["size"])
    if size == 0:
        return 0, b""
    start = max(0, size - length)
    return size, memoryview(_range(store, path, start, size))


def _range(store: Any, path: str, start: int, end: int) -> Any:
    return _obstore().get_range(store, path, start=start, end=end)


def _create(store: Any, path: str, data: bytes, attributes: Mapping[str, str], options: Mapping[str, Any]) -> None:
    from obstore.exceptions import AlreadyExistsError as Taken
    from obstore.exceptions import PreconditionError

    try:
        _obstore().put(store, path, data, mode="create", attributes=attributes, **options)
    except (Taken, PreconditionError) as error:
        raise _TakenError from error


def _put_options(settings: StoreSettings) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if settings.storage_class is not None:
        options["attributes"] = {"Storage-Class": settings.storage_class}
    if settings.tags:
        options["tags"] = dict(settings.tags)
    return options


def _first_page(store: Any, root: str) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """(objects, whether they are all)."""
    stream = _obstore().list(store, root or None, chunk_size=_PAGE)
    page: Sequence[Mapping[str, Any]] = next(iter(stream), [])
    return page, len(page) < _PAGE


def _all_below(store: Any, root: str) -> Sequence[Mapping[str, Any]]:
    entries: Sequence[Mapping[str, Any]] = _obstore().list(store, root, chunk_size=_PAGE).collect()
    return entries
