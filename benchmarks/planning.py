"""Planning a table of many files, and reading one after 1 % of its rows were deleted, on icesql, the JAR and PyIceberg: ``./dev bench planning``.

One part on one engine: ``python -m benchmarks.planning ENGINE PART OUT``.
"""

from __future__ import annotations

import itertools
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.big_table import SEED_FILTER, build
from benchmarks.engines import Times, open_session, print_ratios, run_apart
from benchmarks.sql import CHANGED_KEYS, tpch_folder

WAREHOUSE = Path(tempfile.gettempdir()) / "icesql-bench-planning"
SEED_SQL = (
    "select * from local.db.events where device_id = 74 and event_time > timestamp'2021-10-01 10:00:00Z' "
    "and event_time < timestamp'2021-10-04 20:00:00Z'"
)
SEED_JSON = (
    '{"type":"and","left":{"type":"and","left":{"type":"eq","term":"device_id","value":74},'
    '"right":{"type":"gt","term":"event_time","value":"2021-10-01T10:00:00+00:00"}},'
    '"right":{"type":"lt","term":"event_time","value":"2021-10-04T20:00:00+00:00"}}'
)
SEED_TEXT = "device_id = 74 and event_time > '2021-10-01T10:00:00+00:00' and event_time < '2021-10-04T20:00:00+00:00'"
QUERIES = {
    "one column": "select sum(l_quantity) from local.db.{}",
    "six columns": "select count(*), sum(l_quantity), max(l_comment), max(l_shipdate), min(l_partkey), sum(l_tax) from local.db.{}",
    "a filter on rows": "select sum(l_extendedprice * l_discount) from local.db.{} where l_quantity < 24 and l_discount > 0.05",
}

Plan = Callable[[bool], int]


# -- planning --------------------------------------------------------------------------------------------------------------


def plans(times: Times, plan: Plan, *, warm: int) -> None:
    """``plan(filtered)`` loads the table and counts the files it plans, each with its deletes."""
    times.measure("seed query, first", lambda: plan(True))
    times.measure("seed query, warm", lambda: plan(True), repeat=9, warm=2 * warm)
    times.measure("full plan, first", lambda: plan(False))
    times.measure("full plan, warm", lambda: plan(False), repeat=5, warm=warm)


def plan_with_icesql(times: Times) -> None:
    import icesql

    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(WAREHOUSE))

    def plan(filtered: bool) -> int:
        return sum(1 for _ in catalog.load_table("db.events").scan(SEED_FILTER if filtered else None).plan_files().each_file())

    plans(times, plan, warm=2)
    times.seconds["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def plan_with_jar(times: Times) -> None:
    spark, _ = open_session("jar", WAREHOUSE)
    java = spark._jvm
    tables = java.org.apache.iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())
    sizes = getattr(java, "org.apache.iceberg.relocated.com.google.common.collect.Iterables")
    where = java.org.apache.iceberg.expressions.ExpressionParser.fromJson(SEED_JSON)

    def plan(filtered: bool) -> int:
        scan = tables.load(f"{WAREHOUSE}/db/events").newScan()
        return int(sizes.size((scan.filter(where) if filtered else scan).planFiles()))

    plans(times, plan, warm=4)


def plan_with_pyiceberg(times: Times) -> None:
    from pyiceberg.table import StaticTable

    def plan(filtered: bool) -> int:
        table = StaticTable.from_metadata(f"{WAREHOUSE}/db/events/metadata/v1.metadata.json")
        return len(list((table.scan(row_filter=SEED_TEXT) if filtered else table.scan()).plan_files()))

    times.measure("seed query, first", lambda: plan(True))
    times.measure("seed query, warm", lambda: plan(True), repeat=3)
    times.measure("full plan, first", lambda: plan(False))
    times.measure("full plan, warm", lambda: plan(False))


