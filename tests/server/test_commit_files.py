"""``icesql.commit_files``: one request, with metrics from the files themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import icesql
from icesql.catalog.loading import load_catalog
from icesql.errors import CommitStateUnknownError, IcesqlError, NotFoundError, UnsupportedError, ValidationError
from tests.server.client import BY_ID, SCHEMA, written_file
from tests.server.process import ServerProcess, free_port

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("served")) as process:
        httpx.post(f"{process.uri}/v1/namespaces", json={"namespace": ["db"]}).raise_for_status()
        yield process


def create(running: ServerProcess, name: str, **body: Any) -> str:
    """The table's location."""
    answer = httpx.post(f"{running.uri}/v1/namespaces/db/tables", json={"name": name, "schema": SCHEMA, **body})
    return answer.raise_for_status().json()["metadata"]["location"]


def test_files_are_appended(running: ServerProcess) -> None:
    location = create(running, "t")
    files = [written_file(location, [1, 2])["file-path"], written_file(location, [3])["file-path"]]
    snapshot_id = icesql.commit_files(running.uri, "db.t", files, summary={"job": "7"}, warehouse="local")
    table = load_catalog("local", {"warehouse": str(running.folder / "warehouse")}).load_table("db.t")
    assert table.metadata.current_snapshot_id == snapshot_id and table.metadata.snapshot(snapshot_id).summary["job"] == "7"
    assert sorted(table.scan().to_arrow().column("id").to_pylist()) == [1, 2, 3]


def test_partition_values_are_read(running: ServerProcess) -> None:
    location = create(running, "p", **{"partition-spec": BY_ID})
    icesql.commit_files(running.uri, ("db", "p"), [written_file(location, [5, 5])["file-path"]])
    table = load_catalog("local", {"warehouse": str(running.folder / "warehouse")}).load_table("db.p")
    assert table.metadata.current_snapshot.summary["changed-partition-count"] == "1"


def test_what_is_refused(running: ServerProcess) -> None:
    location = create(running, "r")
    with pytest.raises(NotFoundError):
        icesql.commit_files(running.uri, "db.none", [])
    with pytest.raises(NotFoundError):
        icesql.commit_files(running.uri, "db.r", [f"{location}/data/none.parquet"])
    with pytest.raises(ValidationError, match="outside"):
        icesql.commit_files(running.uri, "db.r", [written_file(f"{location}2", [1])["file-path"]])
    with pytest.raises(IcesqlError, match="Cannot reach"):
        icesql.commit_files(f"http://127.0.0.1:{free_port()}", "db.r", [])


def test_other_servers_are_told_apart(running: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    from icesql.catalog import commit_files

    monkeypatch.setattr(commit_files._Server, "ask", lambda *_: {"defaults": {}, "overrides": {}})
    with pytest.raises(UnsupportedError):
        icesql.commit_files(running.uri, "db.t", [])


def test_a_lost_answer(running: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for again, and nothing is appended twice; where it never comes nobody knows."""
    from icesql.catalog import commit_files

    location = create(running, "l")
    real, left = commit_files.urllib.request.urlopen, [1]

    def lossy(request: Any, **options: Any) -> Any:
        answer = real(request, **options)
        if request.method == "POST" and left[0]:
            left[0] -= 1
            raise ConnectionResetError("lost")
        return answer

    monkeypatch.setattr(commit_files.urllib.request, "urlopen", lossy)
    snapshot_id = icesql.commit_files(running.uri, "db.l", [written_file(location, [1])["file-path"]])
    held = httpx.get(f"{running.uri}/v1/namespaces/db/tables/l").json()["metadata"]
    assert [one["snapshot-id"] for one in held["snapshots"]] == [snapshot_id]
    left[0] = 9
    with pytest.raises(CommitStateUnknownError):
        icesql.commit_files(running.uri, "db.l", [written_file(location, [2])["file-path"]])
