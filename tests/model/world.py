"""A warehouse under a model: what every snapshot of every table must show, and what each step may have changed.

The model knows the rows of a snapshot from those of its parent and the operation that made it. Each operation marks its snapshot
(``model-op`` in the summary), so that what really happened is seen, whatever the operation answered: one that answered is there and is
there once, one that failed is not and never will be, and one of unknown outcome is either.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from icesql.catalog.base import Catalog, Identifier
from icesql.errors import CommitStateUnknownError, CorruptMetadataError, IcesqlError, NotFoundError
from icesql.expr.tree import TRUE
from icesql.io.manifests.column_reader import read_manifest_columns
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MAIN, Operation, Snapshot
from icesql.table.manifests.access import manifests_of
from icesql.table.operations import TableVersion
from icesql.table.scan.arrow_scan import TaskReader
from icesql.table.scan.table_scan import TableScan
from icesql.table.scan.tasks import FileScanTask
from icesql.table.table import Table
from tests.model.faults import Faults, LateStore

Row = tuple[int, int]
Rows = frozenset[Row]
Effect = Callable[[Rows], Rows]
MARK, SOURCE = "model-op", "source-snapshot-id"
NAMES = ("a", "b", "c")


class Broken(AssertionError):
    """An invariant does not hold."""


@dataclass(slots=True)
class Op:
    """One operation. ``effect``: the rows it makes of its parent's; ``None`` where it makes no snapshot of its own."""

    number: int
    kind: str
    uuid: str | None = None
    effect: Effect | None = None
    branch: str = MAIN
    saw_branch: bool = False
    must_appear: bool = True
    moves: tuple[str, ...] = ()  # refs it sets, drops or makes
    expires: bool = False
    names: tuple[str, ...] = ()  # table names it may bind or free
    partner: Op | None = None  # of a transaction over two tables: the operation on the other
    alone: bool = False  # no other writer comes in between
    outcome: str = "pending"  # acknowledged, failed, unknown
    seen: dict[str, int] = field(default_factory=dict)  # table uuid -> snapshot id


@dataclass(slots=True)
class TableModel:
    """What is known of one table, by its uuid."""

    rows: dict[int, Rows] = field(default_factory=dict)
    parents: dict[int, int | None] = field(default_factory=dict)
    files: dict[int, frozenset[str]] = field(default_factory=dict)
    shown: frozenset[int] = frozenset()
    refs: dict[str, int] = field(default_factory=dict)
    collects: bool = True  # gc.enabled
    location: str = ""  # the current metadata file


