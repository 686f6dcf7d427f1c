"""After each procedure that takes files away, all that should remain is read in full: here, by PyIceberg, and by Iceberg's runtime."""

from __future__ import annotations

import csv
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from pyiceberg.table import StaticTable

from icesql.table.table import Table
from tests.interop.conftest import Shared
from tests.table.maintained import BY_P, SCHEMA, delete_positions, read_everything, rows
from tests.table.past import Past

pytestmark = [pytest.mark.interop, pytest.mark.spark]
Rows = dict[int, list[int]]
CALLS = (
    "rewrite_position_delete_files(table => '{n}', options => map('rewrite-all', 'true'))",
    "rewrite_data_files(table => '{n}', options => map('rewrite-all', 'true', 'remove-dangling-deletes', 'true'))",
    "rewrite_manifests('{n}')",
    "rollback_to_snapshot('{n}', {parent})",
    "expire_snapshots(table => '{n}', older_than => TIMESTAMP '2100-01-01', retain_last => 3)",
    "remove_orphan_files(table => '{n}', older_than => TIMESTAMP '2001-01-01')",
    "expire_snapshots(table => '{n}', older_than => TIMESTAMP '2100-01-01')",
)


def test_all_that_remains_reads_everywhere(shared: Shared) -> None:
    if not shared.catalog.namespace_exists(("interop",)):
        shared.catalog.create_namespace(("interop",))
    name = "interop.past"
    past = Past(shared.catalog.create_table(name, SCHEMA, spec=BY_P), seed=4, without=("delete_equal",))  # which PyIceberg does not read
    table = past.grow(12)
    table.append(rows(1001, 1002, 1003, p=0))
    old = next(task.data_file.file_path for task in table.scan("id = 1002").plan_files().tasks)
    for position in range(2):
        delete_positions(table, old, [position])
    table.update_properties().set("format-version", "3").commit()
    table.append(rows(1004, 1005, p=1))
    delete_positions(table, next(task.data_file.file_path for task in table.scan("id = 1005").plan_files().tasks), [0])  # a vector
    expected = read_everything(table)
    removed = Counter[str]()
    for call in CALLS:
        held = made_old(shared.folder("past"))
        head = table.refresh().current_snapshot
        assert head is not None
        (counts, *_) = shared.session.sql(f"CALL local.system.{call.format(n=name, parent=head.parent_snapshot_id)}").collect()
        assert any(counts), f"it did something: {call}"
        removed[call.partition("(")[0]] += sum(not path.exists() for path in held)
        shown = read_everything(table.refresh())
        assert all(expected.get(snapshot_id, rows) == rows for snapshot_id, rows in shown.items()), (call, past.steps)
        expected = shown
        assert read_by_pyiceberg(table) == expected, call
        assert read_by_runtime(shared, name, table) == expected, call
        assert {ref.snapshot_id for ref in table.refs.values()} <= expected.keys()
        if call.startswith(("rewrite_data_files", "expire_snapshots")):
            assert_copy_reads_everywhere(shared, table, expected)
    assert removed["expire_snapshots"] and removed["remove_orphan_files"] == 1


def assert_copy_reads_everywhere(shared: Shared, table: Table, expected: Rows) -> None:
    """What rewrite_table_path stages and lists is, once copied, the same table elsewhere; the table itself is out of the way."""
    source, target, away = (shared.folder(name) for name in ("past", "copied", "away"))
    (row,) = shared.session.sql(
        f"CALL local.system.rewrite_table_path(table => 'interop.past', source_prefix => '{table.location}', target_prefix => '{target}')"
    ).collect()
    with Path(row.file_list_location).open() as lines:
        for copied, place in csv.reader(lines):
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(copied, place)
    shutil.rmtree(row.file_list_location.rpartition("/")[0])
    os.rename(source, away)
    try:
        moved = shared.load("copied")
        assert read_everything(moved) == expected
        assert read_by_pyiceberg(moved) == expected
        assert read_by_runtime(shared, "interop.copied", moved) == expected
    finally:
        os.rename(away, source)
        shutil.rmtree(target)


def made_old(folder: str) -> list[Path]:
    """All files of the table, now of 1970, and one that is lost: what a clean-up spares, it spares because it is reached."""
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    lost = Path(folder, "data", "lost.parquet")
    if lost not in files:
        lost.write_bytes(b"left behind")
        files.append(lost)
    for path in files:
        os.utime(path, (0, 0))
    return files


def read_by_pyiceberg(table: Table) -> Rows:
    static = StaticTable.from_metadata(str(table.metadata_location))
    return {s.snapshot_id: sorted(static.scan(snapshot_id=s.snapshot_id).to_arrow()["id"].to_pylist()) for s in table.snapshots}


def read_by_runtime(shared: Shared, name: str, table: Table) -> Rows:
    """Every snapshot in one query."""
    parts = [f"SELECT {s.snapshot_id} AS snapshot, id FROM local.{name} VERSION AS OF {s.snapshot_id}" for s in table.snapshots]
    found: Rows = {s.snapshot_id: [] for s in table.snapshots}
    for snapshot_id, row_id in sorted(shared.oracle.rows(" UNION ALL ".join(parts))):
        found[snapshot_id].append(row_id)
    return found
