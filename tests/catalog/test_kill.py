"""A process killed at any point of a commit leaves a table that reads, with every acknowledged commit and no half of another."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from icesql.catalog.loading import load_catalog
from tests.catalog.conftest import catalog_properties
from tests.catalog.faults import POINTS
from tests.catalog.workload import RETRIES, ROWS, SCHEMA, TABLE, append_until_killed, batch, held_rows, processes

pytestmark = pytest.mark.slow
LIMITS = {**RETRIES, "write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}
ROUNDS = 1  # benchmarks/kill_commits.py does 20


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "hadoop"])
def test_a_kill_at_any_point_leaves_a_whole_table(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    properties = catalog_properties(kind, tmp_path, request)
    killed = kill_everywhere(properties, tmp_path, rounds=ROUNDS)
    assert killed == dict.fromkeys(POINTS, ROUNDS)


def kill_everywhere(properties: dict[str, str], folder: Path, *, rounds: int) -> Counter[str]:
    """Kill a writer at each point, at its first, second, ... pass, and look at the table after each; how often each point struck."""
    load_catalog("test", properties).create_table(TABLE, SCHEMA, properties=LIMITS)
    context, killed, numbers = processes(), Counter[str](), iter(range(0, 10**9, 1000))
    acknowledged: set[int] = set()
    present: set[int] = set()
    for point in POINTS:
        for passes in range(1, rounds + 1):
            journal, first = folder / f"journal-{point}-{passes}", next(numbers)
            process = context.Process(target=append_until_killed, args=(properties, str(journal), first, point, passes))
            process.start()
            process.join()
            killed[point] += process.exitcode == -signal.SIGKILL
            acknowledged |= {int(line) for line in journal.read_text().splitlines()} if journal.exists() else set()
            present = check_whole(properties, acknowledged, present, next(numbers))
            acknowledged |= present
    return killed


def check_whole(properties: dict[str, str], acknowledged: set[int], earlier: set[int], probe: int) -> set[int]:
    """The table reads; acknowledged batches are there whole, others whole or not at all; and another commit succeeds."""
    catalog = load_catalog("test", properties)
    table = catalog.load_table(TABLE)
    counts = Counter(held_rows(table)["batch"].to_pylist())
    assert set(counts.values()) <= {ROWS}
    assert acknowledged <= counts.keys()
    assert earlier <= counts.keys()
    table.append(batch(probe))
    assert catalog.load_table(TABLE).metadata_location == table.metadata_location
    catalog.close()
    return {*counts, probe}
