"""TPC-H SF1 through SQL on both engines: ``./dev bench sql``. Each engine: ``python -m benchmarks.sql ENGINE OUT``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.engines import DATA, Times, open_session, print_ratios, run_apart

TABLES = ("lineitem", "orders", "customer", "supplier", "nation", "region", "part", "partsupp")
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
}
MERGE = (
    "merge into local.db.m t using (select * from src_lineitem where l_orderkey % 100 = 9 and l_orderkey < 1600000) s "
    "on t.l_orderkey = s.l_orderkey and t.l_linenumber = s.l_linenumber "
    "when matched and s.l_discount > 0.09 then delete when matched then update set * when not matched then insert *"
)


def tpch_folder() -> Path:
    """TPC-H SF1 as Parquet, generated once."""
    folder = DATA / "tpch-sf1"
    if not (folder / "lineitem.parquet").exists():
        folder.mkdir(parents=True, exist_ok=True)
        generator = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run([str(generator), "parquet", "-s", "1", "--output-dir", str(folder)], check=True)
    return folder


def workload(engine: str, out: Path) -> None:
    """Every statement, timed."""
    warehouse = Path(tempfile.gettempdir()) / f"icesql-bench-sql-{engine}"
    shutil.rmtree(warehouse, ignore_errors=True)
    times = Times()
    spark, sql = open_session(engine, warehouse)
    source = tpch_folder()
    for table in TABLES:
        spark.read.parquet(str(source / f"{table}.parquet")).createOrReplaceTempView(f"src_{table}")
    spark.sql("select count(*) from src_lineitem").collect()

    def run(name: str, text: str, repeat: int = 1, before: Any = None, warm: int = 0) -> None:
        times.measure(name, lambda: sql(text).collect(), repeat=repeat, before=before, warm=warm)

    sql("create namespace if not exists local.db").collect()
    run("create table", "create table local.db.tiny (id bigint, s string) using iceberg")
    run("insert one row", "insert into local.db.tiny values (1, 'a')", 7, warm=3)
    run("select from a tiny table", "select count(*) from local.db.tiny where id = 1", 7, warm=2)
    for name, partitioning in (
        ("li", ""),
        ("lip", "partitioned by (months(l_shipdate))"),
        ("lib", "partitioned by (bucket(16, l_orderkey))"),
    ):
        run(
            f"ctas lineitem {partitioning or 'unpartitioned'}",
            f"create or replace table local.db.{name} using iceberg {partitioning} as select * from src_lineitem",
            2,
        )
    for table in TABLES[1:]:
        run(f"ctas {table}", f"create or replace table local.db.{table} using iceberg as select * from src_{table}")
    for table, layout in (("li", "unpartitioned"), ("lip", "by month")):
        for name, query in QUERIES.items():
            run(f"{name} {layout}", query.format(table), 5)
    run("point lookup in a bucket", "select * from local.db.lib where l_orderkey = 1234567", 5)
    run("count(*)", "select count(*) from local.db.li", 5)
    for mode, version in (("copy-on-write", 2), ("merge-on-read", 2), ("merge-on-read", 3)):
        row_level_changes(run, sql, mode, version)
    run("rewrite_data_files", "call local.system.rewrite_data_files(table => 'db.lib', options => map('rewrite-all','true'))")
    times.save(out)
    spark.stop()


def row_level_changes(run: Any, sql: Any, mode: str, version: int) -> None:
    """DELETE, UPDATE and MERGE of 1 % of 1.5 M rows in 4 buckets, each on a fresh table."""
    label = ("cow" if mode == "copy-on-write" else "mor") + f" v{version}"
    modes = ",".join(f"'write.{verb}.mode'='{mode}'" for verb in ("delete", "update", "merge"))

    def fresh() -> None:
        sql("drop table if exists local.db.m").collect()
        sql(
            f"create table local.db.m using iceberg partitioned by (bucket(4, l_orderkey)) tblproperties('format-version'='{version}',{modes}) "
            "as select * from src_lineitem where l_orderkey < 1500000"
        ).collect()

    run(f"delete 1% {label}", "delete from local.db.m where l_orderkey % 100 = 7", 2, fresh)
    run(f"update 1% {label}", "update local.db.m set l_comment = 'x', l_quantity = l_quantity + 1 where l_orderkey % 100 = 8", 2, fresh)
    run(f"merge 1% {label}", MERGE, 2, fresh)
    run(f"read after merge {label}", "select count(*), sum(l_quantity), max(l_comment) from local.db.m", 5)
    run(f"metadata-only delete {label}", "delete from local.db.m where l_orderkey is not null")


def main() -> None:
    tpch_folder()
    print_ratios(run_apart("benchmarks.sql", "icesql"), jar=run_apart("benchmarks.sql", "jar"))


if __name__ == "__main__":
    workload(sys.argv[1], Path(sys.argv[2]))
