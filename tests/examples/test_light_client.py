"""The light clients of ``examples/light_client``: each writes or takes a Parquet file and appends it with one POST."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icesql.catalog.loading import load_catalog
from tests.server.process import ROOT, ServerProcess

pytestmark = pytest.mark.slow
CLIENTS = ROOT / "examples" / "light_client"
SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "required": False, "type": "long"},
        {"id": 2, "name": "name", "required": False, "type": "string"},
    ],
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("served")) as process:
        httpx.post(f"{process.uri}/v1/namespaces", json={"namespace": ["db"]}).raise_for_status()
        yield process


def run(running: ServerProcess, table: str, command: list[str], folder: Path, *more: str) -> list[tuple[int, str]]:
    """Make the table, run the client on it; the rows that the table then has."""
    httpx.post(f"{running.uri}/v1/namespaces/db/tables", json={"name": table, "schema": SCHEMA}).raise_for_status()
    done = subprocess.run([*command, running.uri, "db", table, *more], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    held = load_catalog("local", {"warehouse": str(running.folder / "warehouse")}).load_table(f"db.{table}")
    assert int(done.stdout.split()[-1]) == held.metadata.current_snapshot_id
    return sorted((row["id"], row["name"]) for row in held.scan().to_arrow().to_pylist())


def test_python(running: ServerProcess) -> None:
    assert run(running, "python", [sys.executable, "append.py"], CLIENTS) == [(1, "one"), (2, "two"), (3, "three")]
    text = (CLIENTS / "append.py").read_text()
    assert len(text.splitlines()) <= 50 and "icesql" not in text


def test_curl_and_jq(running: ServerProcess, tmp_path: Path) -> None:
    fields = [
        pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"}),
        pa.field("name", pa.string(), metadata={"PARQUET:field_id": "2"}),
    ]
    pq.write_table(pa.table([pa.array([8], pa.int64()), ["eight"]], schema=pa.schema(fields)), tmp_path / "rows.parquet")
    assert run(running, "curl", ["sh", "append.sh"], CLIENTS, str(tmp_path / "rows.parquet"), "1") == [(8, "eight")]


def test_node(running: ServerProcess, tmp_path: Path) -> None:
    folder = tmp_path / "node"
    shutil.copytree(CLIENTS / "node", folder, ignore=shutil.ignore_patterns("node_modules"))
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True, timeout=300)
    assert run(running, "node", ["node", "append.mjs"], folder) == [(4, "four"), (5, "five")]


def test_go(running: ServerProcess, tmp_path: Path) -> None:
    built = tmp_path / "append"
    subprocess.run(
        ["go", "build", "-o", str(built), "."], cwd=CLIENTS / "go", check=True, timeout=500, env={**os.environ, "GOFLAGS": "-mod=readonly"}
    )
    assert run(running, "go", [str(built)], tmp_path) == [(6, "six"), (7, "seven")]
