"""REST catalog servers by turns, asked by icesql's own client: ``icesql serve``, Iceberg's reference server, and Nessie.

    python -m benchmarks.servers [--rounds 10] [--snapshots 10000] [--tables 2000] [--nessie]

Timed: load a table of many snapshots, list many tables, a commit of one file on a table in hand, 50 commits after one another, and 8 writers
of one table at once, 4 commits each, that try again when another was first. ``icesql serve`` is sent files and builds the snapshots, the
others get snapshots that the client has built. Over SQLite and local files each; Nessie, which keeps its names in memory and its files in
S3, needs ``--nessie`` and what ``./dev test-stores`` installs.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.rest import PATIENT, Client, many_snapshots, ours
from icesql.catalog.rest.catalog import RestCatalog
from tests.catalog.tables import SCHEMA
from tests.nessie.nessie_server import start_nessie
from tests.rest.reference_server import start_server
from tests.server.process import ServerProcess
from tests.stores.s3_server import s3_server

VERBS = ("load", "list", "commit", "50 commits", "8 writers")
OURS = "icesql serve"
_WARM_UP = 2


@contextmanager
def _icesql(folder: Path) -> Iterator[Mapping[str, str]]:
    folder.mkdir()
    with ServerProcess(folder) as server:
        yield {"uri": server.uri}


@contextmanager
def _reference(folder: Path) -> Iterator[Mapping[str, str]]:
    server = start_server(folder)
    try:
        yield {"uri": server.uri}
    finally:
        server.stop()


@contextmanager
def _nessie(_: Path) -> Iterator[Mapping[str, str]]:
    with s3_server() as s3:
        s3.new_bucket("lake")
        server = start_nessie(s3, "lake")
        try:
            yield server.properties(**s3.properties())
        finally:
            server.stop()


SERVERS = {OURS: _icesql, "reference": _reference, "Nessie": _nessie}


def prepared(properties: Mapping[str, str], snapshots: int, tables: int) -> Client:
    """A client of a server that has all the tables."""
    catalog = RestCatalog("setup", dict(properties))
    for namespace in ("db", "many"):
        catalog.create_namespace(namespace)
    many_snapshots(catalog, snapshots)
    for number in range(tables):
        catalog.create_table(f"many.t{number:06d}", SCHEMA)
    for verb in VERBS[2:]:
        catalog.create_table(_table(verb), SCHEMA, properties=PATIENT)
    return ours(properties)


def _table(verb: str) -> str:
    return {"load": "db.big", "list": "many"}.get(verb, f"db.{verb.replace(' ', '_')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--snapshots", type=int, default=10_000)
    parser.add_argument("--tables", type=int, default=2_000)
    parser.add_argument("--nessie", action="store_true")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        clients = {
            name: prepared(running.enter_context(start(Path(folder) / name.replace(" ", "-"))), options.snapshots, options.tables)
            for name, start in SERVERS.items()
            if name != "Nessie" or options.nessie
        }
        seconds: dict[tuple[str, str], list[float]] = {}
        for number in range(options.rounds + _WARM_UP):
            for verb in VERBS:
                for name, client in clients.items():
                    taken = client[verb](_table(verb))
                    if number >= _WARM_UP:
                        seconds.setdefault((verb, name), []).append(taken)
        for verb in VERBS:
            median_ms = {name: statistics.median(seconds[verb, name]) * 1000 for name in clients}
            others = "".join(
                f", {name} {median:.1f} ms (x{median / median_ms[OURS]:.2f})" for name, median in median_ms.items() if name != OURS
            )
            print(f"{verb:12s} {OURS} {median_ms[OURS]:.1f} ms{others}", flush=True)


if __name__ == "__main__":
    main()