class World:
    """Tables of one namespace of a catalog."""

    def __init__(self, catalog: Catalog, kind: str, namespace: str, folder: str, faults: Faults) -> None:
        self.catalog, self.kind, self.namespace, self.folder, self.faults = catalog, kind, namespace, folder, faults
        self.ops: dict[int, Op] = {}
        self.models: dict[str, TableModel] = {}
        self.bound: dict[str, str] = {}  # name -> uuid
        self.detached: dict[str, str] = {}  # uuid of a dropped table -> its metadata file
        self.purging: set[str] = set()
        self.handles: dict[str, Table] = {}
        self.held: list[tuple[Op, Callable[[], object]]] = []
        self.active: list[Op] = []
        self.log: list[str] = []
        self._numbers, self.ids = itertools.count(1), itertools.count(1)
        self._outside: list[tuple[str, tuple[Row, ...]]] = []
        self._task_rows: dict[tuple[object, ...], list[Row]] = {}
        self._manifest_files: dict[str, frozenset[str]] = {}

    # -- names -----------------------------------------------------------------------------------------------------
    def identifier(self, name: str) -> Identifier:
        return (self.namespace, name)

    def op(self, kind: str, **fields: Any) -> Op:
        op = Op(next(self._numbers), kind, **fields)
        self.ops[op.number] = op
        return op

    @property
    def in_flight(self) -> bool:
        store = getattr(self.catalog, "store", None)
        return isinstance(store, LateStore) and store.flight is not None

    # -- a step ----------------------------------------------------------------------------------------------------
    def perform(self, op: Op, run: Callable[[], object]) -> None:
        """Run an operation, with whatever is armed, and hold what became of it against the model."""
        ops = [one for one in (op, op.partner) if one is not None]
        self.active += ops
        try:
            run()
        except CommitStateUnknownError as error:
            self._ended(op, "unknown", error)
        except KeyboardInterrupt as error:
            self._ended(op, "unknown", error)
        except IcesqlError as error:
            self._ended(op, "failed", error)
        except OSError as error:
            self._ended(op, "failed", error)
        except Broken:
            raise
        except Exception as error:
            raise Broken(f"{op.kind} {op.number} raised {type(error).__name__}: {error}") from error
        else:
            self._ended(op, "acknowledged", None)
        with self.faults.quiet():
            self.check()
        if not self.in_flight:
            self.active = [one for one in self.active if one not in ops]
        self.settle()

    def _ended(self, op: Op, outcome: str, error: BaseException | None) -> None:
        op.outcome = outcome
        if op.partner is not None:
            op.partner.outcome = outcome
        why = "" if error is None else f": {type(error).__name__}: {str(error)[:150]}"
        struck = f" [{', '.join(self.faults.struck)}]" if self.faults.struck else ""
        self.log.append(f"{op.number} {op.kind} {op.names or ''}{op.branch if op.branch != MAIN else ''}{struck} -> {outcome}{why}")

    def settle(self) -> None:
        """Operations in flight may change things later; once nothing is in flight, those that ended may not."""
        if not self.in_flight:
            self.active = [op for op in self.active if op.outcome == "pending"]

    def expect_equal(self, what: str, actual: object, expected: object) -> None:
        if actual != expected:
            raise Broken(f"{what}: {actual} instead of {expected}")

    def rows_at(self, table: Table, branch: str) -> Rows:
        """What the model has at the head of a branch, as the table is held."""
        head, model = table.metadata.head(branch), self.models.get(table.metadata.table_uuid)
        return frozenset() if head is None or model is None else model.rows.get(head.snapshot_id, frozenset())

    def outside_file(self, draw: Callable[[int], int]) -> tuple[str, tuple[Row, ...]]:
        """A data file that lies beside the tables: a new one, or one that was offered before."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._outside and draw(2):
            return self._outside[draw(len(self._outside))]
        p = draw(3)
        rows = tuple((next(self.ids), p) for _ in range(1 + draw(2)))
        location = f"{self.folder}/incoming/p={p}/{rows[0][0]}.parquet"
        os.makedirs(os.path.dirname(location), exist_ok=True)
        pq.write_table(pa.table({"id": pa.array([i for i, _ in rows], pa.int64()), "p": pa.array([p] * len(rows), pa.int64())}), location)
        self._outside.append((location, rows))
        return location, rows

    def shows_without(self, table: Table, branch: str, location: str, rows: tuple[Row, ...]) -> bool:
        """Whether the current head of the branch shows one of the rows, and the file is not in it."""
        try:
            metadata = table.operations.load().metadata
        except IcesqlError:
            return False
        head, model = metadata.head(branch), self.models.get(metadata.table_uuid)
        if head is None or model is None or not set(rows) & model.rows.get(head.snapshot_id, frozenset()):
            return False
        return location not in self._files(model, metadata, head)

    # -- the check -------------------------------------------------------------------------------------------------
    def check(self) -> None:
        versions = self._versions()
        self._check_names({name: version.metadata.table_uuid for name, version in versions.items()})
        for version in versions.values():
            self._check_table(version)
        self._check_acknowledged()
        self._check_files(versions)

    def _versions(self) -> dict[str, TableVersion]:
        found: dict[str, TableVersion] = {}
        for name in NAMES:
            try:
                found[name] = self.catalog.operations(self.identifier(name)).load()
            except NotFoundError:
                continue
            except CorruptMetadataError as error:
                raise Broken(f"table {name} cannot be loaded: {error}") from error
        return found

    def _check_names(self, now: dict[str, str]) -> None:
        touched = {name for op in self.active for name in op.names}
        for name in NAMES:
            old, new = self.bound.get(name), now.get(name)
            if old != new and name not in touched:
                raise Broken(f"name {name} went from {old} to {new} without any operation on it")
        for uuid in set(self.bound.values()) - set(now.values()):
            if not self.models[uuid].collects and any(op.kind == "purge" and op.outcome == "acknowledged" for op in self.active):
                raise Broken("a table was purged though gc.enabled is false")
            if self.kind != "hadoop" and uuid not in self.purging:
                self.detached[uuid] = self.models[uuid].location
        for uuid in now.values():
            self.detached.pop(uuid, None)
        self.bound = now

    def _check_table(self, version: TableVersion) -> None:
        metadata = version.metadata
        model = self.models.setdefault(metadata.table_uuid, TableModel())
        if str(version.metadata_location) != model.location:
            for snapshot in sorted(metadata.snapshots, key=lambda s: s.sequence_number):
                if snapshot.snapshot_id not in model.rows:
                    self._check_new_snapshot(metadata, model, snapshot)
            shown = frozenset(metadata.snapshots_by_id)
            if model.shown - shown and not any(op.expires for op in self.active):
                raise Broken(f"snapshots vanished without expiry: {sorted(model.shown - shown)}")
            collects = metadata.properties.get("gc.enabled", "true") == "true"
            if model.shown - shown and not collects:
                raise Broken("snapshots were expired though gc.enabled is false")
            self._check_refs(metadata, model)
            model.shown, model.location, model.collects = shown, str(version.metadata_location), collects
            model.refs = {name: ref.snapshot_id for name, ref in metadata.refs.items()}

    def _check_new_snapshot(self, metadata: TableMetadata, model: TableModel, snapshot: Snapshot) -> None:
        parent = snapshot.parent_snapshot_id
        if parent is not None and parent not in model.rows:
            raise Broken(f"snapshot {snapshot.snapshot_id} has a parent that never was: {parent}")
        before = model.rows[parent] if parent is not None else frozenset()
        expected = self._effect(metadata, snapshot)(before)
        actual = self._rows(metadata, snapshot)
        if actual != expected:
            gone, come = sorted(expected - actual), sorted(actual - expected)
            raise Broken(f"snapshot {snapshot.snapshot_id} ({snapshot.operation}) lost rows {gone}, shows rows {come} that are not there")
        model.rows[snapshot.snapshot_id], model.parents[snapshot.snapshot_id] = expected, parent

    def _effect(self, metadata: TableMetadata, snapshot: Snapshot) -> Effect:
        mark = snapshot.summary.get(MARK)
        if mark is not None:
            return self._effect_of(self.ops[int(mark)], metadata.table_uuid, snapshot)
        source = snapshot.summary.get(SOURCE)
        if source is not None:
            picked = next(op for op in self.ops.values() if int(source) in op.seen.values())
            assert picked.effect is not None
            return picked.effect
        if snapshot.operation == Operation.REPLACE.value:
            return lambda rows: rows
        raise Broken(f"snapshot of no operation: {snapshot}")

    def _effect_of(self, op: Op, uuid: str, snapshot: Snapshot) -> Effect:
        if op.uuid not in (None, uuid):
            raise Broken(f"operation {op.number} {op.kind} was meant for another table")
        if op.outcome == "failed":
            raise Broken(f"operation {op.number} {op.kind} failed, and is there")
        if op.seen.setdefault(uuid, snapshot.snapshot_id) != snapshot.snapshot_id:
            raise Broken(f"operation {op.number} {op.kind} is there twice")
        assert op.effect is not None
        return op.effect

    def _rows(self, metadata: TableMetadata, snapshot: Snapshot) -> Rows:
        """As a reader gets them. What a data file shows under certain deletes is read once: both are immutable."""
        try:
            tasks = TableScan(self.catalog.io, metadata, snapshot_id=snapshot.snapshot_id).plan_files().tasks
            rows = [row for task in tasks for row in self._rows_of_task(metadata, task)]
        except Exception as error:
            raise Broken(f"snapshot {snapshot.snapshot_id} cannot be read: {type(error).__name__}: {error}") from error
        if len(set(rows)) != len(rows):
            raise Broken(f"snapshot {snapshot.snapshot_id} ({snapshot.operation}) shows rows twice: {sorted(rows)}")
        return frozenset(rows)

    def _rows_of_task(self, metadata: TableMetadata, task: FileScanTask) -> list[Row]:
        key = (task.data_file.file_path, frozenset(file.key for file in task.delete_files))
        if key not in self._task_rows:
            table = TaskReader(self.catalog.io, metadata, metadata.schema, metadata.schema).table(replace(task, residual=TRUE))
            self._task_rows[key] = list(zip(table["id"].to_pylist(), table["p"].to_pylist(), strict=True))
        return self._task_rows[key]

    def _check_refs(self, metadata: TableMetadata, model: TableModel) -> None:
        moved = {ref for op in self.active for ref in op.moves}
        for name in model.refs.keys() | metadata.refs.keys():
            old, ref = model.refs.get(name), metadata.refs.get(name)
            new = None if ref is None else ref.snapshot_id
            if new is not None and new not in metadata.snapshots_by_id:
                raise Broken(f"ref {name} points to a snapshot that is not there: {new}")
            if new is not None and (new not in model.rows):
                raise Broken(f"ref {name} points nowhere: {new}")
            if old == new or name in moved or (new is None and any(op.expires for op in self.active)):
                continue
            if old is None and self._made_by_write(metadata, name, new):
                continue
            if old is None or new is None or not self._descends(model, new, old):
                raise Broken(f"ref {name} went from {old} to {new}, which is not built upon it")

    def _made_by_write(self, metadata: TableMetadata, branch: str, head: int | None) -> bool:
        """Whether writes made the branch since it was looked at last: the first of them did not see it, later ones may have."""
        line: set[int] = set()
        while head is not None:
            line.add(head)
            snapshot = metadata.snapshots_by_id.get(head)
            head = None if snapshot is None else snapshot.parent_snapshot_id
        makers = [op for op in self.ops.values() if op.branch == branch and not line.isdisjoint(op.seen.values())]
        if branch != MAIN and makers and all(op.saw_branch for op in makers):
            raise Broken(f"branch {branch} was dropped and is made again by {makers[0].kind} {makers[0].number}")
        return bool(makers) or branch == MAIN

    @staticmethod
    def _descends(model: TableModel, snapshot_id: int | None, ancestor: int) -> bool:
        while snapshot_id is not None and snapshot_id != ancestor:
            snapshot_id = model.parents.get(snapshot_id)
        return snapshot_id == ancestor

    def _check_acknowledged(self) -> None:
        for op in self.active:
            partner = op.partner
            if partner is not None and {op.uuid, partner.uuid} <= set(self.bound.values()) and bool(op.seen) != bool(partner.seen):
                raise Broken(f"transaction {op.number} is there by half")
            if op.outcome == "acknowledged" and op.must_appear and op.effect is not None and not op.seen:
                raise Broken(f"operation {op.number} {op.kind} was acknowledged, and is not there")

    # -- files -----------------------------------------------------------------------------------------------------
    def forget_dropped_in(self, folder: str) -> None:
        """What a dropped table left in the folder of a table made anew is no longer kept: to that table it is orphans, as in Iceberg."""
        self.detached = {uuid: location for uuid, location in self.detached.items() if not location.startswith(f"{folder}/")}

    def _check_files(self, versions: dict[str, TableVersion]) -> None:
        there = {f"{folder}/{name}" for folder, _, names in os.walk(self.folder) for name in names}
        for name, version in versions.items():
            model = self.models[version.metadata.table_uuid]
            for snapshot in version.metadata.snapshots:
                missing = self._files(model, version.metadata, snapshot) - there
                if missing:
                    raise Broken(f"table {name}: files of snapshot {snapshot.snapshot_id} are gone: {sorted(missing)[:3]}")
        for uuid, location in self.detached.items():
            model = self.models[uuid]
            wanted = {location}.union(*(model.files.get(snapshot_id, frozenset()) for snapshot_id in model.shown))
            if wanted - there:
                raise Broken(f"files of a table that was dropped without PURGE are gone: {sorted(wanted - there)[:3]}")

    def _files(self, model: TableModel, metadata: TableMetadata, snapshot: Snapshot) -> frozenset[str]:
        known = model.files.get(snapshot.snapshot_id)
        if known is None:
            found = {str(snapshot.manifest_list)}
            for manifest in manifests_of(self.catalog.io, snapshot):
                found.add(manifest.manifest_path)
                held = self._manifest_files.get(manifest.manifest_path)
                if held is None:
                    spec = metadata.specs_by_id.get(manifest.partition_spec_id)
                    columns = read_manifest_columns(self.catalog.io, manifest, spec=spec)
                    held = self._manifest_files[manifest.manifest_path] = frozenset(columns.paths(columns.live))
                found |= held
            known = model.files[snapshot.snapshot_id] = frozenset(found)
        return known
