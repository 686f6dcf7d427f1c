"""Catalogs of servers that nobody here wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from icesql.catalog.loading import load_catalog
from icesql.catalog.rest.catalog import RestCatalog
from tests.rest.proxy import FaultProxy
from tests.rest.reference_server import ReferenceServer, start_server


@pytest.fixture(scope="session")
def rest_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceServer]:
    """Iceberg's own REST server, one for the run; each test finds it empty."""
    server = start_server(tmp_path_factory.mktemp("rest") / "server")
    yield server
    server.stop()


@pytest.fixture
def warehouse(rest_server: ReferenceServer) -> Path:
    return rest_server.emptied()


def open_catalog(uri: str, **properties: str) -> RestCatalog:
    catalog = load_catalog("test", {"type": "rest", "uri": uri, **properties})
    assert isinstance(catalog, RestCatalog)
    return catalog


@pytest.fixture
def catalog(rest_server: ReferenceServer, warehouse: Path) -> Iterator[RestCatalog]:
    opened = open_catalog(rest_server.uri, warehouse=str(warehouse))
    yield opened
    opened.close()


@pytest.fixture
def proxy(rest_server: ReferenceServer, warehouse: Path) -> Iterator[FaultProxy]:
    """A proxy before the server, which does as it is told."""
    running = FaultProxy(rest_server.uri)
    yield running
    running.stop()


@pytest.fixture
def behind(proxy: FaultProxy, warehouse: Path) -> Iterator[RestCatalog]:
    """A catalog that reaches the server through the proxy, and does not wait long."""
    opened = open_catalog(proxy.uri, **{"warehouse": str(warehouse), "rest.client.socket-timeout-ms": "4000"})
    yield opened
    opened.close()
