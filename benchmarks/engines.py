"""The peers: one Spark session an engine, each in a process of its own, and how their times are set side by side."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "benchmarks" / "data"
STORE = "ICESQL_BENCH_S3"
CONF = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "4g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}


def open_session(engine: str, warehouse: Path) -> tuple[Any, Callable[[str], Any]]:
    """(spark, sql) of ``jar`` or ``icesql``, with the hadoop catalog ``local`` on ``warehouse``; with ``ICESQL_BENCH_S3`` set to the settings of
    a store, as JSON, also the catalog ``lake`` on it, its database beside the warehouse."""
    from pyspark.sql import SparkSession

    warehouse.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = {
        **CONF,
        "spark.sql.warehouse.dir": str(warehouse / "spark"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={warehouse}",
    }
    conf |= {"spark.sql.catalog.local.type": "hadoop", "spark.sql.catalog.local.warehouse": str(warehouse)}
    store = json.loads(os.environ.get(STORE, "{}"))
    if store:
        uri = {"jar": "jdbc:sqlite:", "icesql": "sqlite:///"}[engine] + f"{warehouse}/lake.db"
        lake = {"type": {"jar": "jdbc", "icesql": "sql"}[engine], "uri": uri, **store}
        conf |= {f"spark.sql.catalog.lake.{key}": value for key, value in lake.items()}
    if engine == "jar":
        found = ("iceberg-spark-runtime-*.jar", "sqlite-jdbc-*.jar") if store else ("iceberg-spark-runtime-*.jar",)
        jars = ",".join(str(jar) for name in found for jar in (ROOT / ".oracle" / "jars").glob(name))
        if store:
            conf |= {
                "spark.driver.extraClassPath": str(max((ROOT / ".oracle" / "aws").glob("*.jar"))),
                "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
                "spark.sql.catalog.lake.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            }
        conf |= {
            "spark.jars": jars,
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.local": "org.apache.iceberg.spark.SparkCatalog",
        }
    builder = SparkSession.builder.master("local[2]").appName(f"bench-{engine}")
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    if engine == "jar":
        return spark, spark.sql
    import icesql

    return spark, icesql.connect(spark).sql


class Times:
    """Wall and CPU seconds by name; ``measure`` prints as it goes."""

    def __init__(self, seconds: dict[str, float] | None = None, cpu: dict[str, float] | None = None) -> None:
        self.seconds, self.cpu = seconds or {}, cpu or {}

    def measure(self, name: str, work: Callable[[], Any], *, repeat: int = 1, warm: int = 0) -> Any:
        """The medians of ``repeat`` runs after ``warm`` uncounted ones."""
        seconds, cpu, result = [], [], None
        for number in range(warm + repeat):
            start, used = time.perf_counter(), cpu_seconds()
            result = work()
            if number >= warm:
                seconds.append(time.perf_counter() - start)
                cpu.append(cpu_seconds() - used)
        self.seconds[name], self.cpu[name] = statistics.median(seconds), statistics.median(cpu)
        print(f"    {name:44s} {self.seconds[name]:9.4f} s {self.cpu[name]:9.3f} s CPU   {str(result)[:60]}", flush=True)
        return result

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({"seconds": self.seconds, "cpu": self.cpu}, indent=1))


def cpu_seconds() -> float:
    """CPU time of this process and everything it started: the JVM and its Python workers."""
    total = 0.0
    me = psutil.Process()
    for process in (me, *me.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            used = process.cpu_times()
            total += used.user + used.system + used.children_user + used.children_system
    return total


def run_apart(module: str, *arguments: str) -> Times:
    """Run ``python -m module arguments OUT`` in a fresh process and return the times it saved to OUT."""
    DATA.mkdir(parents=True, exist_ok=True)
    out = DATA / f"{module.rsplit('.', 1)[-1]}-{'-'.join(a.replace('/', '_')[-20:] for a in arguments)}.json"
    print(f"  {module} {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", module, *arguments, str(out)], check=True, cwd=ROOT)
    return Times(**json.loads(out.read_text()))


def print_ratios(ours: Times, **peers: Times) -> None:
    """A line a measurement: the peer's seconds, ours, how many times faster we are (below 1: slower), and the same of CPU seconds."""
    for peer, theirs in peers.items():
        shared = [name for name in ours.seconds if name in theirs.seconds]
        ratios = [theirs.seconds[name] / ours.seconds[name] for name in shared]
        print(f"\n  {'icesql against ' + peer:46s} {peer:>10s} {'icesql':>10s}   ratio {'CPU ' + peer:>14s} {'icesql':>10s}   ratio")
        for name, ratio in zip(shared, ratios, strict=True):
            wall = f"{theirs.seconds[name]:10.4f} {ours.seconds[name]:10.4f}  x{ratio:5.2f}"
            print(f"  {name:46s} {wall} {_cpu(ours.cpu.get(name), theirs.cpu.get(name))}{'' if ratio >= 1 else '   slower'}")
        if ratios:
            print(f"  median x{statistics.median(ratios):.2f}, {sum(r < 1 for r in ratios)} of {len(ratios)} slower")


def _cpu(ours: float | None, theirs: float | None) -> str:
    return f"{theirs:14.3f} {ours:10.3f}  x{theirs / ours:5.2f}" if ours and theirs else " " * 33
