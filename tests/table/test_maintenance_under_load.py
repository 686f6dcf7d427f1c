"""Maintenance beside writers, and after random histories: nothing acknowledged is lost, and all that should remain reads in full."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import icesql
from icesql.catalog.base import Catalog
from icesql.errors import CommitFailedError, ValidationError
from icesql.io.locations import local_path
from icesql.table.orphan_files import PrefixRules, list_in_threads, orphans_among, reached_files, units_of, visible
from icesql.table.rewrite_data_files import RewriteDataFiles
from icesql.table.rewrite_options import data_rewrite_options
from icesql.table.table import Table
from tests.table.maintained import BY_P, SCHEMA, delete_positions, ids, new_table, paths, read_everything, rows

WRITERS, APPENDS = 2, 4


def open_catalog(kind: str, folder: Path) -> Catalog:
    found: Catalog
    if kind == "hadoop":
        found = icesql.connect_catalog("local", type="hadoop", warehouse=str(folder))
        return found
    found = icesql.connect_catalog("local", type="sql", uri=f"sqlite:///{folder}/catalog.db", warehouse=str(folder))
    return found


def compact(table: Table) -> None:
    options = data_rewrite_options({"rewrite-all": "true", "partial-progress.enabled": "true"}, table.metadata, "BIN-PACK")
    RewriteDataFiles(table=table, options=options).run()


def remove_orphans(table: Table, older_than_ms: int) -> list[str]:
    files, folders = units_of(table.io, table.location)
    listed = visible([*files, *list_in_threads(table.io, folders)], table.location, frozenset())
    old = [info.location for info in listed if info.modified_ms < older_than_ms]
    orphans = orphans_among(old, reached_files(table), PrefixRules())
    table.io.delete_many(orphans)
    return orphans


@pytest.mark.parametrize("kind", ["hadoop", "sql"])
def test_writers_and_maintenance_lose_nothing(tmp_path: Path, kind: str) -> None:
    catalog = open_catalog(kind, tmp_path)
    catalog.create_namespace(("db",))
    retries = {"commit.retry.num-retries": "50", "commit.retry.min-wait-ms": "5", "commit.retry.max-wait-ms": "50"}
    catalog.create_table(("db", "t"), SCHEMA, spec=BY_P, properties=retries)
    acknowledged: set[int] = set()
    failures: list[BaseException] = []
    done = threading.Event()
    start_ms = time.time_ns() // 1_000_000 - 10_000  # a file system's clock may lag behind this one
    lost = Path(local_path(catalog.load_table(("db", "t")).location)) / "data" / "lost.parquet"
    lost.parent.mkdir(parents=True, exist_ok=True)
    lost.write_bytes(b"left behind by a writer that died")
    os.utime(lost, (0, 0))

    def write(writer: int) -> None:
        try:
            own = open_catalog(kind, tmp_path)
            for i in range(APPENDS):
                number = writer * 1000 + i
                own.load_table(("db", "t")).append(rows(number, p=i % 2))
                acknowledged.add(number)
        except BaseException as error:
            failures.append(error)

    def maintain() -> None:
        own = open_catalog(kind, tmp_path)
        finished = False
        while not finished:
            finished = done.is_set()
            for work in (compact, lambda t: t.rewrite_manifests().commit(), lambda t: remove_orphans(t, start_ms)):
                try:
                    work(own.load_table(("db", "t")))
                except (CommitFailedError, ValidationError):
                    continue  # lost to a writer, which is allowed
                except BaseException as error:
                    failures.append(error)
                    return

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    keeper = threading.Thread(target=maintain)
    for thread in (*threads, keeper):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    keeper.join()
    assert not failures, failures
    assert not lost.exists()
    table = catalog.load_table(("db", "t"))
    assert len(acknowledged) == WRITERS * APPENDS
    assert ids(table) == sorted(acknowledged)
    compact(table)
    assert ids(table) == sorted(acknowledged)
    table.expire_snapshots().expire_older_than(2**53).commit()
    remove_orphans(table, 2**53)
    assert ids(table.refresh()) == sorted(acknowledged)


steps = st.lists(st.sampled_from(["append", "delete", "compact", "tag", "overwrite", "expire", "orphans"]), min_size=3, max_size=7)


@given(steps=steps, version=st.sampled_from([2, 3]))
@settings(max_examples=8)
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
                compact(table)
            elif step == "overwrite":
                table.overwrite(rows(number, p=0))
            elif step == "tag" and table.current_snapshot is not None:
                table.manage_snapshots().create_tag(f"t{number}", table.current_snapshot.snapshot_id).commit()
            elif step == "expire":
                table.expire_snapshots().expire_older_than(2**53).commit()
            elif step == "orphans":
                remove_orphans(table, 2**53)
            shown = read_everything(table)
            assert all(expected.get(key, found) == found for key, found in shown.items()), (
                "a snapshot shows other rows than when it was made"
            )
            expected.update(shown)
