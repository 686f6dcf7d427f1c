"""Planning a table of many files on icesql, the JAR and PyIceberg: ``./dev bench planning``.

Each engine plans in a process of its own: ``python -m benchmarks.planning ENGINE WAREHOUSE OUT``.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.big_table import SEED_FILTER, build
from benchmarks.engines import Times, open_session, print_ratios, run_apart

SEED_SQL = (
    "select * from local.db.events where device_id = 74 and event_time > timestamp'2021-10-01 10:00:00Z' "
    "and event_time < timestamp'2021-10-04 20:00:00Z'"
)
SEED_JSON = (
    '{"type":"and","left":{"type":"and","left":{"type":"eq","term":"device_id","value":74},'
    '"right":{"type":"gt","term":"event_time","value":"2021-10-01T10:00:00+00:00"}},'
    '"right":{"type":"lt","term":"event_time","value":"2021-10-04T20:00:00+00:00"}}'
)


def plan_with_icesql(warehouse: Path, times: Times) -> None:
    import icesql

    catalog = icesql.connect_catalog("local", type="hadoop", warehouse=str(warehouse))

    def plan(where: str | None) -> int:
        return len(catalog.load_table("db.events").scan(where).plan_files().paths)

    times.measure("seed query, first", lambda: plan(SEED_FILTER))
    times.measure("seed query, warm", lambda: plan(SEED_FILTER), repeat=9, warm=2)
    times.measure("full plan, first", lambda: plan(None))
    times.measure("full plan, warm", lambda: plan(None), repeat=5, warm=1)
    times.seconds["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"    peak {times.seconds['peak MB']:.0f} MB")
    sql_plans("icesql", warehouse, times)


def plan_with_jar(warehouse: Path, times: Times) -> None:
    spark = sql_plans("jar", warehouse, times)
    java = spark._jvm
    tables = java.org.apache.iceberg.hadoop.HadoopTables(spark._jsc.hadoopConfiguration())
    sizes = getattr(java, "org.apache.iceberg.relocated.com.google.common.collect.Iterables")
    where = java.org.apache.iceberg.expressions.ExpressionParser.fromJson(SEED_JSON)

    def plan(filtered: bool) -> int:
        scan = tables.load(f"{warehouse}/db/events").newScan()
        return int(sizes.size((scan.filter(where) if filtered else scan).planFiles()))

    times.measure("seed query, first", lambda: plan(True))
    times.measure("seed query, warm", lambda: plan(True), repeat=9, warm=4)
    times.measure("full plan, first", lambda: plan(False))
    times.measure("full plan, warm", lambda: plan(False), repeat=5, warm=3)


def plan_with_pyiceberg(warehouse: Path, times: Times) -> None:
    from pyiceberg.table import StaticTable

    def plan(where: str | None) -> int:
        table = StaticTable.from_metadata(f"{warehouse}/db/events/metadata/v1.metadata.json")
        scan = table.scan(row_filter=where) if where else table.scan()
        return len(list(scan.plan_files()))

    where = "device_id = 74 and event_time > '2021-10-01T10:00:00+00:00' and event_time < '2021-10-04T20:00:00+00:00'"
    times.measure("seed query, first", lambda: plan(where))
    times.measure("seed query, warm", lambda: plan(where), repeat=3)
    times.measure("full plan, first", lambda: plan(None))
    times.measure("full plan, warm", lambda: plan(None))


def sql_plans(engine: str, warehouse: Path, times: Times) -> Any:
    """From SQL text to the partitions of the physical plan."""
    spark, sql = open_session(engine, warehouse)

    def partitions(text: str) -> int:
        return int(sql(text)._jdf.queryExecution().toRdd().getNumPartitions())

    times.measure("SQL seed query, text to partitions", lambda: partitions(SEED_SQL), repeat=7, warm=3)
    times.measure("SQL full scan, text to partitions", lambda: partitions("select * from local.db.events"), repeat=3, warm=1)
    times.measure(
        "count over files", lambda: sql("select count(*), sum(record_count) from local.db.events.files").collect(), repeat=3, warm=1
    )
    times.measure("rows of partitions", lambda: len(sql("select * from local.db.events.partitions").collect()), repeat=3, warm=1)
    return spark


ENGINES = {"icesql": plan_with_icesql, "jar": plan_with_jar, "pyiceberg": plan_with_pyiceberg}


def compare(title: str, engines: tuple[str, ...], **table: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), **table)
        print(f"\n  -- {title}", flush=True)
        found = {engine: run_apart("benchmarks.planning", engine, folder) for engine in engines}
    peak = found["icesql"].seconds.pop("peak MB")
    print_ratios(found["icesql"], **{engine: times for engine, times in found.items() if engine != "icesql"})
    print(f"  icesql's peak memory: {peak:.0f} MB")


def main() -> None:
    compare("100,000 files", ("icesql", "jar", "pyiceberg"), files=100_000)
    compare("100,000 files, 10,000 deletion vectors", ("icesql", "jar", "pyiceberg"), files=100_000, deletion_vectors=10_000)
    compare("1,000,000 files", ("icesql", "jar"), files=1_000_000, manifests=200)


if __name__ == "__main__":
    outcome = Times()
    ENGINES[sys.argv[1]](Path(sys.argv[2]), outcome)
    outcome.save(Path(sys.argv[3]))
