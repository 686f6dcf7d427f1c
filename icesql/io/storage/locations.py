"""Parsing locations: what is one, its scheme, its local path."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError
from icesql.io.storage.files import FileIO

_DELETE_THREADS, _SHARES = 16, 8  # several shares a thread: slow ones even out


def is_location(text: object) -> bool:
    """True for an absolute path or a URI: what a manifest or a list may name. A null byte is in no location."""
    return isinstance(text, str) and "\0" not in text and (text.startswith("/") or _scheme(text) is not None)


def _scheme(location: str) -> str | None:
    scheme, colon, _ = location.partition(":")
    return scheme if colon and scheme and "/" not in scheme else None


def scheme_of(location: str) -> str:
    """The scheme in lower case; ``"file"`` for a plain absolute path. Raises InvalidArgumentError for a relative path."""
    if location.startswith("/"):
        return "file"
    scheme = _scheme(location)
    if scheme is None:
        raise InvalidArgumentError(f"Cannot open file: location must be an absolute path or a URI: {location}", location=location)
    return scheme.lower()


def local_path(location: str) -> str:
    """The path of a plain or ``file:`` location, byte for byte: nothing is percent-decoded.

    Raises InvalidArgumentError for other schemes, CorruptMetadataError for what no file can be named.
    """
    if "\0" in location:
        raise CorruptMetadataError(f"Cannot open file: location holds a null byte: {location!r}", location=location)
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


def missing(location: str) -> NotFoundError:
    return NotFoundError(f"Cannot open file: File does not exist: {location}", location=location)


def delete_each(io: FileIO, locations: Iterable[str]) -> list[tuple[str, str]]:
    def attempt(location: str) -> tuple[str, str] | None:
        try:
            io.delete(location)
        except Exception as error:  # reported, never raised: a clean-up goes on with the rest
            return (location, str(error))
        return None

    def attempt_all(names: Sequence[str]) -> list[tuple[str, str]]:
        return [failure for failure in map(attempt, names) if failure]

    names = list(locations)
    if len(names) < 2:
        return attempt_all(names)
    size = -(-len(names) // (_DELETE_THREADS * _SHARES))
    shares = [names[start : start + size] for start in range(0, len(names), size)]
    with ThreadPoolExecutor(min(_DELETE_THREADS, len(shares))) as pool:
        return [failure for failures in pool.map(attempt_all, shares) for failure in failures]
