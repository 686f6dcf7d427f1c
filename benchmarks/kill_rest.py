"""Kills and lost replies within commits over Iceberg's own REST server: python -m benchmarks.kill_rest --kills 100 --losses 90 --restarts 10

Clients are killed at each point of a commit, replies of commits are lost, doubled and wrong, and the server is killed with a commit in its
hands. After each the table is read: what was acknowledged is there once, what was called failed is not there.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from pathlib import Path

from tests.rest.kills import run
from tests.rest.reference_server import start_server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in {"--kills": 100, "--losses": 90, "--restarts": 10, "--seed": 0}.items():
        parser.add_argument(name, type=int, default=default)
    options, _ = parser.parse_known_args()
    logging.disable(logging.WARNING)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "server")
        try:
            for tally in run(server, Path(folder), **vars(options)):
                done = sum(tally.happened.values())
                if done % 25 == 0:
                    print(f"{done} strikes, {time.monotonic() - started:.0f} s", flush=True)
        finally:
            server.stop()
    print(tally.line())
    for happening, count in sorted(tally.happened.items()):
        print(f"  {count:3d}  {happening}")


if __name__ == "__main__":
    main()
