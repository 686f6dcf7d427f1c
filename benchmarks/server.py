"""Appends to one table through ``icesql serve`` from 64 clients: ``./dev bench server``.

The server builds the snapshots from one POST each; everything is synced. Beside it 64 writers that build snapshots themselves (icesql's
own engine, 8 processes of 8 threads, on the same SQLite catalog), which is what clients without such a server do.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.server.process import ServerProcess

CLIENTS, SECONDS = 64, float(os.environ.get("SERVER_BENCH_SECONDS", "20"))
SCHEMA = {
    "type": "struct",
    "schema-id": 0,
    "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}, {"id": 2, "name": "data", "required": False, "type": "string"}],
}
_TABLE = "/v1/namespaces/db/tables/t"


@dataclass
class Counts:
    latencies: list[float] = field(default_factory=list)
    errors: int = 0


def body(location: str, name: str) -> bytes:
    """One append of one file that exists on paper, with its column metrics."""
    columns = {"keys": [1, 2], "values": [1000, 1000]}
    file = {
        "content": "data",
        "file-path": f"{location}/data/{name}.parquet",
        "file-format": "parquet",
        "spec-id": 0,
        "partition": [],
        "file-size-in-bytes": 10_000,
        "record-count": 1000,
        "value-counts": columns,
        "column-sizes": columns,
        "null-value-counts": {"keys": [1, 2], "values": [0, 0]},
        "split-offsets": [4],
        "lower-bounds": {"keys": [1, 2], "values": [1, "a"]},
        "upper-bounds": {"keys": [1, 2], "values": [1000, "z"]},
    }
    return json.dumps(
        {"requirements": [], "updates": [{"action": "produce-snapshot", "operation": "append", "add-data-files": [file]}]}
    ).encode()


async def client(port: int, location: str, number: int, deadline: float, counts: Counts) -> None:
    """One connection, one append after another."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    sent = 0
    while time.monotonic() < deadline:
        content = body(location, f"{number}-{sent}")
        head = f"POST {_TABLE} HTTP/1.1\r\nHost: x\r\nPrefer: return=minimal\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        started = time.perf_counter()
        writer.write(head.encode() + content)
        answer = await reader.readuntil(b"\r\n\r\n")
        lines = answer.decode().lower().split("\r\n")
        length = next(int(line.split(":")[1]) for line in lines if line.startswith("content-length:"))
        await reader.readexactly(length)
        if " 200 " in lines[0]:
            counts.latencies.append(time.perf_counter() - started)
        else:
            counts.errors += 1
        sent += 1
    writer.close()


def post(uri: str, path: str, node: Any) -> Any:
    request = urllib.request.Request(uri + path, json.dumps(node).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def served(folder: Path, seconds: float) -> tuple[Counts, dict[str, Any]]:
    """Appends acknowledged, and the table after them."""
    with ServerProcess(folder) as server:
        post(server.uri, "/v1/namespaces", {"namespace": ["db"]})
        location = post(server.uri, "/v1/namespaces/db/tables", {"name": "t", "schema": SCHEMA})["metadata"]["location"]
        counts = Counts()

        async def all_clients() -> None:
            deadline = time.monotonic() + seconds
            await asyncio.gather(*(client(server.port, location, number, deadline, counts) for number in range(CLIENTS)))

        asyncio.run(all_clients())
        with urllib.request.urlopen(server.uri + _TABLE) as answer:
            return counts, json.load(answer)


# -- the same without a server -----------------------------------------------------------------------------------------
def writers_apart(warehouse: str, seconds: float) -> Counts:
    """8 processes of 8 threads, each building and committing its own snapshots."""
    from icesql.catalog.loading import load_catalog

    setup = load_catalog("local", {"warehouse": warehouse})
    from icesql.spec.json.types import schema_from_json

    setup.create_namespace("db")
    setup.create_table(
        "db.t", schema_from_json(SCHEMA), properties={"commit.retry.num-retries": "1000", "commit.retry.max-wait-ms": "2000"}
    )
    results: Any = multiprocessing.get_context("spawn").Queue()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_writers, args=(warehouse, number, seconds, results)) for number in range(8)]
    for process in processes:
        process.start()
    found = [results.get() for _ in processes]
    for process in processes:
        process.join()
    return Counts([latency for latencies, _ in found for latency in latencies], sum(errors for _, errors in found))


def _writers(warehouse: str, number: int, seconds: float, results: Any) -> None:
    from icesql.catalog.loading import load_catalog
    from icesql.spec.files import DataFile

    catalog = load_catalog("local", {"warehouse": warehouse})
    latencies: list[float] = []
    errors: list[BaseException] = []
    deadline = time.monotonic() + seconds

    def write(writer: int) -> None:
        count = 0
        while time.monotonic() < deadline:
            started = time.perf_counter()
            try:
                path = f"{warehouse}/db/t/data/{number}-{writer}-{count}.parquet"
                file = DataFile(file_path=path, file_format="parquet", partition=(), record_count=1000, file_size_in_bytes=10_000)
                catalog.load_table("db.t").new_append().append_file(file).commit()
                latencies.append(time.perf_counter() - started)
            except Exception as error:
                errors.append(error)
            count += 1

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((latencies, len(errors)))


def show(name: str, counts: Counts, seconds: float) -> float:
    ordered = sorted(counts.latencies) or [0.0]
    rate = len(counts.latencies) / seconds
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000 for part in (0.5, 0.99, 1)]
    print(
        f"  {name:44s} {rate:8.1f} a second   median {at[0]:7.1f} ms   p99 {at[1]:7.1f} ms   max {at[2]:7.1f} ms   errors {counts.errors}"
    )
    return rate


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        counts, table = served(folder, SECONDS)
        ours = show(f"{CLIENTS} clients, produce-snapshot", counts, SECONDS)
        metadata = table["metadata"]
        numbers = [one["sequence-number"] for one in metadata["snapshots"]]
        total = int(metadata["snapshots"][-1]["summary"]["total-data-files"])
        assert total == len(counts.latencies), (total, len(counts.latencies))
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        size = Path(table["metadata-location"]).stat().st_size
        files = subprocess.run(["du", "-sh", str(folder)], capture_output=True, text=True).stdout.split()[0]
        print(f"  every one is in the table; {len(numbers)} snapshots kept, metadata file {size / 1e6:.1f} MB, folder {files}")
        if "--alone" not in sys.argv:
            theirs = show(f"{CLIENTS} writers building snapshots themselves", writers_apart(str(folder / "apart"), SECONDS), SECONDS)
            print(f"  {'ratio':44s} {ours / max(theirs, 0.01):8.1f}")
            print(f"  median of waits: {statistics.median(counts.latencies) * 1000:.1f} ms")


if __name__ == "__main__":
    main()
