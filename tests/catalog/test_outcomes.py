"""Every change of a catalog, with its COMMIT's reply lost in every way, and another client at work before the loss is told.

Acknowledged is there, failed is not and never will be, and no file of a version that ever was current goes without a purge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import count
from pathlib import Path

import pytest

from icesql.catalog.pointers import PointerKind
from icesql.errors import CommitFailedError
from icesql.table.changes.append import AppendFiles
from icesql.table.write.arrow_write import write_rows
from tests.catalog.conftest import catalog_properties
from tests.catalog.lost_replies import (
    FAULTS,
    MEANWHILE,
    MEANWHILE_VIEW,
    MOVED,
    OTHER,
    SHORT_LOG,
    TABLE,
    VIEW,
    World,
    is_there,
    new_view_of,
    new_world,
    other_view,
    outcome_of,
    register_base,
    rename_and_create,
    table_with_rows,
    tolerant,
)
from tests.catalog.tables import SCHEMA, rows

LET_GO = ("committed", "rolled back", "interrupted after", "interrupted before")  # the others' locks keep other clients out
Check = Callable[[str], None]
numbers = count()


@dataclass(frozen=True)
class Operation:
    """``prepare`` gives the change to make, and what to check of its outcome once all is over."""

    prepare: Callable[[World], tuple[Callable[[], object], Check]]
    creates: bool = False
    removes: bool = False
    retries: bool = False
    purges: bool = False
    only_by_record: bool = False

    def expected(self, fault: str, keeps_record: bool) -> str:
        """The outcome when no one else is at work."""
        if fault.startswith("interrupted"):
            return "interrupted"
        if self.only_by_record and not keeps_record and fault != "none":
            return "unknown"
        if fault in ("rolled back", "soon rolled back"):
            return "done" if self.retries else "unknown" if self.creates and not keeps_record else "failed"
        lost = fault == "late" or (fault != "none" and self.removes and not keeps_record)
        return "unknown" if lost else "done"


def create(world: World) -> tuple[Callable[[], object], Check]:
    """With rows, whose files the transaction owns."""
    transaction = world.catalog.stage_create(TABLE, SCHEMA, properties=SHORT_LOG)
    files = write_rows(transaction.io, transaction.metadata, rows(2))
    transaction.add(AppendFiles(transaction.operations).owning_files().append_files(files))

    def check(outcome: str) -> None:
        made = any(held == transaction.metadata.table_uuid for held, _ in world.versions.values())
        assert made if outcome == "done" else not made or outcome != "failed"
        left = Path(files[0].file_path).exists()
        assert left or outcome == "failed"

    return transaction.commit, check


def append(world: World) -> tuple[Callable[[], object], Check]:
    table = table_with_rows(world)
    return lambda: table.append(rows(2)), lambda outcome: check_rows(world, outcome, [table.metadata.table_uuid])


def check_rows(world: World, outcome: str, tables: list[str | None]) -> None:
    held = [ids.count(2) for ids in map(world.rows_of, tables) if ids is not None]
    if world.went_back:  # by the other client, on one table, after whatever was committed
        assert set(held) <= {0, 1}
        return
    assert set(held) <= ({1} if outcome == "done" else {0} if outcome == "failed" else {0, 1})
    assert len(set(held)) <= 1, "half of a transaction"


def set_property(world: World) -> tuple[Callable[[], object], Check]:
    table = table_with_rows(world)
    return table.update_properties().set("k", "v").commit, lambda outcome: None


def several_tables(world: World) -> tuple[Callable[[], object], Check]:
    tables = [table_with_rows(world, name) for name in (OTHER, TABLE)]
    transaction = world.catalog.transaction()
    for table in tables:
        files = write_rows(table.io, table.metadata, rows(2))
        transaction.table(table.identifier).add(AppendFiles(table.operations).owning_files().append_files(files))
    return transaction.commit, lambda outcome: check_rows(world, outcome, [table.metadata.table_uuid for table in tables])


def register(world: World) -> tuple[Callable[[], object], Check]:
    location = str(table_with_rows(world, OTHER).metadata_location)
    world.other.drop_table(OTHER)
    return lambda: world.catalog.register_table(TABLE, location), lambda outcome: None


def drop(world: World, *, purge: bool = False) -> tuple[Callable[[], object], Check]:
    table = table_with_rows(world)

    def check(outcome: str) -> None:
        if outcome == "done":
            assert world.other.store.find(PointerKind.TABLE, TABLE) != table.metadata_location

    return lambda: world.catalog.drop_table(TABLE, purge=purge), check


def purge(world: World) -> tuple[Callable[[], object], Check]:
    return drop(world, purge=True)


def rename(world: World) -> tuple[Callable[[], object], Check]:
    table_with_rows(world)
    return lambda: world.catalog.rename_table(TABLE, MOVED), lambda outcome: None


def create_namespace(world: World) -> tuple[Callable[[], object], Check]:
    return lambda: world.catalog.create_namespace(("new",)), lambda outcome: None


def update_namespace(world: World) -> tuple[Callable[[], object], Check]:
    world.catalog.create_namespace(("new",))
    return lambda: world.catalog.update_namespace_properties(("new",), updates={"k": "v"}), lambda outcome: None


def drop_namespace(world: World) -> tuple[Callable[[], object], Check]:
    world.catalog.create_namespace(("new",))
    return lambda: world.catalog.drop_namespace(("new",)), lambda outcome: None


def create_view(world: World) -> tuple[Callable[[], object], Check]:
    view = new_view_of(world, "SELECT 1")
    return lambda: world.catalog.commit_view(VIEW, None, view), lambda outcome: None


def replace_view(world: World) -> tuple[Callable[[], object], Check]:
    view = new_view_of(world, "SELECT 1")
    world.catalog.commit_view(VIEW, None, view)
    return lambda: world.catalog.commit_view(VIEW, view, other_view(view)), lambda outcome: None


def rename_view(world: World) -> tuple[Callable[[], object], Check]:
    world.catalog.commit_view(VIEW, None, new_view_of(world, "SELECT 1"))
    return lambda: world.catalog.rename_view(VIEW, MOVED), lambda outcome: None


TABLES = {
    "create": Operation(create, creates=True),
    "append": Operation(append, retries=True),
    "set property": Operation(set_property, retries=True),
    "several tables": Operation(several_tables, retries=True),
    "register": Operation(register, creates=True),
    "drop": Operation(drop, removes=True),
    "purge": Operation(purge, removes=True, purges=True),
    "rename": Operation(rename),
}
NAMESPACES = {
    "create namespace": Operation(create_namespace, only_by_record=True),
    "update namespace": Operation(update_namespace, only_by_record=True),
    "drop namespace": Operation(drop_namespace, only_by_record=True),
}
VIEWS = {
    "create view": Operation(create_view, creates=True),
    "replace view": Operation(replace_view),
    "rename view": Operation(rename_view),
}
OPERATIONS = {**TABLES, **VIEWS}  # those that another client can come between
FAST = ("append", "several tables", "replace view")


@pytest.fixture(scope="module")
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, str]]:
    """One database of each kind for the whole module: PostgreSQL takes its time to make one, and to stop with many."""
    return cache(lambda kind: catalog_properties(kind, tmp_path_factory.mktemp("outcomes"), request))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def worlds(
    request: pytest.FixtureRequest, databases: Callable[[str], dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], World]]:
    """Catalogs of one database, one after the other."""
    properties = databases(request.param)
    opened: list[World] = []

    def new() -> World:
        number = next(numbers)
        own = {"warehouse": f"{properties['warehouse']}/{number}", "jdbc.catalog-name": f"c{number}"}
        opened.append(new_world({**properties, **own}, monkeypatch))
        return opened[-1]

    yield new
    for world in opened:
        world.catalog.close()
        world.other.close()


@pytest.mark.parametrize("name", [*OPERATIONS, *NAMESPACES])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_outcome_is_told_as_well_as_it_can_be_known(name: str, fault: str, worlds: Callable[[], World]) -> None:
    world, operation = worlds(), {**OPERATIONS, **NAMESPACES}[name]
    assert played(world, operation, fault, lambda: None) == operation.expected(fault, world.keeps_record)


@pytest.mark.parametrize("name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in OPERATIONS])
@pytest.mark.parametrize("fault", ["committed", *(pytest.param(fault, marks=pytest.mark.slow) for fault in LET_GO if fault != "committed")])
def test_another_clients_work_before_the_loss_is_told(name: str, fault: str, worlds: Callable[[], World]) -> None:
    for meanwhile in MEANWHILE_VIEW if name in VIEWS else MEANWHILE:
        world = worlds()
        if meanwhile is register_base and not world.keeps_record:  # the one thing that no look at the names tells
            continue
        outcome = played(world, OPERATIONS[name], fault, partial(tolerant, meanwhile, world))
        assert outcome == "done" or fault != "committed" or not world.keeps_record, meanwhile.__name__


def played(world: World, operation: Operation, fault: str, meanwhile: Callable[[], object]) -> str:
    """The operation's outcome, once all that must hold after it was checked."""
    work, check = operation.prepare(world)
    purged = world.other.load_table(TABLE).metadata.table_uuid if operation.purges else None
    with world.fault(fault, meanwhile):
        outcome = outcome_of(work)
    assert outcome != "failed" or fault not in ("none", "committed", "late", "soon")
    world.check_files(purged if outcome == "done" else None)
    check(outcome)
    return outcome


