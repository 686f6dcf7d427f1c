"""What writer processes do in the load and kill tests, and how their work is checked afterwards.

Every batch of rows carries a number of its own; a writer notes a commit in its journal once it was acknowledged. So what the
table must hold is known from the journals alone.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import CommitFailedError, ValidationError
from icesql.expr.tree import Op, Predicate, Reference
from icesql.io.manifests.entries import read_manifest
from icesql.spec.schema import Schema
from icesql.spec.types import IntegerType, LongType, NestedField, StringType
from icesql.table.manifests.access import manifests_of
from icesql.table.table import Table
from tests.catalog.faults import striking, striking_catalog

SCHEMA = Schema(
    (NestedField(1, "batch", LongType(), required=True), NestedField(2, "n", IntegerType()), NestedField(3, "note", StringType()))
)
ROWS = 3
RETRIES = {
    "commit.retry.num-retries": "400",
    "commit.retry.min-wait-ms": "5",
    "commit.retry.max-wait-ms": "250",
    "write.metadata.previous-versions-max": "100000",
}
TABLE = ("db", "load")


def batch(number: int, note: str = "") -> pa.Table:
    fields = [pa.field("batch", pa.int64(), nullable=False), pa.field("n", pa.int32()), pa.field("note", pa.string())]
    return pa.table({"batch": [number] * ROWS, "n": list(range(ROWS)), "note": [note] * ROWS}, schema=pa.schema(fields))


def equals(number: int) -> Any:
    return Predicate(Op.EQ, Reference("batch"), (number,))


@dataclass
class Writer:
    """One process's view: the batches it added and did not delete, each with its note; and its journal of acknowledged commits."""

    number: int
    table: Table
    journal: Path
    chosen: random.Random
    live: dict[int, str] = field(default_factory=dict)
    made: int = 0

    def step(self) -> None:
        """One commit of one kind, tried again from a fresh version when another writer's commit conflicts."""
        kinds = ["append", "append", "delete", "overwrite", "rewrite", "schema"] if len(self.live) > 1 else ["append"]
        kind = self.chosen.choice(kinds)
        while True:
            try:
                before = self.table.refresh().metadata_location
                note = getattr(self, f"_{kind}")()
                break
            except (ValidationError, CommitFailedError):
                continue
        assert self.table.metadata_location != before, kind
        with self.journal.open("a") as out:
            out.write(json.dumps({"kind": kind, **note}) + "\n")
            out.flush()
            os.fsync(out.fileno())

    def _append(self) -> dict[str, Any]:
        number = self.number * 1_000_000 + self.made
        self.table.append(batch(number))
        self.made += 1
        self.live[number] = ""
        return {"added": number, "note": ""}

    def _delete(self) -> dict[str, Any]:
        number = self.chosen.choice(sorted(self.live))
        self.table.delete(equals(number))
        del self.live[number]
        return {"removed": number}

    def _overwrite(self) -> dict[str, Any]:
        number = self.chosen.choice(sorted(self.live))
        note = f"{self.live[number]}+"
        self.table.overwrite(batch(number, note), equals(number))
        self.live[number] = note
        return {"added": number, "note": note}

    def _rewrite(self) -> dict[str, Any]:
        """Two batches' files become one."""
        import pyarrow.parquet as pq

        from icesql.table.write.arrow_write import write_rows

        chosen = tuple(self.chosen.sample(sorted(self.live), 2))
        files = [task.data_file for task in self.table.scan(Predicate(Op.IN, Reference("batch"), chosen)).plan_files().tasks]
        held = pa.concat_tables([pq.read_table(file.file_path, columns=["batch", "n", "note"]) for file in files])
        update = self.table.new_rewrite_files()
        for file in files:
            update.delete_file(file)
        for file in write_rows(self.table.io, self.table.metadata, held):
            update.add_file(file)
        update.commit()
        return {}

    def _schema(self) -> dict[str, Any]:
        self.table.update_schema().add_column(f"c{self.number}_{self.chosen.randrange(10**9)}", IntegerType()).commit()
        return {}


def write_commits(properties: Mapping[str, str], journal: str, number: int, commits: int) -> None:
    """The body of a writer process."""
    table = load_catalog("test", properties).load_table(TABLE)
    writer = Writer(number, table, Path(journal), random.Random(number))
    for _ in range(commits):
        writer.step()


