"""The Arrow reader beside Spark's own on local disk, and the requests that statements make of an S3 server: ``./dev bench stores``.

The scale factor is 1, or what ``ICESQL_BENCH_SCALE`` says. Both readers run by turns in one session, three times after a run untimed.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.engines import open_session
from benchmarks.sql import QUERIES, tpch_folder
from tests.stores.proxy import proxy
from tests.stores.s3_server import s3_server

READERS = ("spark", "arrow")
RUNS = 3
LATENCIES_MS = (0, 20, 80)
LOCAL = {name: QUERIES[name].format("li") for name in ("q1", "q6", "full scan")} | {
    "point lookup": "select * from local.db.li where l_orderkey = 7000",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        spark, sql = open_session("icesql", Path(folder))
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
        _requests(spark, source)


def _requests(spark: Any, source: Path) -> None:
    """Seconds and requests of each statement on S3, by the time that each request takes longer."""
    import icesql

    with s3_server() as server, proxy(server.port) as through:
        server.new_bucket("lake")
        warehouse = {"warehouse": "s3://lake/wh", "uri": f"sqlite:///{server.folder}/catalog.db", **server.properties(through.endpoint)}
        ice = icesql.connect(spark, catalogs={"lake": {"type": "sql", **warehouse}})
        ice.sql("create namespace lake.db").collect()
        print("S3: seconds, and requests, by milliseconds of latency a request")
        for latency in LATENCIES_MS:
            through.latency_s = latency / 1000
            statements = {
                "CTAS": f"create table lake.db.t{latency} as select * from parquet.`{source}`",
                "insert one row": f"insert into lake.db.t{latency} select * from lake.db.t{latency} limit 1",
                "point lookup": f"select * from lake.db.t{latency} where l_orderkey = 7000",
                "q6": QUERIES["q6"].format("li").replace("local.db.li", f"lake.db.t{latency}"),
                "delete": f"delete from lake.db.t{latency} where l_orderkey = 7000",
            }
            for name, text in statements.items():
                through.requests.clear()
                seconds = _timed(ice.sql, text)
                kinds = ", ".join(f"{count} {method}" for method, count in sorted(Counter(m for m, _ in through.requests).items()))
                print(f"  {latency:3d} ms {name:16s} {seconds:7.3f} s  {len(through.requests):4d} requests: {kinds}", flush=True)


def _timed(sql: Any, text: str) -> float:
    begun = time.perf_counter()
    sql(text).collect()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
