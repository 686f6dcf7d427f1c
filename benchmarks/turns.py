"""Two engines by turns: a session of each, in a process of its own, that run the same statements one after the other.

What else the machine does, and how fast it is at the moment, touches both alike. An engine's process is ``python -m benchmarks.turns ENGINE
WAREHOUSE TPCH_FOLDER``; it answers lines of JSON on its standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.engines import ROOT, cpu_seconds, open_session

ENGINES = ("jar", "icesql")
Lines = dict[str, dict[str, list[tuple[float, float]]]]  # by what was timed and engine: (wall, CPU) seconds of each run
TABLES = ("lineitem", "orders", "customer", "supplier", "nation", "region", "part", "partsupp")


class Engine:
    """One engine's session, asked from here."""

    def __init__(self, name: str, warehouse: Path, tpch: Path) -> None:
        command = [sys.executable, "-m", "benchmarks.turns", name, str(warehouse), str(tpch)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        self.name = name
        seconds, cpu = self._answer()
        self.started = (seconds, cpu)

    def run(self, text: str) -> tuple[float, float, list[Any]]:
        """(wall seconds, CPU seconds of all its processes, rows) of a statement."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        seconds, cpu, rows = self._answer()
        return seconds, cpu, rows

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the session of {self.name} ended: see what it printed")
        return json.loads(line)


class Turns:
    """Statements timed on both engines by turns; ``lines`` has a line a measurement."""

    def __init__(self, folder: Path, tpch: Path, *, begins: str) -> None:
        """``begins``: the engine whose session starts first, while nothing else of ours works."""
        made = {name: Engine(name, folder / name, tpch) for name in sorted(ENGINES, key=lambda name: name != begins)}
        self.engines = [made[name] for name in ENGINES]
        self.lines: Lines = {}
        self.started = {engine.name: [engine.started] for engine in self.engines}

    def __enter__(self) -> Turns:
        return self

    def __exit__(self, *error: object) -> None:
        for engine in self.engines:
            engine.close()

    def do(self, *texts: str) -> list[list[Any]]:
        """Run statements untimed; the rows of the last, an engine each."""
        return [[engine.run(text)[2] for text in texts][-1] for engine in self.engines]

    def run(
        self,
        name: str,
        text: str | Callable[[int, str], str],
        repeat: int = 1,
        warm: int = 0,
        before: Callable[[int], Iterable[str]] = lambda number: (),
    ) -> None:
        """Time ``text``, or what it makes of the run's number and the engine's name, ``repeat`` times after ``warm`` uncounted runs.

        ``before``: statements that come first, untimed. The engine that begins changes with each run.
        """
        times = self.lines[name] = {engine: [] for engine in ENGINES}
        for number in range(warm + repeat):
            for engine in self.engines if number % 2 else reversed(self.engines):
                for statement in before(number):
                    engine.run(statement)
                seconds, cpu, _ = engine.run(text if isinstance(text, str) else text(number, engine.name))
                if number >= warm:
                    times[engine.name].append((seconds, cpu))
        print(_line(name, times), flush=True)


def print_summary(lines: Lines) -> None:
    print(f"\n  {'':40s} {'JAR':>7s} {'/ CPU':>7s}  {'icesql':>7s} {'/ CPU':>7s}   wall, pair by pair; CPU")
    for name, times in lines.items():
        print(_line(name, times))
    ratios = [_ratio(times) for times in lines.values()]
    print(f"  median x{statistics.median(ratios):.2f}, {sum(r < 1 for r in ratios)} of {len(ratios)} below 1")


def _ratio(times: dict[str, list[tuple[float, float]]]) -> float:
    return statistics.median(theirs[0] / ours[0] for theirs, ours in zip(times["jar"], times["icesql"], strict=True))


def _line(name: str, times: dict[str, list[tuple[float, float]]]) -> str:
    medians = {engine: [statistics.median(one[kind] for one in times[engine]) for kind in (0, 1)] for engine in ENGINES}
    (jar, jar_cpu), (ours, cpu) = medians["jar"], medians["icesql"]
    return f"  {name:40s} {jar:7.3f} {jar_cpu:7.2f}  {ours:7.3f} {cpu:7.2f}   x{_ratio(times):5.2f}  x{jar_cpu / max(cpu, 0.01):5.2f}"


def serve(name: str, warehouse: Path, tpch: Path) -> None:
    """One engine: a line of JSON for each statement that comes."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Spark prints is no answer
    start, used = time.perf_counter(), cpu_seconds()
    spark, sql = open_session(name, warehouse)
    started = (time.perf_counter() - start, cpu_seconds() - used)
    for table in TABLES:
        spark.read.parquet(str(tpch / f"{table}.parquet")).createOrReplaceTempView(f"src_{table}")
    spark.sql("select count(*) from src_lineitem").collect()
    sql("create namespace if not exists local.db").collect()
    print(json.dumps(started), file=answers, flush=True)
    for line in sys.stdin:
        used, start = cpu_seconds(), time.perf_counter()
        rows = sql(json.loads(line)).collect()
        seconds = time.perf_counter() - start
        print(json.dumps((seconds, cpu_seconds() - used, [list(row) for row in rows[:10]]), default=str), file=answers, flush=True)
    with contextlib.suppress(Exception):
        spark.stop()


if __name__ == "__main__":
    serve(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
