"""What a location's store lets one do, proved with one object that is removed again; each step with its time."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from icesql.errors import AlreadyExistsError, IcesqlError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.storage.locations import scheme_of
from icesql.io.stores.object_files import OBJECT_SCHEMES

_CONTENT = b"icesql doctor\n" * 64


@dataclass(frozen=True, slots=True)
class Check:
    """``outcome``: what was found, or the error. ``ms`` is ``None`` for what took no request."""

    step: str
    is_ok: bool
    outcome: str
    ms: float | None = None


def check_location(io: ArrowFileIO, location: str) -> Iterator[Check]:
    """Credentials, then write, read, conditional put, list and delete of an object of its own below the location."""
    folder = location.rstrip("/")
    described = _described(io, folder)
    yield described
    if not described.is_ok:
        return
    name = f"{folder}/.icesql-doctor-{uuid.uuid4().hex}"
    wrote = _timed("write", lambda: _write(io, name))
    yield wrote
    if not wrote.is_ok:
        return
    try:
        yield _timed("read", lambda: _read(io, name))
        yield _timed("conditional put", lambda: _conditional_put(io, name))
        yield _timed("list", lambda: _list(io, folder, name))
    finally:
        yield _timed("delete", lambda: _delete(io, name))


def _described(io: ArrowFileIO, location: str) -> Check:
    scheme = scheme_of(location)
    if scheme not in OBJECT_SCHEMES:
        return Check("store", True, "this machine's files" if scheme == "file" else scheme)
    try:
        client, _ = io.objects.client(location)
    except IcesqlError as error:
        return Check("store", False, str(error))
    settings = client.settings
    config = dict(settings.config)
    keys = {"access_key_id": "access key", "account_name": "account"}
    named = [f"{noun} {masked(str(config[key]))}" for key, noun in keys.items() if key in config]
    where = [f"{key} {config[key]}" for key in ("endpoint", "base_url", "region") if key in config]
    credentials = f"credentials: {settings.credentials}{''.join(f', {text}' for text in named)}"
    return Check("store", True, "; ".join([f"{settings.kind} {settings.container}", *where, credentials]))


def masked(text: str) -> str:
    """The first and last letters of a key."""
    return f"{text[:2]}...{text[-2:]}" if len(text) > 6 else "..."


def _timed(step: str, attempt: Callable[[], str]) -> Check:
    begun = time.perf_counter()
    try:
        outcome, is_ok = attempt(), True
    except (IcesqlError, OSError) as error:
        outcome, is_ok = str(error), False
    return Check(step, is_ok, outcome, (time.perf_counter() - begun) * 1000)


def _write(io: ArrowFileIO, name: str) -> str:
    io.write(name, _CONTENT)
    return f"{len(_CONTENT)} bytes"


def _read(io: ArrowFileIO, name: str) -> str:
    if io.read(name) != _CONTENT:
        raise OSError(f"Cannot read {name}: other bytes came back than were written")
    return f"{len(_CONTENT)} bytes"


def _conditional_put(io: ArrowFileIO, name: str) -> str:
    try:
        io.write(name, b"", overwrite=False)
    except AlreadyExistsError:
        return "the second writer of a name is refused: hadoop catalogs are safe here"
    raise OSError("the store takes a second writer of one name: hadoop catalogs are refused here, use a catalog of type sql or rest")


def _list(io: ArrowFileIO, folder: str, name: str) -> str:
    if all(info.location != name for info in io.list_files(folder, recursive=False)):
        raise OSError(f"Cannot list {folder}: the object just written is not in it")
    return "the object is in it"


def _delete(io: ArrowFileIO, name: str) -> str:
    io.delete(name)
    if io.exists(name):
        raise OSError(f"Cannot delete {name}: it is still there")
    return "the object is gone"