def append_until_killed(properties: Mapping[str, str], journal: str, first: int, point: str, passes: int) -> None:
    """The body of a process that dies at a point of a commit. Ends by itself only if the point is never reached."""
    table = striking_catalog(properties, striking(point, passes)).load_table(TABLE)
    for number in range(first, first + passes + 3):
        table.append(batch(number))
        with Path(journal).open("a") as out:
            out.write(f"{number}\n")
            out.flush()


def processes() -> Any:
    """Clean processes without the cost of importing everything again."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.catalog.workload", "icesql.catalog.sql", "icesql.table.write.arrow_write", "psycopg"])
    return context


def run_load(properties: Mapping[str, str], folder: Path, *, writers: int, commits: int) -> list[dict[str, Any]]:
    """Run the writers at the same time; what they were acknowledged, in each writer's own order."""
    load_catalog("test", properties).create_table(TABLE, SCHEMA, properties=RETRIES)
    context = processes()
    journals = [folder / f"journal-{number}" for number in range(writers)]
    running = [
        context.Process(target=write_commits, args=(dict(properties), str(journal), number, commits))
        for number, journal in enumerate(journals)
    ]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * writers
    return [json.loads(line) for journal in journals for line in journal.read_text().splitlines()]


def held_rows(table: Table, snapshot_id: int | None = None) -> pa.Table:
    """The rows of a version, read by pyarrow alone; no writer here leaves delete files."""
    import pyarrow.parquet as pq

    plan = table.scan(snapshot_id=snapshot_id).plan_files()
    assert not plan.has_deletes
    assert len(set(plan.paths)) == len(plan.paths), "a file is in the table twice"
    parts = [pq.read_table(path, columns=["batch", "n", "note"]) for path in plan.paths]
    return pa.concat_tables(parts) if parts else batch(0).slice(0, 0)


def check_load(catalog: Catalog, journal: list[dict[str, Any]]) -> Table:
    """Nothing lost, nothing doubled, one history without gaps, and every version readable."""
    table = catalog.load_table(TABLE)
    expected: dict[int, str] = {}
    for entry in journal:
        if "added" in entry:
            expected[entry["added"]] = entry["note"]
        elif "removed" in entry:
            del expected[entry["removed"]]
    held = held_rows(table)
    counts = Counter(zip(held["batch"].to_pylist(), held["note"].to_pylist(), strict=True))
    assert counts == dict.fromkeys(expected.items(), ROWS)
    snapshots = sorted(table.snapshots, key=lambda snapshot: snapshot.sequence_number)
    data_commits = sum(entry["kind"] != "schema" for entry in journal)
    assert [snapshot.sequence_number for snapshot in snapshots] == list(range(1, data_commits + 1))
    assert [snapshot.parent_snapshot_id for snapshot in snapshots] == [None, *(snapshot.snapshot_id for snapshot in snapshots[:-1])]
    assert len(table.metadata.metadata_log) == len(journal)
    assert len(table.schema.fields) == len(SCHEMA.fields) + sum(entry["kind"] == "schema" for entry in journal)
    check_every_version(table)
    return table


def check_every_version(table: Table) -> None:
    """Every snapshot's list reads and counts what its summary says; every manifest of any version reads, and its live files exist."""
    manifests = {}
    for snapshot in table.snapshots:
        held = manifests_of(table.io, snapshot)
        rows = sum((m.added_rows_count or 0) + (m.existing_rows_count or 0) for m in held)
        assert rows == int(snapshot.summary["total-records"])
        manifests.update({manifest.manifest_path: manifest for manifest in held})
    for manifest in manifests.values():
        for entry in read_manifest(table.io, manifest, table.metadata.specs_by_id):
            assert table.io.exists(entry.data_file.file_path)


def check_with_pyiceberg(table: Table, *, at_most: int = 40) -> int:
    """PyIceberg reads versions spread over the history, the last one too; as many rows as each summary says. How many were read."""
    from pyiceberg.table import StaticTable

    static = StaticTable.from_metadata(str(table.metadata_location))
    chosen = table.snapshots[:: -max(1, len(table.snapshots) // at_most)]
    for snapshot in chosen:
        read = static.scan(snapshot_id=snapshot.snapshot_id, selected_fields=("batch",)).to_arrow()
        assert read.num_rows == int(snapshot.summary["total-records"])
    return len(chosen)
