"""A small model check: three writers of two operations each; any order of their reads and commits keeps one linear, lossless history."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from icesql.errors import ValidationError
from icesql.spec.files import DataFile, ManifestContent
from icesql.table.changes.append import AppendFiles
from icesql.table.changes.overwrite import OverwriteFiles
from icesql.table.changes.rewrite_files import RewriteFiles
from icesql.table.changes.row_delta import RowDelta
from icesql.table.manifests.access import live_entries, manifests_of
from icesql.table.snapshot.snapshot_update import SnapshotUpdate
from tests.table.memory import MemoryFileIO, MemoryOperations, data_file, deletion_vector, memory_table

ORDERS = sorted(set(itertools.permutations("AABBCC")))[::3]  # 30 of 90: the run must stay short


class Writer:
    """``step`` alternates: read the table and prepare a change; commit it. Two rounds."""

    def __init__(self, name: str, kind: str, table: MemoryOperations) -> None:
        self.name, self.kind, self.table = name, kind, table
        self.round = 0
        self.prepared: SnapshotUpdate | None = None
        self.adds: set[str] = set()
        self.removes: set[str] = set()
        self.outcomes: list[tuple[bool, frozenset[str], frozenset[str]]] = []

    def step(self) -> None:
        if self.prepared is None:
            self.prepare()
        else:
            self.finish()

    def prepare(self) -> None:
        version = self.table.load()
        base = version.metadata.current_snapshot_id
        live = sorted(live_paths(self.table))
        new = data_file(f"{self.name}{self.round}")
        self.adds, self.removes = {new.file_path}, set()
        match self.kind:
            case "append":
                self.prepared = AppendFiles(self.table, version).append_file(new)
            case "overwrite":
                victim = data_file(Path(live[0]).stem)
                self.removes = {victim.file_path}
                builder = OverwriteFiles(self.table, version).delete_file(victim).add_file(new).validate_from_snapshot(base)
                self.prepared = builder.validate_no_conflicting_data().validate_no_conflicting_deletes()
            case "compact":
                victim = data_file(Path(live[-1]).stem)
                self.removes = {victim.file_path}
                self.prepared = RewriteFiles(self.table, version).delete_file(victim).add_file(new).validate_from_snapshot(base)
            case "delta":
                target = data_file(Path(live[0]).stem)
                self.adds = set()
                delta = RowDelta(self.table, version).add_deletes(deletion_vector(f"{self.name}{self.round}", target))
                for old in live_files(self.table, ManifestContent.DELETES):
                    if old.referenced_data_file == target.file_path:
                        delta.remove_deletes(old)  # its positions are in the new one
                delta.validate_from_snapshot(base).validate_data_files_exist([target.file_path]).validate_deleted_files()
                self.prepared = delta.validate_no_conflicting_delete_files()
        self.round += 1

    def finish(self) -> None:
        assert self.prepared is not None
        try:
            self.prepared.commit()
            committed = True
        except ValidationError:
            committed = False
        self.outcomes.append((committed, frozenset(self.adds), frozenset(self.removes)))
        self.prepared = None


def live_files(table: MemoryOperations, content: ManifestContent = ManifestContent.DATA) -> list[DataFile]:
    metadata = table.metadata
    manifests = [m for m in manifests_of(table.io, metadata.current_snapshot) if m.content is content]
    return [e.data_file for m in manifests for e in live_entries(table.io, m, metadata.specs_by_id)]


def live_paths(table: MemoryOperations, content: ManifestContent = ManifestContent.DATA) -> list[str]:
    return [f.file_path if content is ManifestContent.DATA else str(f.referenced_data_file) for f in live_files(table, content)]


@pytest.mark.parametrize("kinds", [("append", "overwrite", "compact"), ("overwrite", "delta", "compact"), ("delta", "delta", "append")])
def test_orders_of_three_writers(kinds: tuple[str, str, str]) -> None:
    for number, order in enumerate(ORDERS):
        table, io = memory_table(f"{'-'.join(kinds)}{number}", version=3)
        AppendFiles(table).append_files([data_file("s1"), data_file("s2")]).commit()
        writers = {name: Writer(name, kind, table) for name, kind in zip("ABC", kinds, strict=True)}
        for name in order * 2:
            writers[name].step()
        check(table, io, list(writers.values()), order)


def check(table: MemoryOperations, io: MemoryFileIO, writers: list[Writer], order: tuple[str, ...]) -> None:
    metadata = table.metadata
    outcomes = [outcome for writer in writers for outcome in writer.outcomes]
    assert len(outcomes) == 6, order
    committed = [outcome for outcome in outcomes if outcome[0]]
    chain = list(metadata.ancestors(metadata.current_snapshot_id))
    assert len(chain) == len(metadata.snapshots) == 1 + len(committed), order  # one linear history, every acknowledged commit in it
    assert sorted(s.sequence_number for s in chain) == list(range(1, len(chain) + 1)), order  # no gap
    added = [path for _, adds, _ in committed for path in adds]
    removed = [path for _, _, removes in committed for path in removes]
    live = live_paths(table)
    assert len(live) == len(set(live)), order
    assert sorted(live) == sorted({"/data/s1.parquet", "/data/s2.parquet", *added} - set(removed)), order
    assert len(removed) == len(set(removed)), order  # nothing was replaced twice: no lost update
    referenced = live_paths(table, ManifestContent.DELETES)
    assert set(referenced) <= set(live), order  # no dangling delete
    assert len(referenced) == len(set(referenced)), order  # one vector a file
    held = {m.manifest_path for s in metadata.snapshots for m in manifests_of(table.io, s)}
    held |= {str(s.manifest_list) for s in metadata.snapshots}
    assert {path for path in io.files if path.endswith(".avro")} == held, order  # losers left nothing
