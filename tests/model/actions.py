"""The steps of a history: each prepares one operation, as one writer would, and says what it does to the rows.

An action draws its choices, and returns the operation with the call that commits it; a call may be held back and made later, when the
table has moved on.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from icesql.expr.tree import TRUE, Predicate, Reference
from icesql.expr.tree import Op as Compare
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.deletes.files import write_equality_deletes, write_position_deletes
from icesql.spec.files import DataFile
from icesql.spec.partitioning import UNPARTITIONED, PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN
from icesql.spec.transforms import IDENTITY
from icesql.spec.types import LongType, NestedField
from icesql.table.maintenance.dangling_deletes import DanglingDeletes
from icesql.table.maintenance.rewrite_data_files import RewriteDataFiles
from icesql.table.maintenance.rewrite_options import data_rewrite_options, delete_rewrite_options
from icesql.table.maintenance.rewrite_position_deletes import RewritePositionDeletes
from icesql.table.maintenance.rewrite_run import RewrittenGroup
from icesql.table.operations import TableVersion
from icesql.table.scan.position_sets import positions_of
from icesql.table.scan.tasks import FileScanTask
from icesql.table.table import Table
from icesql.table.write.arrow_import import imported_files
from icesql.table.write.arrow_write import write_rows
from tests.model.world import MARK, NAMES, Effect, Op, Row, Rows, World

Draw = Callable[[int], int]
Step = tuple[Op, Callable[[], object]]
SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "p", LongType())))
BY_P = PartitionSpec(fields=(PartitionField(source_ids=(2,), field_id=1000, transform=IDENTITY, name="p"),))
EVER_MS = 2**60
QUICK = {
    "commit.retry.min-wait-ms": "0",
    "commit.status-check.min-wait-ms": "0",
    "commit.status-check.num-retries": "1",
}


# -- tables --------------------------------------------------------------------------------------------------------------
def create(world: World, draw: Draw) -> Step | None:
    name = NAMES[draw(len(NAMES))]
    properties = {**QUICK, "format-version": "12233"[draw(5)]}
    if draw(3) == 0:
        properties |= {"write.metadata.previous-versions-max": "1"}
    if draw(3) == 0:
        properties |= {"write.metadata.delete-after-commit.enabled": "true"}
    if draw(3) == 0:
        properties |= {"commit.manifest.min-count-to-merge": "2"}
    if draw(4) == 0:
        properties |= {"write.delete.granularity": "partition"}
    spec = (UNPARTITIONED, BY_P)[draw(2)]
    op = world.op(f"create v{properties['format-version']} {'by p' if spec.fields else ''}", names=(name,))
    return op, lambda: world.catalog.create_table(world.identifier(name), SCHEMA, spec=spec, properties=properties)


def _named(world: World, draw: Draw) -> str | None:
    """Mostly the same one, so that its history grows."""
    names = sorted(world.bound)
    return names[draw(len(names)) if draw(3) == 0 else 0] if names else None


def _opened(world: World, draw: Draw) -> tuple[str, Table] | None:
    """A table as a writer holds it: just loaded, or some time ago."""
    name = _named(world, draw)
    if name is None:
        return None
    with world.faults.quiet():
        handle = world.handles.get(name)
        if handle is None or draw(4):
            handle = world.handles[name] = world.catalog.load_table(world.identifier(name))
    return name, handle


def drop(world: World, draw: Draw) -> Step | None:
    name = _named(world, draw)
    if name is None:
        return None
    purge = bool(draw(2))
    op = world.op("purge" if purge else "drop", names=(name,))
    if purge:  # an attempt may have removed files: what the name leads to at that moment may go
        world.purging.add(world.bound[name])
    return op, lambda: world.catalog.drop_table(world.identifier(name), purge=purge)


def rename(world: World, draw: Draw) -> Step | None:
    name, target = _named(world, draw), NAMES[draw(len(NAMES))]
    if name is None or name == target:
        return None
    op = world.op(f"rename {name} to {target}", names=(name, target))
    return op, lambda: world.catalog.rename_table(world.identifier(name), world.identifier(target))


def register(world: World, draw: Draw) -> Step | None:
    """A dropped table comes back."""
    if not world.detached:
        return None
    name, locations = NAMES[draw(len(NAMES))], sorted(world.detached.values())
    location = locations[draw(len(locations))]
    op = world.op("register", names=(name,))
    return op, lambda: world.catalog.register_table(world.identifier(name), location)


# -- rows ----------------------------------------------------------------------------------------------------------------
def _new_rows(world: World, draw: Draw, p: int | None = None) -> tuple[Row, ...]:
    return tuple((next(world.ids), draw(3) if p is None else p) for _ in range(1 + draw(4)))


def _arrow(rows: Sequence[Row]) -> pa.Table:
    return pa.table({"id": pa.array([i for i, _ in rows], pa.int64()), "p": pa.array([p for _, p in rows], pa.int64())})


def _branch(table: Table, draw: Draw, *, may_be_new: bool = True) -> str:
    branches = sorted(name for name, ref in table.refs.items() if ref.is_branch)
    if may_be_new and draw(24) == 0:
        return "new"
    return branches[draw(len(branches))] if branches and draw(4) == 0 else MAIN


def _adding(rows: Sequence[Row]) -> Effect:
    return lambda held: held | set(rows)


def _write(world: World, kind: str, table: Table, branch: str, effect: Callable[[Rows], Rows], **more: Any) -> Op:
    saw = branch in table.refs
    return world.op(kind, uuid=table.metadata.table_uuid, branch=branch, effect=effect, saw_branch=saw, **more)


def _at_once(op: Op, table: Table, write: Callable[[dict[str, str]], object]) -> Callable[[], object]:
    """A call of the table that reads and commits in one: it begins when it is made, on the version the table shows then."""

    def run() -> object:
        op.saw_branch = op.branch in table.refs
        return write({MARK: str(op.number)})

    return run


def append(world: World, draw: Draw) -> Step | None:
    """Through the table, files written in the commit's step; or as a builder whose files are there already."""
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch, rows, how = _branch(table, draw), _new_rows(world, draw), draw(3)
    op = _write(world, "append", table, branch, _adding(rows))
    if how == 0:
        return op, _at_once(op, table, lambda mark: table.append(_arrow(rows), branch=branch, summary=mark))
    builder = table.new_append() if how == 1 else table.new_fast_append()
    with world.faults.quiet():
        builder.append_files(write_rows(table.io, table.metadata, _arrow(rows)))
    return op, builder.owning_files().to_branch(branch).set(MARK, str(op.number)).commit


