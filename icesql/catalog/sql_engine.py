"""Database connections of a ``sql`` catalog: which URIs are understood, and how SQLite and PostgreSQL are opened."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sqlalchemy import URL, Engine, create_engine, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import QueuePool

from icesql.errors import InvalidArgumentError, UnsupportedError

_BUSY_TIMEOUT_MS = 60_000
_PG_OPTIONS = {"sslmode", "sslrootcert", "sslcert", "sslkey", "options"}
_SUPPORTED = {"sqlite", "postgresql"}


def database_url(uri: str, properties: Mapping[str, str]) -> URL:
    """A SQLAlchemy URL of a SQLAlchemy or JDBC URI (``jdbc:sqlite:/x.db``, ``jdbc:postgresql://host/db?user=u``).

    ``jdbc.user`` and ``jdbc.password`` fill in what the URI leaves out. Raises InvalidArgumentError, UnsupportedError for other databases.
    """
    url = _from_jdbc(uri[len("jdbc:") :], uri) if uri.startswith("jdbc:") else _parse(uri)
    backend = url.get_backend_name()
    if backend not in _SUPPORTED:
        raise UnsupportedError(f"Cannot open catalog database: neither SQLite nor PostgreSQL: {url.render_as_string()}")
    if backend == "sqlite":
        return url
    if url.drivername == "postgresql":  # SQLAlchemy's own default driver is not the one icesql[postgres] installs
        url = url.set(drivername="postgresql+psycopg")
    return url.set(
        username=url.username or properties.get("jdbc.user"),
        password=url.password or properties.get("jdbc.password"),
    )


def _parse(uri: str) -> URL:
    try:
        return make_url(uri)
    except ArgumentError as error:
        raise InvalidArgumentError(f"Cannot open catalog database: not a database URI: {uri}") from error


def _from_jdbc(rest: str, uri: str) -> URL:
    if rest.startswith("sqlite:"):
        path = rest[len("sqlite:") :]
        if path.startswith("file:"):
            return _parse(f"sqlite:///{path}{'&' if '?' in path else '?'}uri=true")
        return URL.create("sqlite", database=path.partition("?")[0])
    if rest.startswith("postgresql:"):
        return _from_jdbc_postgresql(rest, uri)
    raise UnsupportedError(f"Cannot open catalog database: neither SQLite nor PostgreSQL: {uri}")


def _from_jdbc_postgresql(rest: str, uri: str) -> URL:
    parts = urlsplit(rest if "//" in rest else rest.replace("postgresql:", "postgresql://localhost/", 1))
    if "," in parts.netloc:
        raise UnsupportedError(f"Cannot open catalog database: several hosts in one URI: {uri}")
    options = dict(parse_qsl(parts.query))
    user, password = options.pop("user", None), options.pop("password", None)
    known: dict[str, str] = {key: value for key, value in options.items() if key in _PG_OPTIONS}
    return URL.create(
        "postgresql+psycopg",
        username=user,
        password=password,
        host=parts.hostname,
        port=parts.port,
        database=parts.path.lstrip("/") or user,
        query=known,
    )


def database_files(uri: str, properties: Mapping[str, str]) -> list[str]:
    """The file of a SQLite database, and those that SQLite keeps beside it; none of a server."""
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
    _drop_connections_in_children(engine)
    return engine


def _sqlite(url: URL, properties: Mapping[str, str]) -> Engine:
    """Writers wait for each other in SQLite's busy handler (``sqlite.busy-timeout-ms``, default one minute)."""
    arguments: dict[str, Any] = {"timeout": int(properties.get("sqlite.busy-timeout-ms", _BUSY_TIMEOUT_MS)) / 1000}
    database = url.database or ":memory:"
    if database == ":memory:" or "mode=memory" in database or url.query.get("mode") == "memory":
        # one connection is the database; threads take turns
        arguments["check_same_thread"] = False
        return create_engine(url, connect_args=arguments, poolclass=QueuePool, pool_size=1, max_overflow=0)
    if not database.startswith("file:"):
        Path(database).absolute().parent.mkdir(parents=True, exist_ok=True)
    return create_engine(url, connect_args=arguments)


def _drop_connections_in_children(engine: Engine) -> None:
    """A forked child must not speak on its parent's connections."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: engine.dispose(close=False))
