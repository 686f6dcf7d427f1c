"""Faults below the product: system calls, FileIO calls, database calls, pointer swaps, the clock. Armed once a step.

A fault strikes before the call is made (it fails), or after (it happened, and the reply is lost). ``late`` is a swap whose COMMIT arrives
after the error. ``meanwhile`` runs another writer's step at the moment a commit or a removal of a name begins.
"""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from icesql.catalog.hadoop_operations import HadoopTableOperations
from icesql.catalog.memory import MemoryStore
from icesql.catalog.names import Identifier
from icesql.catalog.pointers import PointerKind, Swap, SwapUncertainError
from icesql.catalog.rest.catalog import RestCatalog
from icesql.catalog.rest.http import Http, Request
from icesql.catalog.rest.operations import RestTableOperations
from icesql.catalog.rest.replies import NoReplyError, Reply
from icesql.catalog.sql_store import SqlStore
from icesql.catalog.table_operations import MetastoreTableOperations
from icesql.errors import CommitFailedError, IcesqlError
from icesql.io.storage.file_systems import ArrowFileIO

SYSTEM_CALLS = ("link", "replace", "rename", "fsync", "unlink", "open", "mkdir", "rmdir", "stat", "scandir")
FILE_CALLS = ("read", "open_input", "open_output", "write", "exists", "delete", "delete_folder", "list_files", "list_folders", "size")
POINTS = (
    *(f"os.{name}" for name in SYSTEM_CALLS),
    *(f"io.{name}" for name in FILE_CALLS),
    "io.rename",
    "sql.commit",
    "sql.execute",
    "http",
)
DECISIVE = ("sql.commit", "swap", "os.link", "io.rename")
LIKELY = ("os.link", "os.replace", "io.rename", "io.write", "sql.commit", "swap", "swap", "sql.commit", "os.link", "io.delete")


@dataclass(slots=True)
class Fault:
    """Strikes at the ``nth`` call of a point."""

    point: str
    nth: int
    kind: int  # an errno
    after: bool
    late: bool = False
    then: Callable[[], None] | None = None  # what another writer does between the call and the loss of its reply

    def error(self) -> OSError:
        return OSError(self.kind, f"injected {os.strerror(self.kind)}")