def plan_through_sql(engine: str, times: Times) -> None:
    """From SQL text to the partitions of the physical plan, and two metadata tables."""
    _, sql = open_session(engine, WAREHOUSE)

    def partitions(text: str) -> int:
        return int(sql(text)._jdf.queryExecution().toRdd().getNumPartitions())

    times.measure("SQL seed query, text to partitions", lambda: partitions(SEED_SQL), repeat=7, warm=3)
    times.measure("SQL full scan, text to partitions", lambda: partitions("select * from local.db.events"), repeat=3, warm=1)
    for name, query in (("count over files", "select count(*), sum(record_count) from local.db.events.files"),
                        ("rows of partitions", "select count(*) from local.db.events.partitions")):  # fmt: skip
        times.measure(name, lambda query=query: sql(query).collect(), repeat=3, warm=1)  # type: ignore[misc]


def plan_files(engine: str, times: Times) -> None:
    {"icesql": plan_with_icesql, "jar": plan_with_jar, "pyiceberg": plan_with_pyiceberg}[engine](times)


# -- reading after deletes -------------------------------------------------------------------------------------------------


def write_deleted_rows() -> None:
    """With the JAR: 1.5 M rows of lineitem in 4 buckets, of which 1 % are deleted, by position deletes and by deletion vectors."""
    spark, sql = open_session("jar", WAREHOUSE)
    spark.read.parquet(str(tpch_folder() / "lineitem.parquet")).createOrReplaceTempView("src_lineitem")
    sql("create namespace if not exists local.db")
    for version in (2, 3):
        sql(
            f"create table local.db.v{version} using iceberg partitioned by (bucket(4, l_orderkey)) "
            f"tblproperties ('format-version'='{version}', 'write.delete.mode'='merge-on-read') "
            f"as select * from src_lineitem where l_orderkey < {CHANGED_KEYS}"
        )
        sql(f"delete from local.db.v{version} where l_orderkey % 100 = 7")
    spark.stop()


def read_deleted_rows(engine: str, times: Times) -> None:
    _, sql = open_session(engine, WAREHOUSE)
    for (version, form), (name, query) in itertools.product({2: "position deletes", 3: "deletion vectors"}.items(), QUERIES.items()):
        text = query.format(f"v{version}")
        times.measure(f"{form}: {name}", lambda text=text: sql(text).collect(), repeat=9, warm=5)  # type: ignore[misc]


# -- the parts -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    title: str
    engines: tuple[str, ...]
    prepare: Callable[[], Any]
    measure: Callable[[str, Times], None]


def _table(**sizes: int) -> Callable[[], Any]:
    return lambda: build(WAREHOUSE, **sizes)


EVERY, SPARK = ("icesql", "jar", "pyiceberg"), ("icesql", "jar")
VECTORS = {"files": 100_000, "deletion_vectors": 10_000}
PARTS = {
    "files": Part("100,000 files", EVERY, _table(files=100_000), plan_files),
    "vectors": Part("100,000 files, 10,000 deletion vectors", EVERY, _table(**VECTORS), plan_files),
    "million": Part("1,000,000 files", SPARK, _table(files=1_000_000, manifests=200), plan_files),
    "sql": Part("100,000 files through SQL", SPARK, _table(files=100_000), plan_through_sql),
    "reads": Part(
        "reading 1.5 M rows after 1 % were deleted", SPARK, lambda: run_apart("benchmarks.planning", "jar", "write"), read_deleted_rows
    ),
}


def main(*names: str) -> None:
    for name in names or PARTS:
        part = PARTS[name]
        shutil.rmtree(WAREHOUSE, ignore_errors=True)
        part.prepare()
        print(f"\n  -- {part.title}", flush=True)
        found = {engine: run_apart("benchmarks.planning", engine, name) for engine in part.engines}
        peak = found["icesql"].seconds.pop("peak MB", None)
        print_ratios(found.pop("icesql"), **found)
        if peak is not None:
            print(f"  icesql's peak memory: {peak:.0f} MB")
    shutil.rmtree(WAREHOUSE, ignore_errors=True)


if __name__ == "__main__":
    outcome = Times()
    if sys.argv[2] == "write":
        write_deleted_rows()
    else:
        PARTS[sys.argv[2]].measure(sys.argv[1], outcome)
    outcome.save(Path(sys.argv[3]))
