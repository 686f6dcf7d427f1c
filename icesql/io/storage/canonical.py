"""One canonical spelling for each location, compared before a file may be removed or a folder be given to a table.

The canonical form is ``scheme:/path`` or ``scheme://authority/path``, with single slashes, without ``.`` and ``..``, with lower-case
schemes (one for each store) and hosts, ``file:`` for local paths, and symbolic links resolved. Nothing is percent-decoded in it, because no
location is when a file is opened; ``decoded`` gives the form that a less careful program would use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from icesql.errors import IcesqlError
from icesql.io.storage.locations import is_location, local_path, scheme_of

_ONE_STORE = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasbs": "wasb"}
_HOSTS = frozenset({"s3", "gs", "abfs", "wasb", "hdfs", "viewfs"})  # elsewhere what stands after // may be a folder


class Canonical:
    """Canonical forms of many locations, with folders cached, so that a file costs little. One instance serves one check."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {"/": "/"}

    def folder(self, location: str) -> str | None:
        """The canonical form, links followed to the end; ``None`` for what is no absolute location."""
        return self._form(location, self._real_folder)

    def file(self, location: str) -> str | None:
        """As ``folder``, but a link at the end is not followed: removing it would not touch its target."""
        return self._form(location, self._real_file)

    def _form(self, location: str, real: Callable[[str], str]) -> str | None:
        if not is_location(location):
            return None
        try:
            return "file:" + real(local_path(location)) if scheme_of(location) == "file" else _store_form(location)
        except IcesqlError:
            return None

    def _real_folder(self, path: str) -> str:
        path = path.rstrip("/") or "/"
        known = self._real.get(path)
        if known is None:
            parent, _, name = path.rpartition("/")
            if not name or name in (".", "..") or "//" in path or os.path.islink(path):
                known = os.path.realpath(path)
                known = "/" + known.lstrip("/")
            else:
                known = f"{self._real_folder(parent or '/').rstrip('/')}/{name}"
            self._real[path] = known
        return known

    def _real_file(self, path: str) -> str:
        parent, _, name = path.rpartition("/")
        if not name or name in (".", ".."):
            return self._real_folder(path)
        return f"{self._real_folder(parent or '/').rstrip('/')}/{name}"


def _store_form(location: str) -> str | None:
    scheme, colon, rest = location.partition("://")
    if not colon or not rest.strip("/"):
        return None
    scheme = scheme.lower()
    scheme = _ONE_STORE.get(scheme, scheme)
    authority, _, path = rest.partition("/")
    return f"{scheme}://{authority.lower() if scheme in _HOSTS else authority}/{_plain(path)}"


def _plain(path: str) -> str:
    """Without empty segments and ``.``, each ``..`` taking the segment before it."""
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in ("", "."):
            kept.append(part)
    return "/".join(kept)


def decoded(canonical: str) -> str:
    """A canonical form with percent-encoding undone, however often it was done, and the authority in lower case."""
    if canonical.startswith("file:") and "%" not in canonical:
        return canonical
    text = canonical
    for _ in range(3):
        text = unquote(text)
    head, colon, path = text.partition(":/")
    if not path.startswith("/"):
        return f"{head}{colon}{_plain(path)}"
    authority, _, rest = path[1:].partition("/")
    return f"{head}://{authority.lower()}/{_plain(rest)}"


def climbs(location: str) -> bool:
    """Whether a segment of a store's location is ``.`` or ``..``, which some stores resolve and others take for a name."""
    return scheme_of(location) != "file" and not {".", ".."}.isdisjoint(location.split("/"))


def is_below(canonical: str, folder: str) -> bool:
    """Whether a canonical form names something in a folder; nothing is below itself."""
    return canonical.startswith(folder if folder.endswith("/") else f"{folder}/") and canonical != folder


def overlap(one: str, other: str) -> bool:
    """Whether two canonical folders are one, or one lies in the other."""
    return one == other or is_below(one, other) or is_below(other, one)


def depth(canonical: str) -> int:
    """The number of folders above it: 0 for a root, of a disk or a bucket."""
    path = canonical.partition(":/")[2]
    if path.startswith("/"):
        path = path[1:].partition("/")[2]
    return len([part for part in path.split("/") if part])


def folders_above(canonical: str) -> Iterator[str]:
    """The folders above it, nearest first, without the root."""
    folder = canonical
    while depth(folder) > 1:
        folder = folder.rpartition("/")[0]
        yield folder
