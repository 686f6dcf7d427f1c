"""A server in this process, over a SQLite catalog of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Settings
from tests.server.client import Server


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(catalogs={"lake": {"warehouse": str(tmp_path / "warehouse")}})


@pytest.fixture
def server(settings: Settings) -> Iterator[Server]:
    service = Service.of(settings, environ={})
    with TestClient(application(service), raise_server_exceptions=False) as client:
        yield Server(client, service)


@pytest.fixture
def table(server: Server) -> Any:
    """``db.t`` (id long, data string), empty."""
    server.post("/v1/namespaces", {"namespace": ["db"]})
    return server.create_table("t")
