"""The requests that can be made to one bucket or container, and how obstore makes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from icesql.io.stores.settings import StoreSettings

_PAGE = 1000


class TakenError(Exception):
    """The name that was to be made has an object."""


@dataclass(frozen=True, slots=True)
class Held:
    """An object's bytes and the attributes that its writer gave it."""

    data: bytes
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """One object of a list; ``path`` within the bucket."""

    path: str
    size: int
    modified_ms: int


@dataclass(frozen=True, slots=True)
class Level:
    """What lies directly below a prefix."""

    objects: Sequence[Listed]
    folders: Sequence[str]


class StoreRequests(Protocol):
    """Thread safe. What goes wrong is raised so that ``icesql.io.stores.failures`` can tell what the store answered."""

    def size(self, path: str) -> int: ...

    def read(self, path: str) -> Held: ...

    def read_start(self, path: str) -> None:
        """Ask for the first byte: unlike that to a HEAD, an answer of failure has a text."""

    def tail(self, path: str, length: int) -> tuple[int, Any]:
        """(size of the object, its last bytes)."""

    def range(self, path: str, start: int, end: int) -> Any: ...

    def put(self, path: str, data: Any) -> None: ...

    def put_parts(self, path: str, parts: Iterator[bytes]) -> None:
        """One object of all parts. An error of the iterator, or of the store, leaves none behind."""

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> None:
        """Raises TakenError if there is an object of the name."""

    def delete(self, paths: Sequence[str]) -> None: ...

    def first_page(self, root: str) -> tuple[Sequence[Listed], bool]:
        """(objects below a prefix, whether they are all)."""

    def all_below(self, root: str) -> Sequence[Listed]: ...

    def level(self, root: str) -> Level: ...


class ObstoreRequests:
    """Implements ``StoreRequests``. ``store``: obstore's."""

    def __init__(self, store: Any, settings: StoreSettings) -> None:
        import obstore

        self._store, self._settings, self._obstore = store, settings, obstore

    def size(self, path: str) -> int:
        return int(self._obstore.head(self._store, path)["size"])

    def read(self, path: str) -> Held:
        result = self._obstore.get(self._store, path)
        return Held(bytes(result.bytes()), {str(key): str(value) for key, value in result.attributes.items()})

    def read_start(self, path: str) -> None:
        self._obstore.get(self._store, path, options={"range": (0, 1)})

    def tail(self, path: str, length: int) -> tuple[int, Any]:
        """Azure has no ranges that count from the end, and none has one of an empty object."""
        if self._settings.kind != "azure":
            try:
                result = self._obstore.get(self._store, path, options={"range": {"suffix": length}})
                return int(result.meta["size"]), memoryview(result.bytes())
            except FileNotFoundError:
                raise
            except Exception as error:
                if "non-partial" not in str(error) and "416" not in str(error):
                    raise
        size = self.size(path)
        if size == 0:
            return 0, b""
        start = max(0, size - length)
        return size, memoryview(self.range(path, start, size))

    def range(self, path: str, start: int, end: int) -> Any:
        return self._obstore.get_range(self._store, path, start=start, end=end)

    def put(self, path: str, data: Any) -> None:
        self._obstore.put(self._store, path, data, use_multipart=False, **self._options())

    def put_parts(self, path: str, parts: Iterator[bytes]) -> None:
        size, threads = self._settings.part_bytes, self._settings.upload_threads
        self._obstore.put(self._store, path, parts, use_multipart=True, chunk_size=size, max_concurrency=threads, **self._options())

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> None:
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        options = self._options()
        given = {**options.pop("attributes", {}), **attributes}
        try:
            self._obstore.put(self._store, path, data, mode="create", attributes=given, **options)
        except (AlreadyExistsError, PreconditionError) as error:
            raise TakenError from error

    def delete(self, paths: Sequence[str]) -> None:
        self._obstore.delete(self._store, list(paths) if len(paths) != 1 else paths[0])

    def first_page(self, root: str) -> tuple[Sequence[Listed], bool]:
        stream = self._obstore.list(self._store, root or None, chunk_size=_PAGE)
        page: Sequence[Mapping[str, Any]] = next(iter(stream), [])
        return [_listed(meta) for meta in page], len(page) < _PAGE

    def all_below(self, root: str) -> Sequence[Listed]:
        return [_listed(meta) for meta in self._obstore.list(self._store, root, chunk_size=_PAGE).collect()]

    def level(self, root: str) -> Level:
        level = self._obstore.list_with_delimiter(self._store, root or None)
        return Level([_listed(meta) for meta in level["objects"]], list(level["common_prefixes"]))

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if self._settings.storage_class is not None:
            options["attributes"] = {"Storage-Class": self._settings.storage_class}
        if self._settings.tags:
            options["tags"] = dict(self._settings.tags)
        return options


def _listed(meta: Mapping[str, Any]) -> Listed:
    return Listed(str(meta["path"]), int(meta["size"]), int(meta["last_modified"].timestamp() * 1000))
