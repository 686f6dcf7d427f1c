"""Processes that die at a named point of a commit: wrappers around the files and the database, nothing in the product.

A point is ``before-X`` or ``after-X`` of data, manifest, list, metadata, swap, cleanup; and ``in-swap``, between its two halves:
the UPDATE and the COMMIT of a database, the link and the unlink of a file system.
"""

from __future__ import annotations

import io
import itertools
import os
import re
import signal
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.catalog.metastore import MetastoreCatalog
from icesql.io.storage import local_files
from icesql.io.storage.file_systems import ArrowFileIO

STEPS = ("data", "manifest", "list", "metadata", "swap", "cleanup")
POINTS = (*(f"{when}-{step}" for step in STEPS for when in ("before", "after")), "in-swap")

_KINDS = (
    ("data", re.compile(r"/data/")),
    ("list", re.compile(r"/metadata/snap-[^/]*\.avro$")),
    ("manifest", re.compile(r"/metadata/[^/]*-m\d+\.avro$")),
    ("metadata", re.compile(r"/metadata/[^/]*metadata\.json$")),
)
Strike = Callable[[str], None]


def striking(point: str, passes: int) -> Strike:
    """Kills this process, as ``kill -9`` does, when ``point`` is passed for the ``passes``-th time."""
    seen = 0

    def strike(here: str) -> None:
        nonlocal seen
        if here == point:
            seen += 1
            if seen == passes:
                os.kill(os.getpid(), signal.SIGKILL)

    return strike


def striking_at(event: int) -> Strike:
    """Kills this process at the ``event``-th point passed, whichever it is; 0 never does. ``strike.passed()`` counts."""
    passed = itertools.count(1)

    def strike(here: str) -> None:
        if next(passed) == event:
            os.kill(os.getpid(), signal.SIGKILL)

    strike.passed = lambda: next(passed) - 1
    return strike


def step_of(location: str) -> str:
    return next((step for step, pattern in _KINDS if pattern.search(location)), "other")


class StrikingFileIO(ArrowFileIO):
    """Files whose writes, renames and deletes pass points."""

    def __init__(self, strike: Strike, properties: Mapping[str, str] | None = None) -> None:
        super().__init__(properties)
        self._strike = strike

    def write(self, location: str, data: bytes, *, overwrite: bool = True) -> None:
        step = step_of(location)
        self._strike(f"before-{step}")
        super().write(location, data, overwrite=overwrite)
        self._strike(f"after-{step}")

    def open_output(self, location: str) -> BinaryIO:
        step = step_of(location)
        self._strike(f"before-{step}")
        return cast(BinaryIO, _StrikingStream(super().open_output(location), self._strike, step))

    def rename_without_overwrite(self, source: str, target: str) -> None:
        self._strike("before-swap")
        super().rename_without_overwrite(source, target)
        self._strike("after-swap")

    def delete(self, location: str) -> None:
        step = "cleanup" if step_of(location) == "metadata" else "delete"
        self._strike(f"before-{step}")
        super().delete(location)
        self._strike(f"after-{step}")

    def delete_if(self, location: str, is_the_one: Callable[[bytes], bool]) -> bool:
        self._strike("before-cleanup")
        removed = super().delete_if(location, is_the_one)
        self._strike("after-cleanup")
        return removed


class _StrikingStream(io.RawIOBase):
    """A stream that passes a point once its file is whole."""

    def __init__(self, stream: BinaryIO, strike: Strike, step: str) -> None:
        self._stream, self._strike, self._step = stream, strike, step

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(data)
        return len(data)

    def tell(self) -> int:
        return self._stream.tell()

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._stream.close()
            self._strike(f"after-{self._step}")


def striking_catalog(properties: Mapping[str, str], strike: Strike) -> Catalog:
    """A catalog all of whose commits pass the points."""
    catalog = load_catalog("test", properties)
    catalog.io = StrikingFileIO(strike, properties)
    if isinstance(catalog, MetastoreCatalog):
        strike_in_store(catalog, strike)
    else:
        _strike_in_link(strike)
    return catalog


def strike_in_store(catalog: MetastoreCatalog, strike: Strike) -> None:
    """Swaps in the catalog's database pass points."""
    from sqlalchemy import event

    store: Any = catalog.store
    swap = store.swap

    def struck(*arguments: Any) -> None:
        strike("before-swap")
        swap(*arguments)
        strike("after-swap")

    store.swap = struck
    event.listen(store._open()[0], "commit", lambda connection: strike("in-swap"))


def _strike_in_link(strike: Strike) -> None:
    give_name = local_files.give_name

    def struck(source: str, target: str, location: str) -> None:
        give_name(source, target, location)
        if step_of(location) == "metadata":
            strike("in-swap")

    local_files.give_name = struck
