"""Writers of one file-system table, interleaved at every call to the file system: one linear history, nothing acknowledged is lost,
nothing called failed is there, and the table always reads."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.catalog.hadoop import HadoopCatalog
from icesql.catalog.hadoop_versions import number_of
from icesql.catalog.loading import load_catalog
from icesql.errors import AlreadyExistsError, CommitFailedError, CommitStateUnknownError, NotFoundError, ValidationError
from icesql.io.metadata_files import read_metadata
from icesql.table.operations import TableVersion
from tests.catalog.steps import SteppedIO, Turns, switching
from tests.catalog.tables import SCHEMA
from tests.effort import examples, scaled
from tests.io.system_calls import watch

NAME = ("db", "t")
FEW = {"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}
CODEC = "write.metadata.compression-codec"


@dataclass
class World:
    """One warehouse, and what its writers were told."""

    folder: Path
    base_versions: int = 3
    properties: dict[str, str] = field(default_factory=dict)
    acknowledged: set[tuple[str | None, str]] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    dropped: set[str | None] = field(default_factory=set)
    foreign: bool = False  # another engine drops: its files are not moved away in one step

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.catalog = load_catalog("test", {"type": "hadoop", "warehouse": str(self.folder)})
        assert isinstance(self.catalog, HadoopCatalog)
        self.io = self.catalog.io = SteppedIO()
        self.base: TableVersion | None = None
        if self.base_versions:
            self.create("first", self.properties)()
            for number in range(1, self.base_versions):
                self.commit(f"base{number}")()
            self.base = self.catalog.operations(NAME).load()

    def note(self, key: str, act: Callable[[], TableVersion]) -> None:
        try:
            version = act()
        except CommitStateUnknownError:
            self.unknown.add(key)
        except (CommitFailedError, AlreadyExistsError, NotFoundError, ValidationError):
            self.failed.add(key)
        else:
            self.acknowledged.add((version.metadata.table_uuid, key))

    # -- what writers do -------------------------------------------------------------------------------------------
    def commit(self, key: str, properties: dict[str, str] | None = None, *, base: TableVersion | None = None) -> Callable[[], None]:
        def act() -> TableVersion:
            operations = self.catalog.operations(NAME)
            held = base or operations.load()
            added = {**held.metadata.properties, key: "1", **(properties or {})}
            return operations.commit(held, replace(held.metadata, properties=added))

        return lambda: self.note(key, act)

    def create(self, key: str, properties: dict[str, str] | None = None) -> Callable[[], None]:
        return lambda: self.note(key, lambda: self.catalog.create_table(NAME, SCHEMA, properties={key: "1", **(properties or {})}).version)

    def drop(self) -> None:
        uuid = self.catalog.operations(NAME).load().metadata.table_uuid
        try:
            self.catalog.drop_table(NAME)
        except (NotFoundError, ValidationError):
            return
        self.dropped.add(uuid)

    def foreign_drop(self) -> None:
        """As Hadoop does on local disks: the files go one by one, in no order of meaning."""
        folder = self.folder / "db" / "t" / "metadata"
        self.dropped.add(self.catalog.operations(NAME).load().metadata.table_uuid)
        for path in sorted(folder.iterdir()):
            self.io._step()
            path.unlink(missing_ok=True)
        self.io._step()
        shutil.rmtree(folder.parent, ignore_errors=True)

    # -- what must hold --------------------------------------------------------------------------------------------
    def check(self) -> None:
        self.io.turns = None
        current = self.catalog.operations(NAME).load()
        uuid, keys = current.metadata.table_uuid, set(current.metadata.properties)
        assert uuid not in self.dropped
        assert {key for owner, key in self.acknowledged if owner == uuid} <= keys
        assert {owner for owner, _ in self.acknowledged} <= {uuid, *self.dropped}
        assert not keys & self.failed
        paths = (self.folder / "db/t/metadata").iterdir()
        files = {number: path for path in paths if (number := number_of(path.name)) is not None}
        count = len(keys & {key for _, key in self.acknowledged} | keys & self.unknown)
        assert number_of(str(current.metadata_location)) == count  # one version a commit, no gap and no branch
        if not self.unknown:
            assert max(files) == count
            assert {read_metadata(self.io, str(path), use_cache=False).table_uuid for path in files.values()} == {uuid}
        self.commit("probe")()
        assert (uuid, "probe") in self.acknowledged


def interleaved(
    world: Callable[[], World], actors: Callable[[World], dict[str, Callable[[], None]]], order: Iterable[str], *, foreign: bool = False
) -> Turns:
    here = world()
    here.foreign = foreign
    here.io.turns = Turns(actors(here), order)
    turns = here.io.turns
    turns.run()
    here.check()
    return turns


def again(*acts: Callable[[], None]) -> Callable[[], None]:
    def act() -> None:
        for one in acts:
            one()

    return act


def remade(world: World, commits: int, drop: Callable[[], None]) -> Callable[[], None]:
    return again(drop, world.create("new"), *(world.commit(f"new{number}") for number in range(commits)))


SCENARIOS: dict[str, tuple[dict[str, object], Callable[[World], dict[str, Callable[[], None]]]]] = {
    "two commits on one version": (
        {},
        lambda w: {"a": w.commit("a", base=w.base), "b": w.commit("b", base=w.base)},
    ),
    "a commit and a change of codec": (
        {},
        lambda w: {"a": w.commit("a", base=w.base), "b": again(w.commit("b", {CODEC: "gzip"}, base=w.base), w.commit("c"))},
    ),
    "two creates that compress differently": (
        {"base_versions": 0},
        lambda w: {"a": w.create("a"), "b": w.create("b", {CODEC: "gzip"})},
    ),
    "a stale commit and versions deleted as too old": (
        {"properties": FEW},
        lambda w: {"a": w.commit("a", base=w.base), "b": again(*(w.commit(f"b{number}") for number in range(4)))},
    ),
    "a commit and a table that is created": (
        {"base_versions": 0},
        lambda w: {"a": again(w.create("a"), w.commit("a1"), w.commit("a2")), "b": w.create("b", FEW)},
    ),
    **{
        f"a stale commit against drop and create, then {commits} commits": (
            {"properties": FEW if commits % 2 else {}},
            lambda w, commits=commits: {"a": w.commit("a", base=w.base), "b": remade(w, commits, w.drop)},  # type: ignore[misc]
        )
        for commits in range(5)
    },
}


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    watch(monkeypatch, lambda name, arguments, carry_out: None if name == "fsync" else carry_out())


@pytest.mark.parametrize("name", SCENARIOS)
def test_orders_with_two_switches(name: str, tmp_path: Path) -> None:
    """One writer moves some steps, then the other, then the first to its end, then the other, from either side: some of those orders,
    all of them with ``ICESQL_EXAMPLES=2000``."""
    options, actors = SCENARIOS[name]
    make = lambda: World(tmp_path / "w", **options)  # type: ignore[arg-type]  # noqa: E731
    steps = interleaved(make, actors, ()).steps
    orders = [
        (names, first, second)
        for names in (("a", "b"), ("b", "a"))
        for first, second in itertools.product(range(steps[names[0]] + 2), range(1, steps[names[1]] + 8))
    ]
    chosen = orders if scaled(100) >= 2000 else random.sample(orders, min(scaled(60), len(orders)))
    for names, first, second in chosen:
        note = f"{names[0]} {first} steps, {names[1]} {second} steps"
        try:
            interleaved(make, actors, switching(names, first, second, 10_000))
        except BaseException as error:
            raise AssertionError(f"{name}: {note}") from error


@examples(60)
@given(st.sampled_from(sorted(SCENARIOS)), st.lists(st.integers(1, 12), max_size=30), st.booleans())
def test_any_order(tmp_path_factory: pytest.TempPathFactory, name: str, counts: list[int], other_first: bool) -> None:
    options, actors = SCENARIOS[name]
    names = ("b", "a") if other_first else ("a", "b")
    folder = tmp_path_factory.getbasetemp() / "any-order"
    interleaved(lambda: World(folder, **options), actors, switching(names, *counts))  # type: ignore[arg-type]


@examples(60)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 12)), max_size=40))
def test_any_order_of_three_commits_that_each_look_first(tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int]]) -> None:
    folder = tmp_path_factory.getbasetemp() / "three"
    order = (name for name, count in moves for _ in range(count))
    interleaved(lambda: World(folder, properties=FEW), lambda w: {k: again(w.commit(k), w.commit(k * 2)) for k in "abc"}, order)


@examples(60)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 6)), max_size=20), st.integers(0, 4))
def test_a_stale_commit_while_another_engine_deletes_the_files_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int]], commits: int
) -> None:
    folder = tmp_path_factory.getbasetemp() / "foreign"
    order = (name for name, count in moves for _ in range(count))
    interleaved(
        lambda: World(folder), lambda w: {"a": w.commit("a", base=w.base), "b": remade(w, commits, w.foreign_drop)}, order, foreign=True
    )
