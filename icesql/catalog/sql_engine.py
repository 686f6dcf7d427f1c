"""Database connections of a ``sql`` catalog: which URIs are accepted, and how SQLite and PostgreSQL are opened."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.spec.properties import whole_number

_BUSY_TIMEOUT, _BUSY_TIMEOUT_MS = "sqlite.busy-timeout-ms", 60_000
_PG_OPTIONS = {"sslmode", "sslrootcert", "sslcert", "sslkey", "options"}
_SUPPORTED = {"sqlite", "postgresql"}


def database_url(uri: str, properties: Mapping[str, str]) -> URL:
    """A SQLAlchemy URL of a SQLAlchemy or JDBC URI (``jdbc:sqlite:/x.db``, ``jdbc:postgresql://host/db?user=u``).

    ``jdbc.user`` and ``jdbc.password`` fill in what the URI leaves out. Raises InvalidArgumentError, UnsupportedError for other databases.
    """
    url = _from_jdbc(uri[len("jdbc:") :], uri) if uri.startswith("jdbc:") else _parse(uri)
    backend = url.get_backend_name()
    if backend not in _SUPPORTED:
        raise UnsupportedError(f"Cannot open catalog database: neither SQLite nor PostgreSQL: {_shown(uri)}")
    if backend == "sqlite":
        return url
    if "@" in (url.host or "") or not 0 < (url.port or 1) < 65536:
        raise _bad_address(uri)
    if url.drivername == "postgresql":  # SQLAlchemy's own default driver is not the one icesql[postgres] installs
        url = url.set(drivername="postgresql+psycopg")
    return url.set(
        username=url.username or properties.get("jdbc.user"),
        password=url.password or properties.get("jdbc.password"),
    )


def _parse(uri: str) -> URL:
    """The library's errors are not shown: they repeat the URI, or a password whose special characters were read as a port."""
    try:
        return make_url(uri)
    except ArgumentError:
        raise InvalidArgumentError(f"Cannot open catalog database: not a database URI: {_shown(uri)}") from None
    except ValueError:
        raise _bad_address(uri) from None


def _shown(uri: str) -> str:
    """The part of a URI that an error may show: its scheme. Where a password is in an unreadable URI is not known."""
    scheme = re.match(r"jdbc:[A-Za-z0-9]+:|[A-Za-z][A-Za-z0-9+.-]*://", uri)
    return "it begins with none of sqlite://, postgresql:// and jdbc:" if scheme is None else f"{scheme.group(0)}..."


def _bad_address(uri: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"Cannot open catalog database: its host or port is not one: {_shown(uri)}. "
        "A port is a number up to 65535; special characters in a user name or password are written as %XX"
    )


def _from_jdbc(rest: str, uri: str) -> URL:
    if rest.startswith("sqlite:"):
        path = rest[len("sqlite:") :]
        if path.startswith("file:"):
            return _parse(f"sqlite:///{path}{'&' if '?' in path else '?'}uri=true")
        return URL.create("sqlite", database=path.partition("?")[0])
    if rest.startswith("postgresql:"):
        return _from_jdbc_postgresql(rest, uri)
    raise UnsupportedError(f"Cannot open catalog database: neither SQLite nor PostgreSQL: {_shown(uri)}")


def _from_jdbc_postgresql(rest: str, uri: str) -> URL:
    try:
        parts = urlsplit(rest if "//" in rest else rest.replace("postgresql:", "postgresql://localhost/", 1))
    except ValueError:
        raise InvalidArgumentError(f"Cannot open catalog database: not a database URI: {_shown(uri)}") from None
    if "," in parts.netloc:
        raise UnsupportedError(f"Cannot open catalog database: several hosts in one URI: {_shown(uri)}")
    try:
        port = parts.port
    except ValueError:
        raise _bad_address(uri) from None
    if "@" in parts.path:  # the rest of a password with a slash in it
        raise _bad_address(uri)
    options = dict(parse_qsl(parts.query))
    user, password = options.pop("user", None), options.pop("password", None)
    known: dict[str, str] = {key: value for key, value in options.items() if key in _PG_OPTIONS}
    return URL.create(
        "postgresql+psycopg",
        username=user,
        password=password,
        host=parts.hostname,
        port=port,
        database=parts.path.lstrip("/") or user,
        query=known,
    )


def database_files(uri: str, properties: Mapping[str, str]) -> list[str]:
    """The file of a SQLite database, and SQLite's files beside it; none for a server."""
    url = database_url(uri, properties)
    if url.get_backend_name() != "sqlite" or not url.database or url.database == ":memory:":
        return []
    path = str(Path(url.database.removeprefix("file:")).absolute())
    return [path, *(path + suffix for suffix in ("-journal", "-wal", "-shm"))]


def open_engine(uri: str, properties: Mapping[str, str]) -> Engine:
    """An engine for the catalog at ``uri``; a SQLite file's folder is made. Raises InvalidArgumentError, UnsupportedError."""
    url = database_url(uri, properties)
    try:
        engine = _sqlite(url, properties) if url.get_backend_name() == "sqlite" else create_engine(url, pool_pre_ping=True)
    except ImportError as error:
        raise UnsupportedError(f"Cannot open catalog database: no driver is installed, pip install 'icesql[postgres]': {error}") from error
    _engines.add(engine)
    return engine


def _sqlite(url: URL, properties: Mapping[str, str]) -> Engine:
    """Writers wait for each other in SQLite's busy handler (``sqlite.busy-timeout-ms``, default one minute)."""
    arguments: dict[str, Any] = {"timeout": _busy_timeout_ms(properties) / 1000}
    database = url.database or ":memory:"
    if database == ":memory:" or "mode=memory" in database or url.query.get("mode") == "memory":
        # one connection is the database; threads take turns
        arguments["check_same_thread"] = False
        return create_engine(url, connect_args=arguments, poolclass=QueuePool, pool_size=1, max_overflow=0)
    if not database.startswith("file:"):
        _make_folder(Path(database).absolute().parent)
    return create_engine(url, connect_args=arguments)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgumentError(
            f"Cannot open catalog database: its folder cannot be made: {error.strerror}: {folder}. "
            "Start where files may be written, or set the catalog's warehouse or uri"
        ) from None


def _busy_timeout_ms(properties: Mapping[str, str]) -> int:
    given = properties.get(_BUSY_TIMEOUT, _BUSY_TIMEOUT_MS)
    try:
        return whole_number(str(given))
    except ValueError:
        raise InvalidArgumentError(f"Cannot open catalog database: {_BUSY_TIMEOUT} is not a number: {given}") from None


_engines: weakref.WeakSet[Engine] = weakref.WeakSet()


def _drop_connections_in_children() -> None:
    """A forked child must not use its parent's connections."""
    for engine in list(_engines):
        engine.dispose(close=False)


if hasattr(os, "register_at_fork"):  # once: a hook can never be taken back, and would keep its engine for ever
    os.register_at_fork(after_in_child=_drop_connections_in_children)
