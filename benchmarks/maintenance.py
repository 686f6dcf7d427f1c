"""Procedures beside the JAR: ``./dev bench maintenance``. Each engine: ``python -m benchmarks.maintenance ENGINE FOLDER OUT [PART ...]``."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.big_table import build
from benchmarks.engines import Times, open_session, print_ratios, run_apart
from benchmarks.sql import tpch_folder


def workload(engine: str, folder: Path, times: Times, names: list[str]) -> None:
    """The parts of that name, all of them without names."""
    spark, sql = open_session(engine, folder)
    for name in names or PARTS:
        PARTS[name](Run(spark, lambda text: sql(text).collect(), folder, times))
    spark.stop()


@dataclass(frozen=True)
class Run:
    """One engine at work: ``sql`` runs a statement to its end."""

    spark: Any
    sql: Callable[[str], list[Any]]
    folder: Path
    times: Times


def rewrite_manifests(run: Run) -> None:
    build(run.folder)
    run.sql("select count(*) from local.db.events.manifests")
    run.times.measure("rewrite_manifests, 100,000 files", lambda: run.sql("call local.system.rewrite_manifests('db.events')"))


def rewrite_data_files(run: Run) -> None:
    run.spark.read.parquet(str(tpch_folder() / "lineitem.parquet")).createOrReplaceTempView("src")
    run.sql("create table local.db.li using iceberg partitioned by (bucket(16, l_orderkey)) as select * from src")
    call = "call local.system.rewrite_data_files(table => 'db.li', options => map('rewrite-all', 'true'))"
    run.times.measure("rewrite_data_files, lineitem SF1", lambda: run.sql(call))


def add_files(run: Run) -> None:
    many = run.folder / "many"
    many.mkdir()
    pq.write_table(pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", "b", "c"]}), many / "0.parquet")
    for number in range(1, 10_000):
        shutil.copyfile(many / "0.parquet", many / f"{number}.parquet")
    run.sql("create table local.db.added (id bigint, s string) using iceberg")
    call = f"call local.system.add_files('db.added', '`parquet`.`{many}`')"
    run.times.measure("add_files, 10,000 Parquet files", lambda: run.sql(call))


def remove_orphan_files(run: Run) -> None:
    run.sql("create table local.db.orphans (id bigint) using iceberg")
    run.sql("insert into local.db.orphans values (1)")
    for number in range(100):
        folder = run.folder / "db" / "orphans" / "data" / f"d{number}"
        folder.mkdir(parents=True)
        for inner in range(1000):
            (folder / f"{inner}.parquet").write_bytes(b"")
            os.utime(folder / f"{inner}.parquet", (0, 0))
    call = "call local.system.remove_orphan_files(table => 'db.orphans', older_than => timestamp'2020-01-01 00:00:00', dry_run => {})"
    for dry_run in ("true", "false"):
        name = f"remove_orphan_files, 100,000 files{', dry run' if dry_run == 'true' else ''}"
        run.times.measure(name, partial(run.sql, call.format(dry_run)))


def expire_snapshots(run: Run) -> None:
    run.sql("create table local.db.h (id bigint) using iceberg")
    grow_history(run.folder, f"{run.folder}/db/h", 1000)
    call = "call local.system.expire_snapshots(table => 'db.h', older_than => timestamp'2100-01-01 00:00:00')"
    run.times.measure("expire_snapshots, 1,000 snapshots", lambda: run.sql(call))


PARTS = {part.__name__: part for part in (rewrite_manifests, rewrite_data_files, add_files, remove_orphan_files, expire_snapshots)}


def grow_history(folder: Path, location: str, commits: int) -> None:
    """The same history for both engines, made by icesql's light API: one file a commit."""
    import icesql
    from icesql.spec.files import DataFile

    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(folder))
    for number in range(commits):
        table = catalog.load_table("db.h")
        file = DataFile(file_path=f"{location}/data/{number}.parquet", file_format="parquet", record_count=1, file_size_in_bytes=100)
        table.new_fast_append().append_file(file).commit()


def main() -> None:
    tpch_folder()
    found = {}
    for engine in ("icesql", "jar"):
        with tempfile.TemporaryDirectory() as folder:
            found[engine] = run_apart("benchmarks.maintenance", engine, folder)
    print_ratios(found["icesql"], jar=found["jar"])


if __name__ == "__main__":
    outcome = Times()
    workload(sys.argv[1], Path(sys.argv[2]), outcome, sys.argv[4:])
    outcome.save(Path(sys.argv[3]))
