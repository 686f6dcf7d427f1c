"""Kills and lost replies within a commit over Iceberg's own server; ``python -m benchmarks.kill_rest`` does two hundred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rest.kills import FILE_POINTS, WIRE_POINTS, run
from tests.rest.reference_server import start_server

pytestmark = pytest.mark.slow


def test_nothing_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    server = start_server(tmp_path / "server")
    try:
        *_, tally = run(server, tmp_path, kills=len(FILE_POINTS) + len(WIRE_POINTS), losses=3, restarts=1)
    finally:
        server.stop()
    assert sum(tally.happened.values()) == 13 and tally.unknown