def append_to_two(world: World, draw: Draw) -> Step | None:
    """Two tables, one transaction."""
    names = sorted(world.bound)
    if len(names) < 2:
        return None
    chosen = (names[0], names[1 + draw(len(names) - 1)])
    with world.faults.quiet():
        transaction = world.catalog.transaction()
        ops: list[Op] = []
        for name in chosen:
            table, rows = world.catalog.load_table(world.identifier(name)), _new_rows(world, draw)
            ops.append(_write(world, "append_to_two", table, MAIN, _adding(rows)))
            builder = table.new_append().append_files(write_rows(table.io, table.metadata, _arrow(rows))).owning_files()
            transaction.table(world.identifier(name)).add(builder.set(MARK, str(ops[-1].number)))
    ops[0].partner = ops[1]
    return ops[0], transaction.commit


def stage(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    rows = _new_rows(world, draw)
    op = _write(world, "stage", table, MAIN, _adding(rows))
    with world.faults.quiet():
        builder = table.new_append().append_files(write_rows(table.io, table.metadata, _arrow(rows)))
    return op, builder.owning_files().stage_only().set("wap.id", f"w{op.number}").set(MARK, str(op.number)).commit


def cherrypick(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    staged = [s.snapshot_id for s in table.snapshots if "wap.id" in s.summary]
    if not staged:
        return None
    op, chosen = world.op("cherrypick", uuid=table.metadata.table_uuid), staged[draw(len(staged))]
    return op, lambda: table.manage_snapshots().cherrypick(chosen).commit()


def _equals(column: str, value: int) -> Predicate:
    return Predicate(Compare.EQ, Reference(column), (value,))


def overwrite(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch, p = _branch(table, draw), draw(3)
    rows, everything = _new_rows(world, draw, p), draw(4) == 0
    effect = (lambda held: frozenset(rows)) if everything else (lambda held: frozenset(r for r in held if r[1] != p) | set(rows))
    op = _write(world, "overwrite", table, branch, effect)
    where = TRUE if everything else _equals("p", p)
    return op, _at_once(op, table, lambda mark: table.overwrite(_arrow(rows), where, branch=branch, summary=mark))


def replace_partitions(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch, rows = _branch(table, draw), _new_rows(world, draw)
    replaced = None if table.spec.is_unpartitioned else {p for _, p in rows}
    effect = lambda held: frozenset(r for r in held if replaced is not None and r[1] not in replaced) | set(rows)  # noqa: E731
    op = _write(world, "replace_partitions", table, branch, effect)
    with world.faults.quiet():
        builder = table.new_replace_partitions()
        for file in write_rows(table.io, table.metadata, _arrow(rows)):
            builder.add_file(file)
    return op, builder.owning_files().to_branch(branch).set(MARK, str(op.number)).commit


def delete(world: World, draw: Draw) -> Step | None:
    """Copy-on-write, or whole files from metadata."""
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch = _branch(table, draw)
    if draw(3):
        p = draw(3)
        op = _write(world, "delete p", table, branch, lambda held: frozenset(r for r in held if r[1] != p), must_appear=False)
        return op, _at_once(op, table, lambda mark: table.delete(_equals("p", p), branch=branch, summary=mark))
    chosen = 1 + draw(30)
    op = _write(world, "delete id", table, branch, lambda held: frozenset(r for r in held if r[0] != chosen), must_appear=False)
    return op, _at_once(op, table, lambda mark: table.delete(_equals("id", chosen), branch=branch, summary=mark))


# -- merge on read -------------------------------------------------------------------------------------------------------
def _task(table: Table, branch: str, draw: Draw) -> FileScanTask | None:
    if table.metadata.head(branch) is None:
        return None
    tasks = sorted(table.scan(ref=branch).plan_files().tasks, key=lambda task: task.data_file.file_path)
    return tasks[draw(len(tasks))] if tasks else None


def _rows_of(table: Table, file: DataFile) -> list[Row]:
    import pyarrow.parquet as pq

    held = pq.read_table(file.file_path).to_pydict()
    return list(zip(held["id"], held["p"], strict=True))


def delete_positions(world: World, draw: Draw) -> Step | None:
    """As UPDATE and DELETE in merge-on-read: a delete file in version 2, in version 3 a vector that takes over what applied before."""
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch = _branch(table, draw, may_be_new=False)
    with world.faults.quiet():
        task = _task(table, branch, draw)
        if task is None:
            return None
        rows, data = _rows_of(table, task.data_file), task.data_file
        positions = sorted({draw(len(rows)) for _ in range(1 + draw(2))})
        place, delta = f"{table.location}/data/{uuid.uuid4()}-deletes", table.new_row_delta()
        if table.metadata.format_version >= 3:
            before = positions_of(table.io, data.file_path, task.delete_files)
            wanted = set(positions) | (set(before) if before is not None else set())
            (file,) = write_dvs(table.io, f"{place}.puffin", {data.file_path: sorted(wanted)}, targets={data.file_path: data})
            for old in task.delete_files:
                if old.is_deletion_vector:
                    delta.remove_deletes(old)
        else:
            file = write_position_deletes(
                table.io, f"{place}.parquet", {data.file_path: positions}, spec_id=task.spec_id, partition=data.partition,
                file_format="parquet",
            )  # fmt: skip
        added = _new_rows(world, draw) if draw(2) else ()
        if added:
            for new in write_rows(table.io, table.metadata, _arrow(added)):
                delta.add_rows(new)
    gone = {rows[position] for position in positions}
    op = _write(world, "delete_positions", table, branch, lambda held: (held - gone) | set(added))
    head = table.metadata.head(branch)
    assert head is not None
    delta.add_deletes(file).validate_from_snapshot(head.snapshot_id).validate_data_files_exist([data.file_path])
    return op, delta.owning_files().to_branch(branch).set(MARK, str(op.number)).commit


def delete_equal(world: World, draw: Draw) -> Step | None:
    """As Flink: an equality delete, with no look at the table, maybe with rows in the same commit (upsert)."""
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch = _branch(table, draw)
    known = sorted(world.rows_at(table, branch))
    p = known[draw(len(known))][1] if known else draw(3)
    values = sorted({known[draw(len(known))][0] if known and draw(5) else 1 + draw(30) for _ in range(1 + draw(3))})
    added = _new_rows(world, draw) if draw(3) == 0 else ()
    spec, is_global = table.spec, table.spec.is_unpartitioned

    def effect(held: Rows) -> Rows:
        return frozenset(r for r in held if not (r[0] in values and (is_global or r[1] == p))) | set(added)

    op = _write(world, f"delete_equal {values} p={p}", table, branch, effect)
    with world.faults.quiet():
        files = write_equality_deletes(
            table.io, lambda: f"{table.location}/data/{uuid.uuid4()}-eq.parquet", _arrow([(v, p) for v in values]), table.schema, [1],
            spec_id=spec.spec_id, partition=() if is_global else (p,),
        )  # fmt: skip
        delta = table.new_row_delta()
        for file in files:
            delta.add_deletes(file)
        for file in write_rows(table.io, table.metadata, _arrow(added)) if added else ():
            delta.add_rows(file)
    return op, delta.owning_files().to_branch(branch).set(MARK, str(op.number)).commit


def add_files(world: World, draw: Draw) -> Step | None:
    """A file that lies beside the table. Two writers may try the same one."""
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    with world.faults.quiet():
        chosen = world.outside_file(draw)
    branch = _branch(table, draw, may_be_new=False)
    location, rows = chosen
    op = _write(world, "add_files", table, branch, _adding(rows), alone=True, must_appear=False)

    def run() -> object:
        with world.faults.quiet():
            if world.shows_without(table, branch, location, rows):  # its rows are there in other files: adding it would double them
                return None
            files = imported_files(table.io, table.metadata, [location])
        builder = table.new_append().append_files(files).validate_files_are_new()
        return builder.to_branch(branch).set(MARK, str(op.number)).commit()

    return op, run


# -- maintenance ---------------------------------------------------------------------------------------------------------
def compact(world: World, draw: Draw) -> Step | None:
    """In two halves: groups are read and written now, and committed when the step is made."""
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch = _branch(table, draw, may_be_new=False)
    if table.metadata.head(branch) is None:
        return None
    options = {"rewrite-all": "true", "use-starting-sequence-number": ("true", "false")[draw(3) == 0]}
    chosen = data_rewrite_options(options, table.metadata, "BIN-PACK")
    job = RewriteDataFiles(table=table, options=chosen, branch=branch)
    kind = "compact" if chosen.use_starting_sequence_number else "compact (new numbers)"
    op = world.op(kind, uuid=table.metadata.table_uuid, branch=branch)
    with world.faults.quiet():
        some = job.plan.groups if draw(6) else [group for group in job.plan.groups if draw(2)]
        written = [RewrittenGroup(group, tuple(job.write_here(group))) for group in some]
    return (op, lambda: job._commit(written)) if written else None


def compact_deletes(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    if table.current_snapshot is None:
        return None
    job = RewritePositionDeletes(table=table, options=delete_rewrite_options({"rewrite-all": "true"}, table.metadata))
    op = world.op("compact_deletes", uuid=table.metadata.table_uuid)
    with world.faults.quiet():
        written = [RewrittenGroup(group, tuple(job._write(group))) for group in job.plan.groups]
    return (op, lambda: job._commit(written)) if written else None


def drop_dangling(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    return world.op("drop_dangling", uuid=table.metadata.table_uuid), DanglingDeletes(table).commit


def rewrite_manifests(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    branch = _branch(table, draw, may_be_new=False)
    op = world.op("rewrite_manifests", uuid=table.metadata.table_uuid, branch=branch)
    return op, table.rewrite_manifests().to_branch(branch).commit


def expire(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    builder = table.expire_snapshots()
    if draw(2):
        builder.expire_older_than(EVER_MS).retain_last(1 + draw(2))
    elif table.snapshots:
        builder.expire_snapshot_id(table.snapshots[draw(len(table.snapshots))].snapshot_id)
    return world.op("expire", uuid=table.metadata.table_uuid, expires=True), builder.commit


def remove_orphans(world: World, draw: Draw) -> Step | None:
    """Of any age, so only while no writer has files that are not committed yet."""
    from tests.table.works import remove_orphans as remove

    if world.held or world.in_flight or len(world.active):
        return None
    name = _named(world, draw)
    if name is None:
        return None
    op = world.op("remove_orphans", alone=True)
    table = world.catalog.load_table(world.identifier(name))
    world.forget_dropped_in(table.location)
    return op, lambda: remove(table)


# -- refs ----------------------------------------------------------------------------------------------------------------
def move_ref(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None or not opened[1].snapshots:
        return None
    _, table = opened
    snapshot_id = table.snapshots[draw(len(table.snapshots))].snapshot_id
    name = ("x", "y", "new")[draw(3)]
    manage, how = table.manage_snapshots(), draw(9)
    refs = [ref for ref in table.refs if ref != MAIN]
    if how < 2:
        kind, moved, step = "create_branch", name, manage.create_branch(name, snapshot_id)
    elif how == 2:
        kind, moved, step = "create_tag", f"tag{draw(2)}", None
        step = manage.create_tag(moved, snapshot_id)
    elif how == 3 and refs:
        moved = refs[draw(len(refs))]
        kind, step = "drop_ref", (manage.remove_branch if table.refs[moved].is_branch else manage.remove_tag)(moved)
    elif how == 4 and name in table.refs:
        kind, moved, step = "replace_branch", name, manage.replace_branch(name, snapshot_id)
    elif how == 5 and name in table.refs:
        kind, moved, step = "fast_forward", MAIN, manage.fast_forward_branch(MAIN, name)
    elif how == 6:
        kind, moved, step = "set_current", MAIN, manage.set_current_snapshot(snapshot_id)
    else:
        kind, moved, step = "rollback", MAIN, manage.rollback_to(snapshot_id)
    return world.op(f"{kind} {moved}", uuid=table.metadata.table_uuid, moves=(moved,)), step.commit


def set_property(world: World, draw: Draw) -> Step | None:
    opened = _opened(world, draw)
    if opened is None:
        return None
    _, table = opened
    key, value = (("model", "1"), ("gc.enabled", "false"), ("gc.enabled", "true"), ("format-version", "3"))[draw(4)]
    op = world.op(f"set {key}={value}", uuid=table.metadata.table_uuid)
    return op, table.update_properties().set(key, value).commit


def move_clock(world: World, draw: Draw) -> Step | None:
    world.faults.clock_offset_ns = (0, -3_600_000_000_000, 3_600_000_000_000, -90_000_000_000, 60_000_000_000)[draw(5)]
    return None


def refresh(world: World, draw: Draw) -> Step | None:
    """A table held for long shows the newest version once it is refreshed."""
    name = _named(world, draw)
    handle = None if name is None else world.handles.get(name)
    if name is None or handle is None:
        return None
    with world.faults.quiet():
        current: TableVersion = world.catalog.operations(world.identifier(name)).load()
        world.expect_equal(f"{name} after refresh", handle.refresh().metadata_location, current.metadata_location)
    return None


def land(world: World, draw: Draw) -> Step | None:
    """A late COMMIT arrives."""
    store = getattr(world.catalog, "store", None)
    if world.in_flight:
        assert store is not None
        with world.faults.quiet():
            store.land()
            world.check()
        world.settle()
    return None


ACTIONS: dict[str, tuple[Callable[[World, Draw], Step | None], int]] = {
    "append": (append, 8),
    "delete_equal": (delete_equal, 6),
    "delete_positions": (delete_positions, 6),
    "compact": (compact, 6),
    "append_to_two": (append_to_two, 2),
    "overwrite": (overwrite, 3),
    "replace_partitions": (replace_partitions, 2),
    "delete": (delete, 3),
    "stage": (stage, 1),
    "cherrypick": (cherrypick, 1),
    "add_files": (add_files, 2),
    "compact_deletes": (compact_deletes, 2),
    "drop_dangling": (drop_dangling, 2),
    "rewrite_manifests": (rewrite_manifests, 2),
    "expire": (expire, 3),
    "remove_orphans": (remove_orphans, 1),
    "move_ref": (move_ref, 5),
    "set_property": (set_property, 1),
    "create": (create, 2),
    "drop": (drop, 2),
    "rename": (rename, 2),
    "register": (register, 1),
    "move_clock": (move_clock, 1),
    "refresh": (refresh, 2),
    "land": (land, 2),
}
