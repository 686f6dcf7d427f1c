"""REST clients by turns on Iceberg's own server: icesql, Iceberg's Java client and PyIceberg.

    python -m benchmarks.rest [--rounds 10] [--snapshots 10000] [--tables 10000]

Timed: load a table of many snapshots, list many tables, a commit of one file (metadata alone, on a table in hand), a one-row append with its
file (icesql and PyIceberg), 50 commits after one another, and 8 writers of one table at once, 4 commits each, that try again when another was
first. Counted through a proxy: requests, and bytes of bodies sent and received.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from icesql.catalog.rest.catalog import RestCatalog
from icesql.io.metadata_files import write_metadata
from icesql.spec.files import DataFile, FileContent
from icesql.table.operations import TableVersion
from tests.catalog.tables import SCHEMA, rows
from tests.rest.proxy import FaultProxy
from tests.rest.reference_server import JAR, ReferenceServer, start_server

HERE = Path(__file__).parent
SEVERAL, WRITERS, EACH = 50, 8, 4
MANY = ("50 commits", "8 writers", "8 appenders")
PATIENT = {"commit.retry.num-retries": "1000", "commit.retry.min-wait-ms": "10", "commit.retry.max-wait-ms": "200"}
Client = dict[str, Callable[[str], float]]


class Java:
    """Iceberg's client in a process of its own."""

    def __init__(self, uri: str, folder: Path) -> None:
        subprocess.run(["javac", "-cp", str(JAR), "-d", str(folder), str(HERE / "java" / "RestTurns.java")], check=True)
        command = ["java", "-Xmx1g", "-cp", f"{folder}:{JAR}", "RestTurns", uri]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, verb: str) -> Callable[[str], float]:
        def run(name: str) -> float:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(f"{verb} {name}\n")
            self._process.stdin.flush()
            for line in self._process.stdout:
                if line.startswith("= "):
                    return int(line[2:]) / 1e9
            raise RuntimeError("the Java client ended")

        return run

    def close(self) -> None:
        self._process.communicate("quit\n", timeout=30)


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def at_once(works: list[Callable[[], None]]) -> float:
    """All in threads of their own; until the last is done."""

    def all_of_them() -> None:
        with ThreadPoolExecutor(len(works)) as pool:
            for done in [pool.submit(work) for work in works]:
                done.result()

    return timed(all_of_them)


def ours(properties: Mapping[str, str]) -> Client:
    catalog = RestCatalog("icesql", dict(properties))
    held: dict[str, Any] = {}

    def table(name: str) -> Any:
        if name not in held:
            held[name] = catalog.load_table(name)
        return held[name]

    def load(name: str) -> float:
        return timed(lambda: catalog.load_table(name).snapshots[:1])

    def load_refs(name: str) -> float:
        return timed(lambda: refs.load_table(name).current_snapshot)

    refs = RestCatalog("refs", {**properties, "snapshot-loading-mode": "refs"})

    def commit(name: str) -> float:
        return timed(partial(commits, table(name), 1))

    def file_of(one: Any) -> DataFile:
        return DataFile(
            content=FileContent.DATA, file_path=f"{one.location}/data/{uuid.uuid4()}.parquet", file_format="parquet", spec_id=0, partition=(),
            record_count=1, file_size_in_bytes=1000,
        )  # fmt: skip

    def commits(one: Any, count: int) -> None:
        for _ in range(count):
            one.new_fast_append().append_files([file_of(one)]).commit()

    def several(name: str) -> float:
        return timed(partial(commits, table(name), SEVERAL))

    def writers(name: str) -> float:
        return at_once([partial(commits, catalog.load_table(name), EACH) for _ in range(WRITERS)])

    def append_writers(name: str) -> float:
        def append_each(one: Any) -> None:
            for _ in range(EACH):
                one.append(rows(1))

        return at_once([partial(append_each, catalog.load_table(name)) for _ in range(WRITERS)])

    def forget(name: str) -> float:
        catalog.loads.forget(tuple(name.split(".")))
        return load(name)

    return {
        "load": forget, "load again": load, "load, refs": load_refs, "list": lambda name: timed(lambda: catalog.list_tables(name)),
        "commit": commit, "append": lambda name: timed(lambda: table(name).append(rows(1))), "50 commits": several,
        "8 writers": writers, "8 appenders": append_writers,
    }  # fmt: skip


def pyiceberg(uri: str) -> Client:
    from pyiceberg.catalog.rest import RestCatalog as Theirs
    from pyiceberg.exceptions import CommitFailedException

    catalog = Theirs("pyiceberg", uri=uri)
    held: dict[str, Any] = {}

    def append(name: str) -> float:
        if name not in held:
            held[name] = catalog.load_table(name)
        batch = rows(1).cast(held[name].schema().as_arrow())
        return timed(lambda: held[name].append(batch))

    def append_each(one: Any) -> None:
        batch = rows(1).cast(one.schema().as_arrow())
        done = 0
        while done < EACH:
            try:
                one.append(batch)
                done += 1
            except CommitFailedException:
                one.refresh()

    return {
        "load": lambda name: timed(lambda: catalog.load_table(name).snapshots()[:1]),
        "list": lambda name: timed(lambda: catalog.list_tables(name)),
        "append": append,
        "8 appenders": lambda name: at_once([partial(append_each, catalog.load_table(name)) for _ in range(WRITERS)]),
    }


