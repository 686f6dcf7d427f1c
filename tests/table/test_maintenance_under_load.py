"""Maintenance beside writers, and after random histories: nothing acknowledged is lost, and all that should remain reads in full."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icesql
from icesql.catalog.base import Catalog
from icesql.errors import CommitFailedError, NotFoundError, ValidationError
from icesql.io.storage.locations import local_path
from icesql.table.table import Table
from tests.effort import examples
from tests.table import works
from tests.table.maintained import BY_P, SCHEMA, delete_positions, ids, new_table, paths, read_everything, rows

WRITERS, BATCHES = 4, 3
NAME = ("db", "t")


def open_catalog(kind: str, folder: Path) -> Catalog:
    found: Catalog
    if kind == "hadoop":
        found = icesql.connect_catalog("local", type="hadoop", warehouse=str(folder))
        return found
    found = icesql.connect_catalog("local", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
    return found


class Writer:
    """Appends batches of its own and deletes some of their rows, by rewriting files and by positions; ``kept`` is what must be there."""

    def __init__(self, kind: str, folder: Path, number: int) -> None:
        self._catalog, self._number = open_catalog(kind, folder), number
        self.kept: set[int] = set()

    def run(self) -> None:
        for batch in range(BATCHES):
            first = self._number * 1000 + 10 * batch
            self._until_done(partial(Table.append, rows=rows(first, first + 1, p=batch % 2)))
            self.kept |= {first, first + 1}
            self._until_done(partial(delete_by_position if batch % 2 else delete_by_rewriting, number=first))
            self.kept.remove(first)

    def _until_done(self, work: works.Work) -> None:
        """Again from a fresh version where another writer's commit, or files that expired meanwhile, stand in the way."""
        while True:
            try:
                work(self._catalog.load_table(NAME))
                return
            except (CommitFailedError, ValidationError, NotFoundError):
                continue


def delete_by_rewriting(table: Table, number: int) -> None:
    table.delete(f"id = {number}")


def delete_by_position(table: Table, number: int) -> None:
    for task in table.scan(f"id = {number}").plan_files().tasks:
        path = task.data_file.file_path
        held = pq.read_table(local_path(path), columns=["id"])["id"].to_pylist()
        if number in held:
            delete_positions(table, path, [held.index(number)])


class Keeper:
    """Runs every kind of maintenance in turn until told to stop, and once more after that."""

    def __init__(self, kind: str, folder: Path, start_ms: int) -> None:
        self._catalog = open_catalog(kind, folder)
        self._works: tuple[works.Work, ...] = (
            works.compact,
            works.cluster_manifests,
            lambda table: table.expire_snapshots().expire_older_than(works.EVER_MS).retain_last(3).commit(),
            works.compact_deletes,
            lambda table: works.remove_orphans(table, start_ms),
        )

    def run(self, done: threading.Event) -> None:
        finished = False
        while not finished:
            finished = done.is_set()
            for work in self._works:
                with contextlib.suppress(CommitFailedError, ValidationError, NotFoundError):  # lost to a writer, which is allowed
                    work(self._catalog.load_table(NAME))


@pytest.mark.parametrize("kind", ["hadoop", "sql"])
def test_writers_and_maintenance_lose_nothing(tmp_path: Path, kind: str) -> None:
    catalog = open_catalog(kind, tmp_path)
    catalog.create_namespace(("db",))
    retries = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "50"}
    start_ms = time.time_ns() // 1_000_000 - 10_000  # a file system's clock may lag behind this one
    table = catalog.create_table(NAME, SCHEMA, spec=BY_P, properties=retries)
    lost = Path(local_path(table.location)) / "data" / "lost.parquet"
    lost.parent.mkdir(parents=True, exist_ok=True)
    lost.write_bytes(b"left behind by a writer that died")
    os.utime(lost, (0, 0))
    writers, done = [Writer(kind, tmp_path, number) for number in range(WRITERS)], threading.Event()
    with ThreadPoolExecutor(WRITERS + 1) as pool:
        keeping = pool.submit(Keeper(kind, tmp_path, start_ms).run, done)
        for writing in [pool.submit(writer.run) for writer in writers]:
            try:
                writing.result()
            finally:
                done.set()
        keeping.result()
    expected = sorted(set().union(*(writer.kept for writer in writers)))
    assert len(expected) == WRITERS * BATCHES
    assert not lost.exists()
    table = catalog.load_table(NAME)
    assert ids(table) == expected
    works.compact(table)
    assert ids(table) == expected
    works.expire(table)
    works.remove_orphans(table)
    assert list(read_everything(table.refresh()).values()) == [expected]


steps = st.lists(st.sampled_from(["append", "delete", "compact", "tag", "overwrite", "expire", "orphans"]), min_size=3, max_size=7)


@given(steps=steps, version=st.sampled_from([2, 3]))
@examples(8)
def test_after_any_history_all_that_remains_reads(steps: list[str], version: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = new_table(Path(folder), version=version)
        expected: dict[int, list[int]] = {}
        for number, step in enumerate(steps, 1):
            held = paths(table)
            if step == "append":
                table.append(rows(2 * number, 2 * number + 1, p=number % 2))
            elif step == "delete" and held and not table.scan().plan_files().has_deletes:
                delete_positions(table, held[0], [0])
            elif step == "compact":
                works.compact(table)
            elif step == "overwrite":
                table.overwrite(rows(number, p=0))
            elif step == "tag" and table.current_snapshot is not None:
                table.manage_snapshots().create_tag(f"t{number}", table.current_snapshot.snapshot_id).commit()
            elif step == "expire":
                works.expire(table)
            elif step == "orphans":
                works.remove_orphans(table)
            shown = read_everything(table)
            assert all(expected.get(key, found) == found for key, found in shown.items()), (
                "a snapshot shows other rows than when it was made"
            )
            expected.update(shown)
