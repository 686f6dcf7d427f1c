"""Many processes commit to one table at the same time: how fast, and that nothing is lost or doubled.

    python -m benchmarks.load_commits --processes 16 --commits 50 [--catalog sqlite|postgres|hadoop|rest]

Mixed commits: append, delete, overwrite, rewrite of two files, schema change. PostgreSQL is started for the run (Debian's packages), and so
is Iceberg's own REST server (scripts/fetch_rest_server.sh).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from icesql.catalog.loading import load_catalog
from tests.catalog.workload import check_load, check_with_pyiceberg, run_load
from tests.postgres import start_postgres, stop_postgres
from tests.rest.reference_server import start_server


def measure(kind: str, properties: dict[str, str], folder: Path, processes: int, commits: int) -> None:
    started = time.perf_counter()
    journal = run_load(properties, folder, writers=processes, commits=commits)
    seconds = time.perf_counter() - started
    table = check_load(load_catalog("test", properties), journal)
    versions = check_with_pyiceberg(table)
    rate = len(journal) / seconds
    print(f"{kind}: {len(journal)} commits of {processes} processes in {seconds:.1f} s, {rate:.1f} a second", flush=True)
    print(f"{kind}: nothing lost, nothing doubled, every manifest of every version read, {versions} versions read by PyIceberg", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--commits", type=int, default=50, help="of each process")
    parser.add_argument("--catalog", choices=["sqlite", "postgres", "hadoop", "rest"], action="append")
    options = parser.parse_args()
    for kind in options.catalog or ["sqlite", "postgres", "hadoop"]:
        with tempfile.TemporaryDirectory() as folder:
            run_one(kind, Path(folder), options.processes, options.commits)


def run_one(kind: str, folder: Path, processes: int, commits: int) -> None:
    if kind == "rest":
        rest = start_server(folder / "server")
        try:
            measure(kind, {"type": "rest", "uri": rest.uri, "warehouse": str(rest.warehouse)}, folder, processes, commits)
        finally:
            rest.stop()
        return
    properties = {"type": "hadoop" if kind == "hadoop" else "sql", "warehouse": str(folder / "warehouse")}
    if kind != "postgres":
        measure(kind, properties, folder, processes, commits)
        return
    server = start_postgres()
    try:
        measure(kind, {**properties, "uri": server.uri}, folder, processes, commits)
    finally:
        stop_postgres(server)


if __name__ == "__main__":
    main()
