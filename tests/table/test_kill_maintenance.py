"""Maintenance killed (as by ``kill -9``) at any of its steps: all that should remain reads, and the same call again finishes the work."""

from __future__ import annotations

import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from icesql.catalog.loading import load_catalog
from icesql.errors import ValidationError
from icesql.io.storage.locations import local_path
from icesql.spec.files import FileContent
from icesql.table.manifests.access import manifests_of
from icesql.table.table import Table
from tests.catalog.faults import striking_at, striking_catalog
from tests.catalog.workload import processes
from tests.table import works
from tests.table.maintained import BY_P, SCHEMA, delete_positions, ids, paths, read_everything, rows

pytestmark = pytest.mark.slow
NAME = ("db", "t")
KILLS = 5  # benchmarks/kill_commits.py kills at every step


def files_in_partitions(table: Table) -> bool:
    return max(Counter(task.data_file.partition for task in table.scan().plan_files().tasks).values()) == 1


def one_delete_file_each(table: Table) -> bool:
    tasks = list(table.scan().plan_files().tasks)
    found = [[file for file in task.delete_files if file.content is FileContent.POSITION_DELETES] for task in tasks]
    return max(map(len, found)) == 1


WORKS: Mapping[str, tuple[works.Work, Callable[[Table], bool]]] = {
    "rewrite_data_files": (works.compact, files_in_partitions),
    "rewrite_position_delete_files": (works.compact_deletes, one_delete_file_each),
    "rewrite_manifests": (works.cluster_manifests, lambda table: len(manifests_of(table.io, table.current_snapshot)) == 2),
    "expire_snapshots": (works.expire, lambda table: len(table.snapshots) == len({ref.snapshot_id for ref in table.refs.values()})),
    "remove_orphan_files": (works.remove_orphans, lambda table: not list(Path(local_path(table.location)).rglob("lost*"))),
    "add_files": (works.add_incoming, lambda table: set(works.files_coming(table)) <= set(paths(table))),
}


def prepare(properties: Mapping[str, str]) -> None:
    """A table with something to do for each kind of work."""
    catalog = load_catalog("test", properties)
    table = catalog.create_table(NAME, SCHEMA, spec=BY_P)
    for number in range(4):
        table.append(rows(2 * number, 2 * number + 1, p=number % 2))
        if number == 1:
            table.manage_snapshots().create_tag("kept", table.snapshots[-1].snapshot_id).commit()
    (first, *_) = paths(table)
    for position in range(2):
        delete_positions(table.refresh(), first, [position])
    for number in range(3):
        table.io.write(f"{table.location}/data/lost{number}.parquet", b"left behind")
    folder = works.incoming(table) / "p=0"
    folder.mkdir(parents=True)
    for number in range(2):
        pq.write_table(rows(100 + number, p=0).drop(["p"]), folder / f"{number}.parquet")
    catalog.close()


def work_until_killed(properties: Mapping[str, str], name: str, event: int) -> None:
    """The body of a process; one that is not killed ends with the number of points it passed."""
    strike = striking_at(event)
    work, _ = WORKS[name]
    work(striking_catalog(properties, strike).load_table(NAME))
    sys.exit(strike.passed())


def run_apart(properties: Mapping[str, str], name: str, event: int) -> int:
    process = processes().Process(target=work_until_killed, args=(dict(properties), name, event))
    process.start()
    process.join()
    return int(process.exitcode)


@pytest.mark.parametrize("name", WORKS)
def test_a_kill_anywhere_loses_nothing(tmp_path: Path, name: str) -> None:
    kill_everywhere({"type": "hadoop", "warehouse": str(tmp_path / "warehouse")}, tmp_path, name, kills=KILLS)


def kill_everywhere(properties: Mapping[str, str], folder: Path, name: str, *, kills: int) -> int:
    """Kill the work at ``kills`` of the points it passes, spread over all, each time from the same start. How many kills there were."""
    home, start = folder / "warehouse", folder / "start"
    prepare(properties)
    shutil.copytree(home, start)
    expected = read_everything(load_catalog("test", properties).load_table(NAME))
    points = run_apart(properties, name, 0)
    assert points > 4
    events = sorted({1 + (points - 1) * i // max(1, kills - 1) for i in range(kills)})
    for event in events:
        shutil.rmtree(home)
        shutil.copytree(start, home)
        assert run_apart(properties, name, event) == -signal.SIGKILL, f"{name} at point {event} of {points}"
        check_after(properties, name, expected)
    return len(events)


def check_after(properties: Mapping[str, str], name: str, expected: dict[int, list[int]]) -> None:
    catalog = load_catalog("test", properties)
    table = catalog.load_table(NAME)
    work, is_done = WORKS[name]
    all_rows = [*next(reversed(expected.values())), *([100, 101] if name == "add_files" else [])]
    check_reads(table, expected, all_rows)
    try:
        work(table)
    except ValidationError:  # the files are in the table: the kill came after the commit
        assert name == "add_files" and ids(table) == all_rows
    assert is_done(table.refresh())
    assert ids(table) == all_rows
    check_reads(table, expected, all_rows)
    works.remove_orphans(table)  # what the killed process left behind goes, and nothing else
    check_reads(table, expected, all_rows)
    assert works.remove_orphans(table) == []
    table.append(rows(1000))
    catalog.close()


def check_reads(table: Table, expected: dict[int, list[int]], all_rows: list[int]) -> None:
    """Snapshots show the rows they always did, new ones those of the work; tags are there."""
    shown = read_everything(table.refresh())
    assert all(expected.get(snapshot_id, all_rows) == found for snapshot_id, found in shown.items())
    assert {ref.snapshot_id for ref in table.refs.values()} <= shown.keys()
    assert set(table.refs) == {"main", "kept"}
