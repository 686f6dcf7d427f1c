"""Kill a writer at each point of a commit, many times, and look at the table after each: python -m benchmarks.kill_commits --rounds 20

``--maintenance`` kills each kind of maintenance instead, at every step it takes.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.catalog.faults import POINTS
from tests.catalog.test_kill import kill_everywhere
from tests.postgres import start_postgres, stop_postgres
from tests.table.test_kill_maintenance import WORKS
from tests.table.test_kill_maintenance import kill_everywhere as kill_maintenance_everywhere


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="kills at each point")
    parser.add_argument("--catalog", choices=["sqlite", "postgres", "hadoop"], action="append")
    parser.add_argument("--maintenance", action="store_true", help="kill maintenance, at every step (SQLite and hadoop)")
    options = parser.parse_args()
    if options.maintenance:
        kill_maintenance()
        return
    for kind in options.catalog or ["sqlite", "postgres", "hadoop"]:
        server = start_postgres() if kind == "postgres" else None
        try:
            with tempfile.TemporaryDirectory() as folder:
                properties = {"type": "hadoop" if kind == "hadoop" else "sql", "warehouse": f"{folder}/warehouse"}
                if server is not None:
                    properties["uri"] = server.uri
                killed = kill_everywhere(properties, Path(folder), rounds=options.rounds)
        finally:
            if server is not None:
                stop_postgres(server)
        missed = [point for point in POINTS if killed[point] != options.rounds]
        if missed:
            raise SystemExit(f"{kind}: some writers were not killed where they should have been, so nothing is proven: {missed}")
        print(f"{kind}: {sum(killed.values())} kills at {len(killed)} points, no acknowledged commit lost, none half there", flush=True)


def kill_maintenance() -> None:
    for kind in ("sql", "hadoop"):
        for name in WORKS:
            with tempfile.TemporaryDirectory() as folder:
                kills = kill_maintenance_everywhere({"type": kind, "warehouse": f"{folder}/warehouse"}, Path(folder), name, kills=10_000)
            print(
                f"{kind}: {name}: {kills} kills, every one before it was done; all that remains reads, and the call again finishes",
                flush=True,
            )


if __name__ == "__main__":
    main()