def many_snapshots(catalog: RestCatalog, count: int) -> None:
    """``db.big``: a metadata file of so many snapshots, registered."""
    table = catalog.create_table("db.seed", SCHEMA)
    table.append(rows(1))
    first = table.current_snapshot
    assert first is not None
    parents = [first.snapshot_id + number for number in range(count)]
    snapshots = tuple(
        replace(first, snapshot_id=own, parent_snapshot_id=own - 1 if number else None, sequence_number=number + 1)
        for number, own in enumerate(parents)
    )
    refs = {"main": replace(table.refs["main"], snapshot_id=parents[-1])}
    metadata = replace(
        table.metadata, snapshots=snapshots, current_snapshot_id=parents[-1], refs=refs, snapshot_log=(), last_sequence_number=count,
        table_uuid=str(uuid.uuid4()), location=f"{table.location}-big",
    )  # fmt: skip
    location = f"{metadata.location}/metadata/00000-{uuid.uuid4()}.metadata.json"
    write_metadata(table.io, location, metadata)
    catalog.register_table("db.big", location)


def many_tables(server: ReferenceServer, version: TableVersion, count: int) -> None:
    """``many``: rows of the catalog's own database."""
    with sqlite3.connect(server.folder / "catalog.db", timeout=60) as database:
        names = [("rest_backend", "many", f"t{number:06d}", version.metadata_location) for number in range(count)]
        columns = "catalog_name, table_namespace, table_name, metadata_location, iceberg_type"
        database.executemany(f"INSERT INTO iceberg_tables ({columns}) VALUES (?, ?, ?, ?, 'TABLE')", names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--snapshots", type=int, default=10_000)
    parser.add_argument("--tables", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=2, help="rounds of many commits")
    options, _ = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        server = start_server(Path(folder) / "server")
        try:
            measure(server, Path(folder), options)
        finally:
            server.stop()


def measure(server: ReferenceServer, folder: Path, options: argparse.Namespace) -> None:
    catalog = RestCatalog("setup", {"uri": server.uri})
    for namespace in ("db", "many"):
        catalog.create_namespace(namespace)
    many_snapshots(catalog, options.snapshots)
    many_tables(server, catalog.load_table("db.seed").version, options.tables)
    java = Java(server.uri, folder)
    clients: dict[str, Client] = {
        "icesql": ours({"uri": server.uri}),
        "java": {
            "load": java.ask("load"),
            "list": java.ask("list"),
            "commit": java.ask("append"),
            "50 commits": java.ask("several"),
            "8 writers": java.ask("writers"),
        },
        "pyiceberg": pyiceberg(server.uri),
    }
    names = {"load": "db.big", "load again": "db.big", "load, refs": "db.big", "list": "many"}
    for who in clients:
        for verb in ("commit", "append", *MANY):
            catalog.create_table(f"db.{verb.replace(' ', '')}_{who}", SCHEMA, properties=PATIENT)
    lines: dict[str, dict[str, list[float]]] = {}
    for number in range(options.rounds + 2):
        for verb in ("load", "load again", "load, refs", "list", "commit", "append", *MANY):
            if verb in MANY and not 2 <= number < 2 + options.many:
                continue
            for who, client in clients.items():
                if verb in client:
                    seconds = client[verb](names.get(verb, f"db.{verb.replace(' ', '')}_{who}"))
                    if number >= 2:  # two to warm up
                        lines.setdefault(verb, {}).setdefault(who, []).append(seconds)
    for verb, by_client in lines.items():
        medians = {who: statistics.median(found) * 1000 for who, found in by_client.items()}
        mine = medians["icesql"]
        ratios = ", ".join(f"{who} {median:.1f} ms ({median / mine:.2f} of ours)" for who, median in medians.items() if who != "icesql")
        print(f"{verb:12s} icesql {mine:.1f} ms{', ' if ratios else ''}{ratios}", flush=True)
    java.close()
    count(server, folder)


@dataclass
class CountingProxy(FaultProxy):
    """``received``: bytes of the bodies of answers, but for those to reports of metrics."""

    received: int = 0

    def answer(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        answered = super().answer(verb, path, headers, body)
        if answered is not None and "/metrics" not in path:
            with self._lock:
                self.received += len(answered[2])
        return answered


def count(server: ReferenceServer, folder: Path) -> None:
    """Requests and bytes of each client, through a proxy."""
    proxy = CountingProxy(server.uri)
    java = Java(proxy.uri, folder)
    clients: dict[str, Client] = {
        "icesql": ours({"uri": proxy.uri}), "java": {"load": java.ask("load"), "list": java.ask("list"), "commit": java.ask("append")},
        "pyiceberg": pyiceberg(proxy.uri),
    }  # fmt: skip
    for verb, name in {"load": "db.big", "list": "many", "commit": "db.commit_{}", "append": "db.append_{}"}.items():
        able = {who: client for who, client in clients.items() if verb in client}
        for who, client in able.items():  # what a client asks first, once, is not counted
            client[verb](name.format(who))
        time.sleep(0.3)
        for who, client in able.items():
            proxy.seen.clear()
            proxy.received = 0
            client[verb](name.format(who))
            time.sleep(0.3)
            calls = [call for call in proxy.seen if "/metrics" not in call.path]
            sent, received = sum(len(call.body) for call in calls), proxy.received
            told = f"{sent:,} bytes sent, {received:,} received"
            print(f"{verb:10s} {who:10s} {len(calls)} requests ({', '.join(call.verb for call in calls)}), {told}", flush=True)
    java.close()
    proxy.stop()


if __name__ == "__main__":
    main()
