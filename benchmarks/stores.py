"""The Arrow reader beside Spark's own on local disk, and Iceberg's runtime beside icesql on an S3 server: ``./dev bench stores``; one of both:
``python -m benchmarks.stores local`` or ``s3``, after ``scripts/fetch_aws_bundle.sh`` and ``scripts/fetch_s3_server.sh``.

The scale factor is 1, or what ``ICESQL_BENCH_SCALE`` says. Both readers run by turns in one session, three times after a run untimed.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.engines import STORE, open_session
from benchmarks.sql import MERGE, QUERIES, SCALE, tpch_folder
from benchmarks.turns import ENGINES, Engine
from tests.stores.proxy import Proxy, proxy
from tests.stores.s3_server import s3_server

READERS = ("spark", "arrow")
RUNS = 3
LATENCIES_MS = (0, 20, 80)
LOCAL = {name: QUERIES[name].format("li") for name in ("q1", "q6", "full scan")} | {
    "point lookup": "select * from local.db.li where l_orderkey = 7000",
}


def main(*parts: str) -> None:
    for name in parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](Path(folder))


def _local(folder: Path) -> None:
    """Spark's own reader and that with Arrow, of the same files."""
    spark, sql = open_session("icesql", folder)
    source = tpch_folder() / "lineitem.parquet"
    spark.read.parquet(str(source)).createOrReplaceTempView("src")
    sql("create namespace local.db").collect()
    sql("create table local.db.li as select * from src").collect()
    sql("create table local.db.lo tblproperties ('write.format.default'='orc') as select * from src").collect()
    print("reader of local files: seconds of Spark's own, of Arrow, and how many times as fast Arrow is")
    for name, text in LOCAL.items():
        times = {reader: [] for reader in READERS}
        for number in range(RUNS + 1):
            for reader in READERS:
                spark.conf.set("spark.icesql.read.reader", reader)
                seconds = _timed(sql, text)
                if number:
                    times[reader].append(seconds)
        own, arrow = (statistics.median(times[reader]) for reader in READERS)
        print(f"  {name:14s} {own:7.3f} {arrow:7.3f} {own / arrow:6.2f}x", flush=True)
    spark.conf.unset("spark.icesql.read.reader")
    orc = [_timed(sql, LOCAL["q6"].replace("local.db.li", "local.db.lo")) for _ in range(RUNS + 1)][1:]
    print(f"  {'q6 of ORC':14s} {'':7s} {statistics.median(orc):7.3f}", flush=True)
    spark.stop()


def _stores(folder: Path) -> None:
    """Seconds and requests of each statement on one S3 server, of Iceberg's runtime and of icesql by turns, by the latency of a request."""
    with s3_server() as server, proxy(server.port) as theirs, proxy(server.port) as ours:
        server.new_bucket("lake")
        proxies, engines = dict(zip(ENGINES, (theirs, ours), strict=True)), {}
        for name, through in proxies.items():
            settings = {"warehouse": f"s3://lake/{name}", **server.properties(through.endpoint)}
            os.environ[STORE] = json.dumps(settings | {"client.region": settings["s3.region"]})
            engines[name] = Engine(name, folder / name, tpch_folder())
        try:
            for engine in engines.values():
                engine.run("create namespace lake.db")
                for table in ("orders", "customer"):
                    engine.run(f"create table lake.db.{table} using iceberg as select * from src_{table}")
            print(f"S3, TPC-H at scale {SCALE}: seconds and requests of the JAR, of icesql, how many times as fast icesql is")
            for latency in LATENCIES_MS:
                for through in proxies.values():
                    through.latency_s = latency / 1000
                for name, text in _statements(f"t{latency}").items():
                    _one_line(f"{latency:2d} ms {name}", text, engines, proxies)
        finally:
            for engine in engines.values():
                engine.close()


def _statements(table: str) -> dict[str, tuple[str, int]]:
    """The statements and how often each is run."""
    queries = {name: (QUERIES[name].format(table).replace("local.db.", "lake.db."), RUNS) for name in ("q1", "q3", "q6")}
    return {
        "CTAS": (f"create table lake.db.{table} using iceberg as select * from src_lineitem", 1),
        **queries,
        "point lookup": (f"select * from lake.db.{table} where l_orderkey = 7", RUNS),
        "insert one row": (f"insert into lake.db.{table} select * from src_lineitem where l_orderkey = 7 and l_linenumber = 1", RUNS),
        "1 % merge": (MERGE.replace("local.db.m ", f"lake.db.{table} "), 1),
    }


def _one_line(name: str, statement: tuple[str, int], engines: dict[str, Engine], proxies: dict[str, Proxy]) -> None:
    text, runs = statement
    seconds: dict[str, list[float]] = {engine: [] for engine in engines}
    kinds = {}
    for number in range(runs):
        for key in list(engines) if number % 2 else reversed(list(engines)):
            proxies[key].requests.clear()
            seconds[key].append(engines[key].run(text)[0])
            kinds[key] = Counter(method for method, _ in proxies[key].requests)
    jar, own = (statistics.median(seconds[key]) for key in ENGINES)
    shown = "; ".join(f"{kinds[key].total()} ({', '.join(f'{n} {method}' for method, n in sorted(kinds[key].items()))})" for key in ENGINES)
    print(f"  {name:20s} {jar:7.3f} {own:7.3f} {jar / own:6.2f}x   {shown}", flush=True)


def _timed(sql: Any, text: str) -> float:
    begun = time.perf_counter()
    sql(text).collect()
    return time.perf_counter() - begun


PARTS = {"local": _local, "s3": _stores}

if __name__ == "__main__":
    main(*sys.argv[1:])