# -- a purge, and another table under its name ---------------------------------------------------------------------------
@pytest.mark.parametrize("meanwhile", MEANWHILE, ids=lambda act: act.__name__)
def test_a_purge_takes_the_version_that_was_read_or_nothing(
    meanwhile: Callable[[World], None], worlds: Callable[[], World], monkeypatch: pytest.MonkeyPatch
) -> None:
    world = worlds()
    table = table_with_rows(world)
    remove = world.catalog.store.remove

    def late(*arguments: object) -> bool:
        tolerant(meanwhile, world)
        world.note_versions()
        return remove(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(world.catalog.store, "remove", late)
    before = world.other.store.find(PointerKind.TABLE, TABLE)
    outcome = outcome_of(lambda: world.catalog.drop_table(TABLE, purge=True))
    undisturbed = meanwhile.__name__ in ("create", "register_base")  # the first cannot, the second leaves what was read
    assert outcome == ("done" if undisturbed else "failed"), before
    world.check_files(table.metadata.table_uuid if undisturbed else None)


def test_a_purge_that_meets_another_table_says_so(worlds: Callable[[], World], monkeypatch: pytest.MonkeyPatch) -> None:
    world = worlds()
    table_with_rows(world)
    remove = world.catalog.store.remove

    def late(*arguments: object) -> bool:
        rename_and_create(world)
        return remove(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(world.catalog.store, "remove", late)
    with pytest.raises(CommitFailedError, match=r"Cannot drop table test\.db\.t: it was changed or replaced meanwhile"):
        world.catalog.drop_table(TABLE, purge=True)
    assert is_there(world, TABLE) and is_there(world, MOVED)
