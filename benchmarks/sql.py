"""TPC-H through SQL on both engines: ``./dev bench sql``. One part on one engine: ``python -m benchmarks.sql ENGINE PART OUT``.

The scale factor is 1, or what ``ICESQL_BENCH_SCALE`` says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.engines import DATA, Times, open_session, print_ratios, run_apart

SCALE = os.environ.get("ICESQL_BENCH_SCALE", "1")
CHANGED_KEYS = int(1_500_000 * float(SCALE))  # 1.5 M rows of lineitem at scale factor 1
TABLES = ("lineitem", "orders", "customer", "supplier", "nation", "region", "part", "partsupp")
LAYOUTS = {
    "li": ("unpartitioned", ""),
    "lip": ("by month", "partitioned by (months(l_shipdate))"),
    "lib": ("in 16 buckets", "partitioned by (bucket(16, l_orderkey))"),
}
QUERIES = {
    "q1": "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice*(1-l_discount)), avg(l_quantity), "
    "count(*) from local.db.{} where l_shipdate <= date'1998-09-02' group by 1,2 order by 1,2",
    "q3": "select l_orderkey, sum(l_extendedprice*(1-l_discount)) rev, o_orderdate, o_shippriority from local.db.customer, local.db.orders, "
    "local.db.{} where c_mktsegment='BUILDING' and c_custkey=o_custkey and l_orderkey=o_orderkey and o_orderdate<date'1995-03-15' "
    "and l_shipdate>date'1995-03-15' group by 1,3,4 order by rev desc, o_orderdate limit 10",
    "q5": "select n_name, sum(l_extendedprice*(1-l_discount)) rev from local.db.customer, local.db.orders, local.db.{}, local.db.supplier, "
    "local.db.nation, local.db.region where c_custkey=o_custkey and l_orderkey=o_orderkey and l_suppkey=s_suppkey and "
    "c_nationkey=s_nationkey and s_nationkey=n_nationkey and n_regionkey=r_regionkey and r_name='ASIA' and o_orderdate>=date'1994-01-01' "
    "and o_orderdate<date'1995-01-01' group by n_name order by rev desc",
    "q6": "select sum(l_extendedprice*l_discount) from local.db.{} where l_shipdate >= date'1994-01-01' and l_shipdate < date'1995-01-01' "
    "and l_discount between 0.05 and 0.07 and l_quantity < 24",
    "full scan": "select count(l_comment), max(l_partkey), max(l_suppkey), max(l_shipinstruct), max(l_commitdate), sum(l_tax) from local.db.{}",
}
MERGE = (
    f"merge into local.db.m t using (select * from src_lineitem where l_orderkey % 100 = 9 and l_orderkey < {CHANGED_KEYS + CHANGED_KEYS // 15}) s "
    "on t.l_orderkey = s.l_orderkey and t.l_linenumber = s.l_linenumber "
    "when matched and s.l_discount > 0.09 then delete when matched then update set * when not matched then insert *"
)
METADATA_TABLES = ("snapshots", "history", "files", "manifests", "partitions", "entries", "refs")


def tpch_folder() -> Path:
    """TPC-H as Parquet, generated once."""
    folder = DATA / f"tpch-sf{SCALE}"
    if not (folder / "lineitem.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        generator = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run([str(generator), "parquet", "-s", SCALE, "--output-dir", str(folder)], check=True)
    return folder


class Workload:
    """Statements of one part, timed on one engine."""

    def __init__(self, engine: str, warehouse: Path) -> None:
        self.times = Times()
        self.spark, self.sql = open_session(engine, warehouse)
        for table in TABLES:
            self.spark.read.parquet(str(tpch_folder() / f"{table}.parquet")).createOrReplaceTempView(f"src_{table}")
        self.spark.sql("select count(*) from src_lineitem").collect()
        self.do("create namespace if not exists local.db")

    def do(self, *texts: str) -> None:
        for text in texts:
            self.sql(text).collect()

    def run(self, name: str, text: str | Iterator[str], repeat: int = 1, warm: int = 0, before: Callable[[], None] | None = None) -> None:
        """``text``: the statement, or an iterator over as many as there are runs."""

        def statement() -> Any:
            return self.sql(text if isinstance(text, str) else next(text)).collect()

        self.times.measure(name, statement, repeat=repeat, warm=warm, before=before)


def numbered(text: str) -> Iterator[str]:
    """The text with 0, 1, 2 ... in the place of ``{}``."""
    number = 0
    while True:
        yield text.format(number)
        number += 1


# -- the parts -------------------------------------------------------------------------------------------------------------


def statements(work: Workload) -> None:
    """What a statement costs at least."""
    often = partial(work.run, repeat=15, warm=8)
    often("create table", numbered("create table local.db.c{} (id bigint, s string) using iceberg"))
    work.do("create table local.db.tiny (id bigint, s string) using iceberg")
    often("insert one row", "insert into local.db.tiny values (1, 'a')")
    often("count with a filter of a tiny table", "select count(*) from local.db.tiny where id = 1")
    often("select * from a tiny table", "select * from local.db.tiny")
    often("count(*) of a tiny table", "select count(*) from local.db.tiny")
    [[first, *_], *_] = work.sql("select snapshot_id from local.db.tiny.snapshots order by committed_at").collect()
    often("time travel to a snapshot", f"select * from local.db.tiny version as of {first}")
    often("set a table property", numbered("alter table local.db.tiny set tblproperties ('n' = '{}')"))
    often("describe table", "describe table local.db.tiny")
    for name in METADATA_TABLES:
        often(f"metadata table {name}", f"select * from local.db.tiny.{name}")
    often(
        "metadata-only delete of one row",
        "delete from local.db.tiny where id = 1",
        before=lambda: work.do("insert into local.db.tiny values (1, 'a')"),
    )
    modes = ", ".join(f"'write.{verb}.mode' = 'merge-on-read'" for verb in ("delete", "update", "merge"))
    for name, properties in (("cow", "'format-version' = '2'"), ("mor", modes)):
        work.do(
            f"create table local.db.{name} using iceberg tblproperties ({properties}) as select /*+ coalesce(1) */ id, 'x' as s from range(2000)"
        )
        few = partial(work.run, repeat=7, warm=4)
        few(f"delete one row {name}", numbered(f"delete from local.db.{name} where id = {{}}"))
        few(f"update one row {name}", numbered(f"update local.db.{name} set s = 'y' where id = {{}} + 100"))
        few(
            f"merge one row {name}",
            numbered(
                f"merge into local.db.{name} t using (select {{}} + 200L as id, 'z' as s) s on t.id = s.id "
                "when matched then update set * when not matched then insert *"
            ),
        )


def create(work: Workload, table: str, repeat: int = 1) -> None:
    layout, partitioning = LAYOUTS[table]
    work.run(
        f"ctas lineitem {layout}",
        f"create or replace table local.db.{table} using iceberg {partitioning} as select * from src_lineitem",
        repeat,
    )


def writes(work: Workload) -> None:
    for table in LAYOUTS:
        create(work, table, 2)
    for table in TABLES[1:]:
        work.run(f"ctas {table}", f"create or replace table local.db.{table} using iceberg as select * from src_{table}")
    work.run("rewrite_data_files", "call local.system.rewrite_data_files(table => 'db.lib', options => map('rewrite-all','true'))")


def queries(work: Workload) -> None:
    for table in TABLES[1:]:
        work.do(f"create table local.db.{table} using iceberg as select * from src_{table}")
    for table, (layout, partitioning) in LAYOUTS.items():
        work.do(f"create table local.db.{table} using iceberg {partitioning} as select * from src_lineitem")
        if table != "lib":
            for name, query in QUERIES.items():
                work.run(f"{name} {layout}", query.format(table), 5, 2)
    work.run("point lookup in a bucket", "select * from local.db.lib where l_orderkey = 1234567", 9, 3)
    work.run("count(*)", "select count(*) from local.db.li", 9, 3)


def row_level(mode: str, version: int, work: Workload) -> None:
    """DELETE, UPDATE and MERGE of 1 % of the rows in 4 buckets, each on a fresh table."""
    label = ("cow" if mode == "copy-on-write" else "mor") + f" v{version}"
    modes = ",".join(f"'write.{verb}.mode'='{mode}'" for verb in ("delete", "update", "merge"))

    def fresh() -> None:
        work.do(
            "drop table if exists local.db.m",
            f"create table local.db.m using iceberg partitioned by (bucket(4, l_orderkey)) tblproperties('format-version'='{version}',{modes}) "
            f"as select * from src_lineitem where l_orderkey < {CHANGED_KEYS}",
        )

    changed = partial(work.run, repeat=3, warm=1, before=fresh)
    changed(f"delete 1% {label}", "delete from local.db.m where l_orderkey % 100 = 7")
    changed(f"update 1% {label}", "update local.db.m set l_comment = 'x', l_quantity = l_quantity + 1 where l_orderkey % 100 = 8")
    changed(f"merge 1% {label}", MERGE)
    work.run(f"read after merge {label}", "select count(*), sum(l_quantity), max(l_comment) from local.db.m", 7, 3)
    work.run(f"metadata-only delete {label}", "delete from local.db.m where l_orderkey is not null")


PARTS: dict[str, Callable[[Workload], None]] = {
    "statements": statements,
    "writes": writes,
    "queries": queries,
    "copy-on-write": partial(row_level, "copy-on-write", 2),
    "merge-on-read-v2": partial(row_level, "merge-on-read", 2),
    "merge-on-read-v3": partial(row_level, "merge-on-read", 3),
}


def run_part(engine: str, part: str) -> Times:
    warehouse = Path(tempfile.gettempdir()) / f"icesql-bench-sql-{engine}"
    shutil.rmtree(warehouse, ignore_errors=True)
    work = Workload(engine, warehouse)
    PARTS[part](work)
    work.spark.stop()
    shutil.rmtree(warehouse, ignore_errors=True)
    return work.times


def main(*parts: str) -> None:
    """Both engines, one part after the other, so that what else the machine does touches both alike."""
    tpch_folder()
    ours, theirs = Times(), Times()
    for part in parts or PARTS:
        for engine, all_times in (("jar", theirs), ("icesql", ours)):
            times = run_apart("benchmarks.sql", engine, part)
            all_times.seconds |= times.seconds
            all_times.cpu |= times.cpu
    print_ratios(ours, jar=theirs)


if __name__ == "__main__":
    run_part(sys.argv[1], sys.argv[2]).save(Path(sys.argv[3]))
