"""Kill a writer at each point of a commit, many times, and look at the table after each: python -m benchmarks.kill_commits --rounds 20"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.catalog.test_kill import kill_everywhere
from tests.postgres import start_postgres, stop_postgres


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="kills at each point")
    parser.add_argument("--catalog", choices=["sqlite", "postgres", "hadoop"], action="append")
    options = parser.parse_args()
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
        print(f"{kind}: {sum(killed.values())} kills at {len(killed)} points, no acknowledged commit lost, none half there")


if __name__ == "__main__":
    main()
