"""TPC-H through SQL on both engines by turns: ``./dev bench sql``. Some parts of it: ``python -m benchmarks.sql PART ...``.

The scale factor is 1, or what ``ICESQL_BENCH_SCALE`` says.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.engines import DATA
from benchmarks.turns import ENGINES, TABLES, Lines, Turns, print_summary

SCALE = os.environ.get("ICESQL_BENCH_SCALE", "1")
CHANGED_KEYS = int(1_500_000 * float(SCALE))  # 1.5 M rows of lineitem at scale factor 1
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


def numbered(text: str) -> Callable[[int, str], str]:
    """The text with the run's number in the place of ``{}``."""
    return lambda number, engine: text.format(number)


# -- the parts -------------------------------------------------------------------------------------------------------------


def statements(work: Turns) -> None:
    """What a statement costs at least."""
    often = partial(work.run, repeat=15, warm=8)
    often("create table", numbered("create table local.db.c{} (id bigint, s string) using iceberg"))
    work.do("create table local.db.tiny (id bigint, s string) using iceberg")
    often("insert one row", "insert into local.db.tiny values (1, 'a')")
    often("count with a filter of a tiny table", "select count(*) from local.db.tiny where id = 1")
    often("select * from a tiny table", "select * from local.db.tiny")
    often("count(*) of a tiny table", "select count(*) from local.db.tiny")
    snapshots = work.do("select snapshot_id from local.db.tiny.snapshots order by committed_at limit 1")
    first = {engine.name: rows[0][0] for engine, rows in zip(work.engines, snapshots, strict=True)}
    often("time travel to a snapshot", lambda number, engine: f"select * from local.db.tiny version as of {first[engine]}")
    often("set a table property", numbered("alter table local.db.tiny set tblproperties ('n' = '{}')"))
    often("describe table", "describe table local.db.tiny")
    for name in METADATA_TABLES:
        often(f"metadata table {name}", f"select * from local.db.tiny.{name}")
    often(
        "metadata-only delete of one row",
        "delete from local.db.tiny where id = 1",
        before=lambda number: ["insert into local.db.tiny values (1, 'a')"],
    )
    for name, properties in (("cow", "'format-version' = '2'"), ("mor", modes("merge-on-read"))):
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


def writes(work: Turns) -> None:
    create = "create or replace table local.db.{} using iceberg {} as select * from src_{}"
    for table, (layout, partitioning) in LAYOUTS.items():
        work.run(f"ctas lineitem {layout}", create.format(table, partitioning, "lineitem"), 2)
    for table in TABLES[1:]:
        work.run(f"ctas {table}", create.format(table, "", table), 3)
    work.run("rewrite_data_files", "call local.system.rewrite_data_files(table => 'db.lib', options => map('rewrite-all','true'))")


def queries(work: Turns) -> None:
    for table in TABLES[1:]:
        work.do(f"create table local.db.{table} using iceberg as select * from src_{table}")
    for table, (layout, partitioning) in LAYOUTS.items():
        work.do(f"create table local.db.{table} using iceberg {partitioning} as select * from src_lineitem")
        if table != "lib":
            for name, query in QUERIES.items():
                work.run(f"{name} {layout}", query.format(table), 5, 2)
    work.run("point lookup in a bucket", "select * from local.db.lib where l_orderkey = 1234567", 9, 3)
    work.run("count(*)", "select count(*) from local.db.li", 9, 3)


def avro(work: Turns) -> None:
    """A table whose data files are Avro: flat columns, and nested ones."""
    flat = "l_orderkey, l_linenumber, l_quantity, l_shipdate, l_shipmode, l_comment"
    create = "create or replace table local.db.{} using iceberg tblproperties('write.format.default'='avro') as select {} from src_lineitem where l_orderkey < {}"
    work.run("ctas six columns, Avro", create.format("flat", flat, CHANGED_KEYS))
    most = (
        "select max(l_orderkey), max(l_linenumber), sum(l_quantity), max(l_shipdate), max(l_shipmode), count(l_comment) from local.db.flat"
    )
    work.run("scan of six columns, Avro", most, 5, 2)
    work.run("scan of one column, Avro", "select max(l_orderkey) from local.db.flat", 5, 2)
    nested = "l_orderkey, named_struct('number', l_linenumber, 'mode', l_shipmode) s, array(l_quantity, l_tax) a"
    work.do(create.format("nested", nested, CHANGED_KEYS // 5))
    work.run("scan of nested columns, Avro", "select max(l_orderkey), max(s.mode), sum(a[0]) from local.db.nested", 5, 2)


def row_level(mode: str, version: int, work: Turns) -> None:
    """DELETE, UPDATE and MERGE of 1 % of the rows in 4 buckets, each from the table as it was written."""
    label = ("cow" if mode == "copy-on-write" else "mor") + f" v{version}"
    work.do(
        f"create table local.db.m using iceberg partitioned by (bucket(4, l_orderkey)) tblproperties('format-version'='{version}',{modes(mode)}) "
        f"as select * from src_lineitem where l_orderkey < {CHANGED_KEYS}",
        "alter table local.db.m create tag base",
    )

    def as_written(number: int) -> list[str]:
        return ["call local.system.set_current_snapshot(table => 'db.m', ref => 'base')"]

    changed = partial(work.run, repeat=5 if mode == "merge-on-read" else 3, warm=2, before=as_written)
    changed(f"delete 1% {label}", "delete from local.db.m where l_orderkey % 100 = 7")
    changed(f"update 1% {label}", "update local.db.m set l_comment = 'x', l_quantity = l_quantity + 1 where l_orderkey % 100 = 8")
    changed(f"merge 1% {label}", MERGE)
    work.run(f"read after merge {label}", "select count(*), sum(l_quantity), max(l_comment) from local.db.m", 9, 4)
    delete = "delete from local.db.m where l_orderkey is not null"
    work.run(f"metadata-only delete {label}", delete, 5, 1, before=as_written)


def modes(mode: str) -> str:
    return ",".join(f"'write.{verb}.mode'='{mode}'" for verb in ("delete", "update", "merge"))


PARTS: dict[str, Callable[[Turns], None]] = {
    "statements": statements,
    "writes": writes,
    "queries": queries,
    "avro": avro,
    "copy-on-write": partial(row_level, "copy-on-write", 2),
    "merge-on-read-v2": partial(row_level, "merge-on-read", 2),
    "merge-on-read-v3": partial(row_level, "merge-on-read", 3),
}


def main(*parts: str) -> None:
    """The parts, each with a fresh session of either engine; every statement runs on one engine, then on the other."""
    tpch = tpch_folder()
    lines: Lines = {}
    for number, part in enumerate(parts or PARTS):
        folder = Path(tempfile.mkdtemp(prefix="icesql-bench-sql-"))
        with Turns(folder, tpch, begins=ENGINES[number % 2]) as work:
            PARTS[part](work)
            for engine, started in work.started.items():
                lines.setdefault("start of a session", {}).setdefault(engine, []).extend(started)
            lines |= work.lines
        shutil.rmtree(folder, ignore_errors=True)
    print_summary(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
