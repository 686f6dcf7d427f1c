"""Power cuts at every step of create, append, delete and compaction: what was acknowledged reads in full afterwards."""

from __future__ import annotations

import gc
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from icesql.catalog.loading import load_catalog
from icesql.errors import NotFoundError
from icesql.expr.tree import Op, Predicate, Reference
from icesql.io.lru import LruCache
from icesql.io.metadata_files import read_metadata
from icesql.io.storage import durable
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.table.operations import TableVersion
from icesql.table.table import Table
from icesql.table.write.arrow_write import write_rows
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.io.disk import ForgetfulDisk, lay_out
from tests.io.system_calls import watch
from tests.table.memory import MemoryOperations

SLOWER = [("hadoop", "orc"), ("hadoop", "avro"), ("sqlite", "parquet"), ("sqlite", "orc")]


@pytest.mark.parametrize(
    ("kind", "file_format"),
    [("hadoop", "parquet"), ("sqlite", "avro"), *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOWER)],
)
def test_what_was_acknowledged_is_there_after_a_power_cut(
    kind: str, file_format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    disk = ForgetfulDisk(root, random.Random(7))
    pointers: dict[int, str | None] = {}
    watch(monkeypatch, disk)
    acknowledged = work(kind, file_format, root, disk, pointers)
    monkeypatch.undo()
    tried, caches = 0, [held for held in gc.get_objects() if isinstance(held, LruCache)]
    for moment, tree in disk.different_cuts():
        lay_out(root, tree)
        for cache in caches:  # files at the same place now hold something else, as they never do outside this test
            cache.clear()
        promised = [ids for at, ids in acknowledged if at <= moment][-1:]
        under_way = [ids for at, ids in acknowledged if at > moment][:1]
        found = held_ids(kind, root, pointers.get(moment))
        assert found in promised + under_way or (found is None and not promised), f"cut at {moment}: {found}, not {promised} or {under_way}"
        tried += 1
    assert tried > 60


def work(kind: str, file_format: str, root: Path, disk: ForgetfulDisk, pointers: dict[int, str | None]) -> list[tuple[int, list[int]]]:
    """Create, append, delete, compact; (moment, ids the table has) of each acknowledgement."""
    database = root.parent / "catalog.db"  # SQLite looks after its own file
    properties = {"type": "hadoop"} if kind == "hadoop" else {"type": "sql", "uri": f"sqlite:///{database}"}
    catalog = load_catalog("test", {**properties, "warehouse": str(root / "warehouse")})
    acknowledged: list[tuple[int, list[int]]] = []
    cut = disk.cut

    def cut_and_note() -> None:
        cut()
        pointers[disk.moment] = None if kind == "hadoop" else pointer(database)

    disk.cut = cut_and_note  # type: ignore[method-assign]

    def done(ids: list[int]) -> None:
        disk.moment += 1
        acknowledged.append((disk.moment, ids))
        disk.cut()

    table = catalog.create_table("db.t", SCHEMA, spec=BY_ID, properties={"write.format.default": file_format})
    done([])
    table.append(rows(*range(8)))
    done(list(range(8)))
    table.append(rows(8, 9))
    done(list(range(10)))
    table.delete(Predicate(Op.LT, Reference("id"), (5,)))
    done([5, 6, 7, 8, 9])
    compact(table)
    done([5, 6, 7, 8, 9])
    catalog.close()
    return acknowledged


def compact(table: Table) -> None:
    update = table.new_rewrite_files()
    for task in table.scan().plan_files().tasks:
        update.delete_file(task.data_file)
    for file in write_rows(table.io, table.metadata, table.to_arrow()):
        update.add_file(file)
    update.commit()


def pointer(database: Path) -> str | None:
    with sqlite3.connect(database) as connection:
        try:
            found = connection.execute("SELECT metadata_location FROM iceberg_tables").fetchone()
        except sqlite3.OperationalError:
            return None
    return None if found is None else str(found[0])


def held_ids(kind: str, root: Path, location: str | None) -> list[int] | None:
    """The rows read in full; ``None`` without a table."""
    if kind == "hadoop":
        try:
            table = load_catalog("test", {"type": "hadoop", "warehouse": str(root / "warehouse")}).load_table("db.t")
        except NotFoundError:
            return None
    elif location is None:
        return None
    else:
        io = ArrowFileIO()
        version = TableVersion(read_metadata(io, location, use_cache=False), location)
        table = Table(MemoryOperations(root, io), version, ("db", "t"))
    return sorted(table.to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("forgotten", ["sync_file", "sync_names"])
def test_the_simulation_notices_what_is_not_synced(forgotten: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ignore: Callable[[str], None] = lambda path: None  # noqa: E731
    monkeypatch.setattr(durable, forgotten, ignore)
    with pytest.raises(Exception, match=r"\w"), pytest.MonkeyPatch.context() as patch:
        test_what_was_acknowledged_is_there_after_a_power_cut("hadoop", "parquet", tmp_path, patch)
