"""One catalog of every kind. PostgreSQL is a real server, started once a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from tests.postgres import PostgresServer, start_postgres, stop_postgres
from tests.rest.reference_server import ReferenceServer, start_server

KINDS = ["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow), "hadoop"]
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    stop_postgres(server)


@pytest.fixture(scope="session")
def rest_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceServer]:
    """Iceberg's own REST server, one for the run; each test finds it empty."""
    server = start_server(tmp_path_factory.mktemp("rest") / "server")
    yield server
    server.stop()


def catalog_properties(kind: str, folder: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """What ``load_catalog`` needs for a fresh catalog of this kind."""
    warehouse = str(folder / "warehouse")
    match kind:
        case "sqlite":
            return {"type": "sql", "uri": f"sqlite:///{folder / 'catalog.db'}", "warehouse": warehouse}
        case "postgres":
            server: PostgresServer = request.getfixturevalue("postgres")
            return {"type": "sql", "uri": server.new_database(f"test_{next(_numbers)}"), "warehouse": warehouse}
        case "rest":
            running: ReferenceServer = request.getfixturevalue("rest_server")
            return {"type": "rest", "uri": running.uri, "warehouse": str(running.emptied())}
    return {"type": kind, "warehouse": warehouse}


@pytest.fixture(params=KINDS)
def catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    opened = load_catalog("test", catalog_properties(request.param, tmp_path, request))
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def metastore(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """Catalogs of pointers: with properties of namespaces, renames and views."""
    opened = load_catalog("test", catalog_properties(request.param, tmp_path, request))
    yield opened
    opened.close()


@pytest.fixture(params=[*KINDS, pytest.param("rest", marks=pytest.mark.slow)])
def any_catalog(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """As ``catalog``, and a server's."""
    opened = load_catalog("test", catalog_properties(request.param, tmp_path, request))
    yield opened
    opened.close()


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgres", marks=pytest.mark.slow), pytest.param("rest", marks=pytest.mark.slow)])
def any_metastore(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Catalog]:
    """As ``metastore``, and a server's."""
    opened = load_catalog("test", catalog_properties(request.param, tmp_path, request))
    yield opened
    opened.close()