class Faults:
    """The switchboard of one process. Outside a step nothing is armed."""

    def __init__(self) -> None:
        self.root = ""
        self.armed: Fault | None = None
        self.struck: list[str] = []
        self.meanwhile: Callable[[], None] | None = None
        self.clock_offset_ns = 0
        self._quiet = 0

    @contextmanager
    def quiet(self) -> Iterator[None]:
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def due(self, point: str) -> Fault | None:
        fault = self.armed
        if fault is None or self._quiet or fault.point != point:
            return None
        fault.nth -= 1
        if fault.nth >= 0:
            return None
        self.armed = None
        self.struck.append(f"{point} {errno.errorcode[fault.kind]} {'after' if fault.after else 'before'}{' late' if fault.late else ''}")
        return fault

    def call(self, point: str, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        fault = self.due(point)
        if fault is None:
            return function(*arguments, **named)
        if fault.after:
            function(*arguments, **named)
            self.between(fault)
        raise fault.error()

    def between(self, fault: Fault) -> None:
        if fault.then is not None:
            fault.then()

    def others(self) -> None:
        """Let another writer in, once a step."""
        step, self.meanwhile = self.meanwhile, None
        if step is not None and not self._quiet:
            step()


FAULTS = Faults()


class FaultyFileIO(ArrowFileIO):
    """The catalog's files; each call passes a point."""

    def rename_without_overwrite(self, source: str, target: str) -> None:
        FAULTS.call("io.rename", super().rename_without_overwrite, source, target)


def _through(name: str) -> Callable[..., Any]:
    real = getattr(ArrowFileIO, name)

    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        if name == "delete_folder":
            FAULTS.others()
        return FAULTS.call(f"io.{name}", real, self, *arguments, **named)

    return call


for _name in FILE_CALLS:
    setattr(FaultyFileIO, _name, _through(_name))


class LateStore(MemoryStore):
    """A database whose COMMIT may arrive late. Until then its row is locked: a settled read cannot answer, another writer waits."""

    def __init__(self) -> None:
        super().__init__()
        self.flight: tuple[PointerKind, Sequence[Swap]] | None = None
        self.lands = True

    def land(self) -> None:
        flight, self.flight = self.flight, None
        if flight is not None and self.lands:
            super().swap(*flight)

    def find(self, kind: PointerKind, identifier: Identifier, *, settled: bool = False) -> str | None:
        if settled and self.flight is not None:
            raise IcesqlError("Cannot read catalog database: lock timeout")
        return super().find(kind, identifier)

    def swap(self, kind: PointerKind, swaps: Sequence[Swap]) -> None:
        self.land()
        fault = FAULTS.due("swap")
        if fault is None:
            super().swap(kind, swaps)
        elif fault.late:
            for one in swaps:
                self._check(kind, one)
            self.flight, self.lands = (kind, swaps), fault.after
            raise SwapUncertainError("the database failed in COMMIT")
        elif fault.after:
            super().swap(kind, swaps)
            FAULTS.between(fault)
            raise SwapUncertainError("the database failed in COMMIT")
        else:
            raise CommitFailedError("Cannot reach catalog database")

    def remove(self, kind: PointerKind, identifier: Identifier, *more: Any, **named: Any) -> bool:
        self.land()
        return super().remove(kind, identifier, *more, **named)

    def rename(self, kind: PointerKind, source: Identifier, target: Identifier) -> None:
        self.land()
        super().rename(kind, source, target)


def _database_error(fault: Fault) -> Exception:
    import sqlite3

    from sqlalchemy.exc import OperationalError

    return OperationalError("", None, sqlite3.OperationalError(f"injected {os.strerror(fault.kind)}"))


def _patches() -> Iterator[Any]:
    from sqlalchemy import Connection

    def system_call(name: str) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(path: Any, *arguments: Any, **named: Any) -> Any:
            if FAULTS.armed is None or not (isinstance(path, int) or str(path).startswith(FAULTS.root)):
                return real(path, *arguments, **named)
            return FAULTS.call(f"os.{name}", real, path, *arguments, **named)

        return call

    for name in SYSTEM_CALLS:
        yield mock.patch.object(os, name, system_call(name))

    def database_call(point: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, *arguments: Any, **named: Any) -> Any:
            fault = FAULTS.due(point)
            if fault is None:
                return real(self, *arguments, **named)
            if fault.after:
                real(self, *arguments, **named)
                FAULTS.between(fault)
            raise _database_error(fault)

        return call

    def request(self: Http, request: Request, auth: Any) -> Reply:
        fault = None if request.verb in ("GET", "HEAD") or request.url.endswith("/metrics") else FAULTS.due("http")
        if fault is None:
            return once(self, request, auth)
        if fault.after:
            once(self, request, auth)
            FAULTS.between(fault)
        raise NoReplyError(f"injected {os.strerror(fault.kind)}", was_sent=True)

    once = Http._once
    yield mock.patch.object(Http, "_once", request)
    yield mock.patch.object(Connection, "commit", database_call("sql.commit", Connection.commit))
    yield mock.patch.object(Connection, "execute", database_call("sql.execute", Connection.execute))

    def others_first(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            FAULTS.others()
            return real(*arguments, **named)

        return call

    moments: tuple[tuple[Any, str], ...] = (
        (MetastoreTableOperations, "commit"), (HadoopTableOperations, "commit"), (SqlStore, "remove"), (LateStore, "remove"),
        (RestTableOperations, "commit"), (RestCatalog, "drop_table"),
    )  # fmt: skip
    for owner, name in moments:
        yield mock.patch.object(owner, name, others_first(getattr(owner, name)))
    real_ns, real_time = time.time_ns, time.time
    yield mock.patch.object(time, "time_ns", lambda: real_ns() + FAULTS.clock_offset_ns)
    yield mock.patch.object(time, "time", lambda: real_time() + FAULTS.clock_offset_ns / 1e9)
    yield mock.patch.object(time, "sleep", lambda seconds: None)


class OneAfterAnother(Executor):
    """In place of thread pools: tiny tables gain nothing from threads, and a history must do the same each time."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


def _thread_pools() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if name.startswith("icesql.") and getattr(module, "ThreadPoolExecutor", None) is ThreadPoolExecutor:
            yield mock.patch.object(module, "ThreadPoolExecutor", OneAfterAnother)


@contextmanager
def installed(root: str) -> Iterator[Faults]:
    """The patches in place, for files below ``root``."""
    patches = [*_patches(), *_thread_pools()]
    FAULTS.root = root
    for patch in patches:
        patch.start()
    try:
        yield FAULTS
    finally:
        for patch in reversed(patches):
            patch.stop()
        FAULTS.armed, FAULTS.meanwhile, FAULTS.clock_offset_ns = None, None, 0


def drawn_fault(draw: Callable[[int], int], kind: str) -> Fault:
    """A fault for a catalog of this kind; the points at which outcomes are decided are the likelier ones."""
    points = LIKELY if draw(3) else POINTS
    decisive: Mapping[str, str] = {"sql": "sql.commit", "hadoop": "os.link", "memory": "swap", "rest": "http", "reference": "http"}
    point = decisive[kind] if draw(4) == 0 else points[draw(len(points))]
    after = bool(draw(2))
    number = (errno.EIO, errno.ENOSPC, errno.EEXIST)[draw(3 if point in ("os.link", "io.rename") and after else 2)]
    few = point in ("http", "sql.commit", "swap", "os.link", "io.rename", "os.replace")
    return Fault(point, draw(3 if few else 12), number, after, late=point == "swap" and draw(3) == 0)
