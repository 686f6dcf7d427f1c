"""What JDBC adds to a statement, and beside stock Spark's Thrift server with Iceberg's runtime, by turns.

A server is a process (``python -m benchmarks.sql_server ENGINE PORT WAREHOUSE``) that also times statements in itself, a line of input each.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.engines import ROOT, open_session

REPEAT, WARM = 15, 5
STATEMENTS = {
    "SELECT 1": "SELECT 1",
    "a row of a table": "SELECT * FROM local.db.t WHERE id = 7",
    "count(*) with a filter": "SELECT count(*) FROM local.db.t WHERE id % 2 = 0",
    "a metadata table": "SELECT count(*) FROM local.db.t.snapshots",
    "SHOW TABLES": "SHOW TABLES IN local.db",
    "INSERT of a row": "INSERT INTO local.db.t VALUES (1, 'x')",
}


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


class Server:
    def __init__(self, engine: str, folder: Path) -> None:
        from pyhive import hive

        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        command = [sys.executable, "-m", "benchmarks.sql_server", engine, str(port), str(folder)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._answer()
        self._client = hive.connect("127.0.0.1", port, username="bench")
        for text in (
            "CREATE NAMESPACE local.db",
            "CREATE TABLE local.db.t (id BIGINT, s STRING)",
            "INSERT INTO local.db.t SELECT id, 'a' FROM range(1000)",
        ):
            self._execute(text)

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def _execute(self, text: str) -> None:
        cursor = self._client.cursor()
        cursor.execute(text)
        cursor.fetchall()
        cursor.close()

    def by_jdbc(self, text: str) -> float:
        return _seconds(lambda: self._execute(text))

    def inside(self, text: str) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._client.close()
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = Server("icesql", Path(folder, "icesql")), Server("jar", Path(folder, "jar"))
        print(
            f"  {'milliseconds, medians of ' + str(REPEAT):28s} {'in process':>10s} {'JDBC':>8s} {'more':>7s}   {'JAR JDBC':>9s} {'JAR in process':>14s}   ratio by JDBC, pair by pair"
        )
        for name, text in STATEMENTS.items():
            times: list[tuple[float, ...]] = []
            for _ in range(WARM + REPEAT):
                times.append((ours.inside(text), ours.by_jdbc(text), theirs.by_jdbc(text), theirs.inside(text)))
            kept = times[WARM:]
            inside, jdbc, jar, jar_inside = (statistics.median(one[place] for one in kept) * 1000 for place in range(4))
            more = statistics.median(one[1] - one[0] for one in kept) * 1000
            ratio = statistics.median(one[2] / one[1] for one in kept)
            print(f"  {name:28s} {inside:10.1f} {jdbc:8.1f} {more:+7.1f}   {jar:9.1f} {jar_inside:14.1f}   x{ratio:.2f}", flush=True)
        ours.close()
        theirs.close()


def serve(engine: str, port: int, folder: Path) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark prints is no answer
    folder.mkdir(parents=True)
    run = _icesql(port, folder) if engine == "icesql" else _stock(port, folder)
    print(json.dumps("ready"), file=answers, flush=True)
    for line in sys.stdin:
        text = json.loads(line)
        print(json.dumps(_seconds(lambda: run(text).collect())), file=answers, flush=True)  # noqa: B023 - it has run when the loop goes on


def _icesql(port: int, folder: Path) -> Callable[[str], Any]:
    from icesql.sql_server.running import Options, SqlServer

    conf = {"spark.driver.memory": "2g", "spark.sql.catalog.local.type": "hadoop", "spark.sql.catalog.local.warehouse": str(folder)}
    server = SqlServer(Options(jdbc_port=port, connect_port=None, conf={**conf, "spark.sql.shuffle.partitions": "4"}, master="local[2]"))
    return server.clients.session(str(server.spark._jsparkSession.sessionUUID()), lambda: server.spark).sql


def _stock(port: int, folder: Path) -> Callable[[str], Any]:
    spark, sql = open_session("jar", folder)
    jvm = spark._jvm
    jvm.System.clearProperty("derby.system.home")
    for key, value in {"thrift.port": str(port), "thrift.bind.host": "127.0.0.1"}.items():
        jvm.System.setProperty(f"hive.server2.{key}", value)
    jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2.startWithContext(spark._jsparkSession.sqlContext())
    return sql


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
