"""A streaming query whose process is killed, again and again: no row is lost, and none is there twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import icesql
from icesql.errors import NotFoundError
from tests.effort import scaled

pytestmark = pytest.mark.spark
PROGRAM = Path(__file__).with_name("stream_program.py")
BATCHES, ROWS = 20, 3


@pytest.fixture
def catalog(tmp_path: Path) -> Any:
    """With a source of twenty appends."""
    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(tmp_path / "warehouse"))
    rows = [pa.table({"id": [ROWS * i + k for k in range(ROWS)]}) for i in range(BATCHES)]
    table = catalog.create_table(("db", "source"), rows[0].schema)
    for part in rows:
        table.append(part)
    return catalog


def start(folder: Path, stop: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), str(folder), stop]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(folder: Path) -> None:
    process = start(folder, "end")
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors[-4000:]


def sink(catalog: Any) -> Any:
    return catalog.load_table(("db", "sink"))


def check(catalog: Any) -> None:
    """Each row once, and one snapshot for each micro-batch, in order."""
    table = sink(catalog)
    assert Counter(table.scan().to_arrow().column("id").to_pylist()) == Counter(range(BATCHES * ROWS))
    summaries = [snapshot.summary for snapshot in table.metadata.snapshots]
    epochs = [int(summary["spark.sql.streaming.epochId"]) for summary in summaries]
    assert epochs == [*range(len(epochs))]
    assert len({summary["spark.sql.streaming.queryId"] for summary in summaries}) == 1


def test_killed_before_and_after_a_commit(catalog: Any, tmp_path: Path) -> None:
    for stop, committed in (("before:4", 3), ("after:5", 8)):
        process = start(tmp_path, stop)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == -signal.SIGKILL, errors[-4000:]
        assert len(sink(catalog).metadata.snapshots) == committed
    finish(tmp_path)
    check(catalog)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_at_any_moment(catalog: Any, tmp_path: Path) -> None:
    """The process is killed some moment after a micro-batch that chance chooses, until no more than one is left."""
    chance, kills = random.Random(), 0
    while kills < scaled(15):
        process = start(tmp_path, "end")
        assert process.stdout is not None
        for _ in range(chance.randint(0, 2)):
            process.stdout.readline()
        try:
            process.communicate(timeout=chance.random() * 2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        kills += 1
        try:
            if len(sink(catalog).metadata.snapshots) >= BATCHES - 1:
                break
        except NotFoundError:  # the sink is made when the query starts
            continue
    assert kills > 0
    finish(tmp_path)
    check(catalog)
