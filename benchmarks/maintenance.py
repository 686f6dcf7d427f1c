"""Procedures beside the JAR: ``./dev bench maintenance``. Each engine: ``python -m benchmarks.maintenance ENGINE FOLDER OUT``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.big_table import build
from benchmarks.engines import Times, open_session, print_ratios, run_apart
from benchmarks.sql import tpch_folder


def workload(engine: str, folder: Path, times: Times) -> None:
    spark, sql = open_session(engine, folder)
    build(folder)
    sql("select count(*) from local.db.events.manifests").collect()
    times.measure("rewrite_manifests, 100,000 files", lambda: sql("call local.system.rewrite_manifests('db.events')").collect())

    spark.read.parquet(str(tpch_folder() / "lineitem.parquet")).createOrReplaceTempView("src")
    sql("create table local.db.li using iceberg partitioned by (bucket(16, l_orderkey)) as select * from src").collect()
    times.measure(
        "rewrite_data_files, lineitem SF1",
        lambda: sql("call local.system.rewrite_data_files(table => 'db.li', options => map('rewrite-all','true'))").collect(),
    )

    many = folder / "many"
    many.mkdir()
    pq.write_table(pa.table({"id": pa.array([1, 2, 3], pa.int64()), "s": ["a", "b", "c"]}), many / "0.parquet")
    for number in range(1, 10_000):
        shutil.copyfile(many / "0.parquet", many / f"{number}.parquet")
    sql("create table local.db.added (id bigint, s string) using iceberg").collect()
    times.measure(
        "add_files, 10,000 Parquet files", lambda: sql(f"call local.system.add_files('db.added', '`parquet`.`{many}`')").collect()
    )

    sql("create table local.db.orphans (id bigint) using iceberg").collect()
    sql("insert into local.db.orphans values (1)").collect()
    for number in range(100):
        (folder / "db" / "orphans" / "data" / f"d{number}").mkdir(parents=True)
        for inner in range(1000):
            (folder / "db" / "orphans" / "data" / f"d{number}" / f"{inner}.parquet").write_bytes(b"")
    times.measure(
        "remove_orphan_files, 100,000 files, dry run",
        lambda: len(
            sql(
                "call local.system.remove_orphan_files(table => 'db.orphans', older_than => timestamp'2020-01-01 00:00:00', dry_run => true)"
            ).collect()
        ),
    )

    sql("create table local.db.h (id bigint) using iceberg").collect()
    from_location = f"{folder}/db/h"
    grow_history(spark, engine, folder, from_location, 1000)
    times.measure(
        "expire_snapshots, 1,000 snapshots",
        lambda: sql("call local.system.expire_snapshots(table => 'db.h', older_than => current_timestamp(), retain_last => 1)").collect(),
    )
    spark.stop()


def grow_history(spark: object, engine: str, folder: Path, location: str, commits: int) -> None:
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
    workload(sys.argv[1], Path(sys.argv[2]), outcome)
    outcome.save(Path(sys.argv[3]))
