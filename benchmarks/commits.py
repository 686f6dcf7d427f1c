"""Commits on icesql, the JAR and PyIceberg: ``./dev bench commits``.

Appends to the 100,000-file table, commits per second on a small one, expiry of 1,000 snapshots, and how commit time grows.
Each engine runs in a process of its own: ``python -m benchmarks.commits ENGINE FOLDER OUT``.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.big_table import FIRST_DAY, SCHEMA, SPEC, build
from benchmarks.engines import Times, open_session, print_ratios, run_apart


def append_files(table: Any, folder: Path, files: int, start: int, *, fast: bool) -> None:
    """One commit of ours, of files that exist on paper."""
    from icesql.spec.files import DataFile

    builder = table.new_fast_append() if fast else table.new_append()
    for number in range(start, start + files):
        partition = (FIRST_DAY + number % 90, 3)
        path = f"{folder}/x{number}.parquet"
        builder.append_file(DataFile(file_path=path, file_format="parquet", partition=partition, record_count=10, file_size_in_bytes=100))
    builder.commit()


def icesql_commits(folder: Path, times: Times) -> None:
    import icesql

    def append(table: Any, files: int, start: int, *, fast: bool) -> None:
        append_files(table, folder, files, start, fast=fast)

    def catalog(name: str) -> Any:
        return icesql.connect_catalog("local", type="hadoop", warehouse=str(folder / name))

    counter = iter(range(0, 10**9, 1000))
    build(folder / "fast")
    fast = catalog("fast")
    times.measure("fast append of 1 file", lambda: append(fast.load_table("db.events"), 1, next(counter), fast=True), repeat=9, warm=2)
    times.measure(
        "fast append of 1,000 files", lambda: append(fast.load_table("db.events"), 1000, next(counter), fast=True), repeat=5, warm=1
    )
    build(folder / "merge")
    merging = catalog("merge")
    times.measure("append of 1 file", lambda: append(merging.load_table("db.events"), 1, next(counter), fast=False), repeat=9, warm=2)
    small = catalog("small")
    small.create_namespace(("db",))
    table = small.create_table("db.t", SCHEMA, spec=SPEC)
    times.measure(
        "50 commits by one writer", lambda: [append(small.load_table("db.t"), 1, next(counter), fast=True) for _ in range(50)] and None
    )
    with_threads(times, lambda: append(small.load_table("db.t"), 1, next(counter), fast=True), lambda: table.refresh())
    history = small.create_table("db.h", SCHEMA, spec=SPEC)
    for _ in range(1000):
        append(history.refresh(), 1, next(counter), fast=True)
    times.measure("append of 1 file after 1,000 commits", lambda: append(small.load_table("db.h"), 1, next(counter), fast=True), repeat=5)
    times.measure(
        "expire 1,000 snapshots",
        lambda: small.load_table("db.h").expire_snapshots().expire_older_than(int(time.time() * 1000)).retain_last(1).commit() and None,
    )
    growth(folder / "growth", times)


def jar_commits(folder: Path, times: Times) -> None:
    spark, sql = open_session("jar", folder / "fast")
    iceberg = spark._jvm.org.apache.iceberg
    tables = iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())

    def append(location: str, files: int, start: int, *, fast: bool) -> None:
        table = tables.load(location)
        builder = table.newFastAppend() if fast else table.newAppend()
        for number in range(start, start + files):
            builder.appendFile(
                iceberg.DataFiles.builder(table.spec()).withPath(f"{folder}/x{number}.parquet").withFileSizeInBytes(100).withRecordCount(10)
                .withPartitionPath(f"event_time_day=2021-{7 + number % 3:02d}-{1 + number % 28:02d}/device_id_bucket=3").build()
            )  # fmt: skip
        builder.commit()

    counter = iter(range(0, 10**9, 1000))
    build(folder / "fast")
    build(folder / "merge")
    fast, merging = f"{folder}/fast/db/events", f"{folder}/merge/db/events"
    times.measure("fast append of 1 file", lambda: append(fast, 1, next(counter), fast=True), repeat=9, warm=2)
    times.measure("fast append of 1,000 files", lambda: append(fast, 1000, next(counter), fast=True), repeat=5, warm=1)
    times.measure("append of 1 file", lambda: append(merging, 1, next(counter), fast=False), repeat=9, warm=2)
    sql(
        "create table local.db.t (event_time timestamp not null, device_id bigint not null) partitioned by (days(event_time), bucket(64, device_id))"
    )
    small = f"{folder}/fast/db/t"
    times.measure("50 commits by one writer", lambda: [append(small, 1, next(counter), fast=True) for _ in range(50)] and None)
    with_threads(times, lambda: append(small, 1, next(counter), fast=True), lambda: None)
    sql(
        "create table local.db.h (event_time timestamp not null, device_id bigint not null) partitioned by (days(event_time), bucket(64, device_id))"
    )
    history = f"{folder}/fast/db/h"
    for _ in range(1000):
        append(history, 1, next(counter), fast=True)
    times.measure("append of 1 file after 1,000 commits", lambda: append(history, 1, next(counter), fast=True), repeat=5)
    now = int(time.time() * 1000)
    times.measure("expire 1,000 snapshots", lambda: tables.load(history).expireSnapshots().expireOlderThan(now).retainLast(1).commit())


def pyiceberg_commits(folder: Path, times: Times) -> None:
    """PyIceberg has no hadoop catalog: its own SQLite catalog, over the same table."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record

    folder.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("local", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    catalog.register_table("db.events", f"{build(folder)}/metadata/v1.metadata.json")
    events = catalog.load_table("db.events")
    catalog.create_table("db.t", events.schema(), partition_spec=events.spec())
    counter = iter(range(0, 10**9, 1000))

    def append(name: str, files: int, start: int, *, fast: bool) -> None:
        table = catalog.load_table(name)
        with table.transaction() as transaction:
            update = transaction.update_snapshot()
            with update.fast_append() if fast else update.merge_append() as producer:
                for number in range(start, start + files):
                    file = DataFile.from_args(
                        content=DataFileContent.DATA, file_path=f"{folder}/x{number}.parquet", file_format=FileFormat.PARQUET,
                        partition=Record(FIRST_DAY + number % 90, 3), record_count=10, file_size_in_bytes=100,
                    )  # fmt: skip
                    file.spec_id = table.spec().spec_id
                    producer.append_data_file(file)

    times.measure("fast append of 1 file", lambda: append("db.events", 1, next(counter), fast=True), repeat=9, warm=2)
    times.measure("fast append of 1,000 files", lambda: append("db.events", 1000, next(counter), fast=True), repeat=5, warm=1)
    times.measure("append of 1 file", lambda: append("db.events", 1, next(counter), fast=False), repeat=9, warm=2)
    times.measure("50 commits by one writer", lambda: [append("db.t", 1, next(counter), fast=True) for _ in range(50)] and None)


def growth(folder: Path, times: Times) -> None:
    """One-file commits to tables of more and more files, manifests and snapshots: what commit time depends on, and what not."""
    import icesql

    shapes = [(files, 20) for files in (1_000, 10_000, 100_000)] + [(20_000, manifests) for manifests in (20, 200, 2_000)]
    for files, manifests in shapes:
        build(folder, files, manifests)
        catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(folder))
        name = f"append of 1 file to {files:,} in {manifests:,} manifests"
        times.measure(
            name, lambda catalog=catalog: append_files(catalog.load_table("db.events"), folder, 1, 0, fast=True), repeat=9, warm=2
        )


def with_threads(times: Times, commit: Callable[[], Any], settle: Callable[[], Any], writers: int = 8, each: int = 10) -> None:
    """``writers`` threads, ``each`` commits a thread, on one table."""

    def run() -> None:
        def work() -> None:
            done = 0
            while done < each:
                try:
                    commit()
                    done += 1
                except Exception as error:  # a writer whose retries ran out starts again, on either engine
                    if "commit" not in str(error).lower():
                        raise

        threads = [threading.Thread(target=work) for _ in range(writers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    times.measure(f"{writers * each} commits by {writers} writers", run)
    settle()


ENGINES = {"icesql": icesql_commits, "jar": jar_commits, "pyiceberg": pyiceberg_commits}


def main() -> None:
    found = {}
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            found[engine] = run_apart("benchmarks.commits", engine, folder)
    print_ratios(found.pop("icesql"), **found)


if __name__ == "__main__":
    outcome = Times()
    ENGINES[sys.argv[1]](Path(sys.argv[2]), outcome)
    outcome.save(Path(sys.argv[3]))
