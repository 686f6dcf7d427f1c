"""Health, measures, the settings of the documentation, and several processes on PostgreSQL."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from icesql.server.run import serve
from icesql.server.settings import Settings, read_settings
from tests.postgres import start_postgres, stop_postgres
from tests.server.client import SCHEMA, Server, data_file
from tests.server.process import ROOT, ServerProcess
from tests.server.test_access import act_as, guarded  # noqa: F401 - a fixture
from tests.server.test_group import append


def test_health(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.get("/health").json() == {"status": "ok", "unavailable-catalogs": []}

    def away(*_: Any) -> Any:
        raise OSError("gone")

    monkeypatch.setattr(type(server.service.catalogs["lake"].catalog), "list_namespaces", away)
    answer = server.get("/health")
    assert answer.status_code == 503 and answer.json()["unavailable-catalogs"] == ["lake"]


def test_health_asks_nobody_who_he_is(guarded: Server) -> None:  # noqa: F811
    act_as(guarded, None)
    assert guarded.get("/health").status_code == 200 and guarded.get("/metrics").status_code == 401


def test_measures(server: Server, table: Any) -> None:
    for _ in range(3):
        append(server, table)()
    server.get("/v1/nothing")
    text = server.get("/metrics").text
    assert 'icesql_requests_total{route="POST /v1/{prefix}/namespaces/{namespace}/tables/{table}",status="200"} 3.0' in text
    assert 'icesql_requests_total{route="none",status="404"} 1.0' in text
    assert 'icesql_snapshots_produced_total{catalog="lake"} 3.0' in text and 'icesql_commit_group_size_count{catalog="lake"} 3.0' in text


def test_the_settings_of_the_documentation_are_settings(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "server.md").read_text(), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        (tmp_path / "settings.toml").write_text(block)
        assert read_settings(tmp_path / "settings.toml") != Settings()


def test_several_processes_need_a_database_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert serve(workers=2) == 1 and "not on PostgreSQL: local" in capsys.readouterr().err
    assert serve(workers=0) == 1


# -- several processes -------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    server = start_postgres()
    yield server
    stop_postgres(server)


def serving(folder: Path, uri: str) -> ServerProcess:
    folder.mkdir(exist_ok=True)
    settings = f'[catalogs.lake]\nuri = "{uri}"\nwarehouse = "{folder}/warehouse"\n'
    (folder / "settings.toml").write_text(settings)
    return ServerProcess(folder, ["--config", "settings.toml", "--workers", "2"])


@pytest.mark.slow
def test_processes_share_a_table(tmp_path: Path, postgres: Any) -> None:
    """8 clients on 2 processes: nothing is lost, nothing is there twice, and events come in the order of the commits."""
    with serving(tmp_path / "served", postgres.new_database("workers")) as process:
        httpx.post(f"{process.uri}/v1/namespaces", json={"namespace": ["db"]})
        properties = {"commit.retry.num-retries": "100", "commit.retry.min-wait-ms": "5"}
        made = httpx.post(f"{process.uri}/v1/namespaces/db/tables", json={"name": "t", "schema": SCHEMA, "properties": properties}).json()
        ids: list[int] = []

        def work() -> None:
            for _ in range(10):  # a new connection each time, to either process
                update = {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file(made["metadata"]["location"])]}
                body = {"requirements": [], "updates": [update]}
                answer = httpx.post(f"{process.uri}/v1/namespaces/db/tables/t", json=body, headers={"Prefer": "return=minimal"}, timeout=60)
                assert answer.status_code == 200, answer.text
                ids.append(answer.json()["produced-snapshots"][0]["snapshot-id"])

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        held = httpx.get(f"{process.uri}/v1/namespaces/db/tables/t").json()["metadata"]["snapshots"]
        assert len(ids) == 80 and sorted(ids) == sorted(one["snapshot-id"] for one in held)
        assert [one["sequence-number"] for one in held] == list(range(1, 81))
        events = httpx.get(f"{process.uri}/v1/lake/events?limit=1000").json()["events"]
        assert [one["snapshots"][0]["sequence-number"] for one in events[1:]] == list(range(1, 81))


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them(tmp_path: Path, postgres: Any) -> None:
    process = serving(tmp_path / "served", postgres.new_database("orphans")).start()
    assert process.process is not None
    workers = psutil.Process(process.process.pid).children(recursive=True)
    assert len(workers) >= 2
    process.kill()
    assert psutil.wait_procs(workers, timeout=60)[1] == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{process.uri}/health")
