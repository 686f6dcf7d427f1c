"""Many commits leave metadata of a bounded size, and in the end no files that nobody reads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Commits, Settings
from tests.server.client import Server, data_file
from tests.server.test_group import files_left, reachable


def append(server: Server, table: Any, **parts: Any) -> int:
    answer = server.produce("append", add_data_files=[data_file(table["metadata"]["location"])], **parts)
    assert answer.status_code == 200, answer.text
    return answer.json()["produced-snapshots"][0]["snapshot-id"]


@pytest.mark.parametrize("collects", [True, False])
def test_the_oldest_snapshots_leave(settings: Settings, collects: bool) -> None:
    few = msgspec.structs.replace(settings, commits=Commits(max_snapshots=10, clean_after_seconds=0))
    service = Service.of(few, environ={})
    with TestClient(application(service)) as client:
        server = Server(client, service)
        server.post("/v1/namespaces", {"namespace": ["db"]})
        table = server.create_table("t", properties={"gc.enabled": str(collects).lower()})
        tagged = append(server, table)
        server.commit([{"action": "set-snapshot-ref", "ref-name": "kept", "type": "tag", "snapshot-id": tagged}])
        staged = append(server, table, stage_only=True)
        ids = [append(server, table) for _ in range(40)]
        metadata = server.load()["metadata"]
        held = [one["snapshot-id"] for one in metadata["snapshots"]]
        assert {tagged, staged, *ids[-10:]} <= set(held)
        if not collects:
            assert len(held) == 42
            return
        assert len(held) <= 17 and [one for one in held if one in ids] == ids[-(len(held) - 2) :]
        assert metadata["snapshots"][-1]["summary"]["total-data-files"] == "41"
        deadline = time.monotonic() + 20
        while files_left(table) - metadata_files(table) != reachable(server) - metadata_files(table) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert files_left(table) - metadata_files(table) == reachable(server) - metadata_files(table)
        rows = service.catalogs["lake"].catalog.load_table("db.t").scan().plan_files()
        assert len(rows.paths) == 41


def metadata_files(table: Any) -> set[str]:
    return {path.name for path in Path(table["metadata-location"]).parent.glob("*.metadata.json")}
