"""Streaming queries: the runtime and icesql are source and sink by turns, of the same tables and from the same checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import icesql
from tests.interop import streams
from tests.interop.conftest import Shared

pytestmark = [pytest.mark.spark, pytest.mark.interop]
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
Run = Callable[..., Any]


@pytest.fixture
def enabled(shared: Shared) -> Iterator[Any]:
    spark = shared.session.spark
    icesql.enable(spark, {"local": {"type": "hadoop", "warehouse": shared.oracle.warehouse}})
    yield spark
    icesql.disable(spark)


@pytest.fixture
def runs(shared: Shared, enabled: Any) -> dict[str, Run]:
    def ours(*arguments: Any) -> Any:
        return streams.run(enabled, *arguments)

    def theirs(*arguments: Any) -> Any:
        return shared.call("tests.interop.streams:run", *arguments)

    return {"icesql": ours, "runtime": theirs}


def make(shared: Shared, name: str, appends: int = 0) -> Any:
    table = shared.catalog.create_table(("interop", name), SCHEMA)
    for i in range(appends):
        add(table, i)
    return table


def add(table: Any, number: int) -> None:
    """Two rows: ids 2n and 2n + 1."""
    table.append(pa.table({"id": [2 * number, 2 * number + 1], "name": [f"n{number % 3}", None]}, schema=SCHEMA))


def ids(shared: Shared, name: str) -> list[int]:
    found: list[int] = sorted(shared.light(name).column("id").to_pylist())
    return found


def test_a_chain_of_both(shared: Shared, runs: dict[str, Run], tmp_path: Path) -> None:
    """What one writes as a stream, the other reads as one."""
    make(shared, "chain0", 4)
    for i, who in enumerate(("icesql", "runtime", "icesql", "runtime")):
        make(shared, f"chain{i + 1}")
        runs[who](f"local.interop.chain{i}", f"local.interop.chain{i + 1}", str(tmp_path / str(i)), {})
    assert all(ids(shared, f"chain{i}") == list(range(8)) for i in range(5))
    for i in (1, 2, 3, 4):
        rows = shared.oracle.rows(f"SELECT id, name FROM local.interop.chain{i} ORDER BY id")
        assert rows == shared.oracle.rows("SELECT id, name FROM local.interop.chain0 ORDER BY id")


@pytest.mark.parametrize("options", [{}, {"streaming-max-files-per-micro-batch": "2"}, {"streaming-max-rows-per-micro-batch": "3"}])
def test_one_query_in_turns(shared: Shared, runs: dict[str, Run], tmp_path: Path, options: dict[str, str]) -> None:
    """A checkpoint that one has left is gone on from by the other: every row is there once, and batches are counted on."""
    name = f"turns{len(options)}{''.join(options)[14:18]}".replace("-", "_")
    source = make(shared, name)
    make(shared, f"{name}_sink")
    checkpoint = str(tmp_path / "checkpoint")
    number = 0
    for who in ("icesql", "runtime", "icesql", "icesql", "runtime", "runtime", "icesql"):
        for _ in range(3):
            add(source.refresh(), number)
            number += 1
        runs[who](f"local.interop.{name}", f"local.interop.{name}_sink", checkpoint, options)
        assert ids(shared, f"{name}_sink") == list(range(2 * number)), who
    summaries = [snapshot.summary for snapshot in shared.load(f"{name}_sink").metadata.snapshots]
    assert len({summary["spark.sql.streaming.queryId"] for summary in summaries}) == 1
    epochs = [int(summary["spark.sql.streaming.epochId"]) for summary in summaries]
    assert epochs == sorted(set(epochs))


@pytest.mark.parametrize("options", [{"streaming-max-files-per-micro-batch": "2"}, {"streaming-max-rows-per-micro-batch": "3"}])
def test_the_same_micro_batches(shared: Shared, runs: dict[str, Run], tmp_path: Path, options: dict[str, str]) -> None:
    """Limits cut the same micro-batches out of a table."""
    name = "limited_" + next(iter(options)).split("-")[2]
    make(shared, name, 5)
    found = {}
    for who, run in runs.items():
        make(shared, f"{name}_{who}")
        found[who] = run(f"local.interop.{name}", f"local.interop.{name}_{who}", str(tmp_path / who), options)
    assert found["icesql"] == found["runtime"]
    assert [batch["rows"] for batch in found["icesql"]] == [4, 4, 2]


def test_from_a_time_on(shared: Shared, runs: dict[str, Run], tmp_path: Path) -> None:
    source = make(shared, "since", 4)
    third = source.refresh().metadata.snapshots[2].timestamp_ms
    for since, wanted in ((third, [4, 5, 6, 7]), (third - 1, [4, 5, 6, 7]), (0, list(range(8))), (third + 10**9, [])):
        for who, run in runs.items():
            sink = f"since_{who}_{since}"
            make(shared, sink)
            run("local.interop.since", f"local.interop.{sink}", str(tmp_path / sink), {"stream-from-timestamp": str(since)})
            assert ids(shared, sink) == wanted, (who, since)


@pytest.mark.parametrize("operation", ["delete", "overwrite"])
def test_what_is_no_append(shared: Shared, enabled: Any, runs: dict[str, Run], tmp_path: Path, operation: str) -> None:
    """Deletes and overwrites stop a stream in the same words, unless it is told to skip them."""
    name = f"changed_{operation}"
    source = make(shared, name, 3)
    if operation == "delete":
        source.refresh().delete()
    else:
        source.refresh().overwrite(pa.table({"id": [100], "name": ["new"]}, schema=SCHEMA), "id = 3")
    assert source.refresh().metadata.current_snapshot.operation == operation
    add(source.refresh(), 3)
    refusals = []
    for who in ("icesql", "runtime"):
        make(shared, f"{name}_refused_{who}")
        asked: tuple[Any, ...] = (f"local.interop.{name}", f"local.interop.{name}_refused_{who}", str(tmp_path / f"refused {who}"), {})
        text = streams.refusal(enabled, *asked) if who == "icesql" else shared.call("tests.interop.streams:refusal", *asked)
        refusals.append(
            next(line for line in text.splitlines() if "Cannot process" in line).partition("Cannot process")[2].split("=true")[0]
        )
    assert refusals[0] == refusals[1]
    for who, run in runs.items():
        make(shared, f"{name}_{who}")
        skip = {f"streaming-skip-{operation}-snapshots": "true"}
        run(f"local.interop.{name}", f"local.interop.{name}_{who}", str(tmp_path / who), skip)
        assert ids(shared, f"{name}_{who}") == list(range(8)), who


def test_complete(shared: Shared, runs: dict[str, Run], tmp_path: Path) -> None:
    """Each micro-batch puts all rows in the place of the table's, whoever runs it, and the other goes on with the checkpoint."""
    source = make(shared, "counted", 2)
    counts = pa.schema([("name", pa.string()), ("count", pa.int64())])
    shared.catalog.create_table(("interop", "counts"), counts)
    for number, who in enumerate(("icesql", "runtime", "icesql"), 2):
        add(source.refresh(), number)
        runs[who]("local.interop.counted", "local.interop.counts", str(tmp_path / "checkpoint"), {}, "complete")
        expected = shared.oracle.rows("SELECT name, count(*) FROM local.interop.counted GROUP BY name ORDER BY name")
        assert shared.oracle.rows("SELECT name, count FROM local.interop.counts ORDER BY name") == expected, who


def test_what_is_written_of_a_batch(shared: Shared, runs: dict[str, Run], tmp_path: Path) -> None:
    """Offsets and summaries are in the runtime's words."""
    make(shared, "told", 1)
    offsets, keys = [], []
    for who, run in runs.items():
        make(shared, f"told_{who}")
        run("local.interop.told", f"local.interop.told_{who}", str(tmp_path / who), {})
        offsets.append(json.loads((tmp_path / who / "offsets" / "0").read_text().splitlines()[2]))
        snapshot = shared.load(f"told_{who}").metadata.current_snapshot
        assert snapshot is not None and snapshot.operation == "append"
        keys.append(snapshot.summary.keys() - {"manifests-created", "manifests-kept", "manifests-replaced"})
    assert offsets[0] == offsets[1]
    assert keys[0] == keys[1]
