"""Random catalogs with hostile, nested and aliased tables, and everything that removes files: nobody loses what is not theirs.

Two promises after each step. No file goes that another table made and reaches, or that lies outside the table's own folders. And what is an
ordinary table's to remove does go.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import IcesqlError
from icesql.io.metadata_files import write_metadata
from icesql.spec.snapshots import MetadataLogEntry
from icesql.table.maintenance.orphan_files import PrefixRules, list_in_threads, removable_orphans, units_of
from icesql.table.manifests.location_provider import location_provider
from icesql.table.manifests.reachable import reachable_files
from icesql.table.table import Table
from tests.catalog.tables import SCHEMA, rows
from tests.effort import examples

EVER = 10**15
LIMITS = {"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}
NAMES = ("a", "b", "c")
ALIASES = ["{0}", "file:{0}", "file://{0}/", "{0}//.", "{0}/../{1}", "{2}/link-{1}"]
PLACES = ["{0}", "{0}/data", "{0}/metadata", "{0}/data/x", "{2}", "{2}/db", "/", "//", "file:///", "{3}"]
KEYS = ["location", "write.data.path", "write.metadata.path", "write.object-storage.path"]


@dataclass
class World:
    """A catalog in a folder with files of nobody in it. ``hostile`` are the tables that were tampered with."""

    folder: Path
    kind: str
    hostile: set[str] = field(default_factory=set)
    clock: int = 0
    makers: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.catalog: Catalog = load_catalog("w", {"type": self.kind, "warehouse": self.warehouse})
        self.precious = [self.folder / name for name in ("precious.parquet", "w/db/notes.txt", "w/readme")]
        for file in self.precious:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("keep")
        for name in NAMES:
            Path(self.warehouse, f"link-{name}").symlink_to(Path(self.warehouse, "db", name))

    @property
    def warehouse(self) -> str:
        return f"{self.folder}/w"

    def tables(self) -> dict[str, Table]:
        return {name: self.catalog.load_table(("db", name)) for name in NAMES if self.catalog.table_exists(("db", name))}

    def reached(self, table: Table) -> set[str]:
        """Real paths of what a table reaches, but for files that only a forged log names."""
        metadata = table.metadata if table.identifier[-1] not in self.hostile else replace(table.metadata, metadata_log=())
        return {_real(path) for path in reachable_files(table.io, metadata, table.metadata_location) if table.io.exists(path)}

    def files(self) -> set[str]:
        return {str(path.resolve()) for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()}


def _real(location: str) -> str:
    return str(Path("/" + location.removeprefix("file:").lstrip("/")).resolve())


# -- steps ---------------------------------------------------------------------------------------------------------------
def create(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    other = draw(st.sampled_from(NAMES))
    places = {}
    if draw(st.booleans()):
        form = draw(st.sampled_from([*ALIASES, "{0}/inner", "{3}"]))
        places["location"] = form.format(f"{world.warehouse}/db/{other}", other, world.warehouse, f"{world.folder}/lake/{name}")
    if world.kind == "hadoop":
        places = {}
    world.catalog.create_table(("db", name), SCHEMA, properties=LIMITS, **places)
    world.hostile.discard(name)


def append(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    world.clock += 1
    world.tables()[name].append(rows(world.clock))


def clear(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    world.tables()[name].delete()


def steal(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    """The table takes in a file that another one reaches, as ``add_files`` allows."""
    tables = world.tables()
    victim = tables[draw(st.sampled_from(sorted(tables)))]
    data = sorted(path for path in world.reached(victim) if path.endswith(".parquet"))
    if data:
        tables[name].add_files(data[:1], check_duplicates=False)


def tamper(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    """Another program writes a location, a path or a metadata log into the table's metadata."""
    table = world.tables()[name]
    key, other = draw(st.sampled_from([*KEYS, "log"])), draw(st.sampled_from(NAMES))
    if world.kind == "hadoop" and key == "write.metadata.path":
        return
    form = draw(st.sampled_from([*PLACES, *ALIASES]))
    place = form.format(f"{world.warehouse}/db/{other}", other, world.warehouse, str(world.folder))
    metadata = table.metadata
    if key == "log":
        targets = [*map(str, world.precious), *(path for one in world.tables().values() for path in sorted(world.reached(one)))]
        entries = draw(st.lists(st.sampled_from(targets), min_size=1, max_size=3))
        metadata = replace(metadata, metadata_log=tuple(MetadataLogEntry(metadata_file=path, timestamp_ms=1) for path in entries))
    elif key == "location":
        metadata = replace(metadata, location=place)
    else:
        metadata = replace(metadata, properties={**metadata.properties, key: place})
    world.hostile.add(name)
    write_metadata(table.io, str(table.metadata_location), metadata, overwrite=True)


def set_path(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    other, form = draw(st.sampled_from(NAMES)), draw(st.sampled_from([*PLACES, *ALIASES, "{0}/files"]))
    place = form.format(f"{world.warehouse}/db/{other}", other, world.warehouse, str(world.folder))
    world.tables()[name].update_properties().set(draw(st.sampled_from(KEYS[1:])), place).commit()


def expire(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    world.tables()[name].expire_snapshots().expire_older_than(EVER).retain_last(1).commit()


def drop(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    world.catalog.drop_table(("db", name), purge=draw(st.booleans()))


def rename(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    target = draw(st.sampled_from(NAMES))
    world.catalog.rename_table(("db", name), ("db", target))
    world.hostile = {target if one == name else one for one in world.hostile}


def orphans(world: World, name: str, draw: Callable[[Any], Any]) -> None:
    table = world.tables()[name]
    form = draw(st.sampled_from(["", *PLACES[:6], *ALIASES]))
    location = form.format(f"{world.warehouse}/db/{name}", name, world.warehouse, str(world.folder)) or table.location
    if location.strip("/") in ("", "file:"):
        return
    files, folders = units_of(table.io, location)
    seen = [info.location for info in (*files, *list_in_threads(table.io, folders))]
    may_go, _ = removable_orphans(table, location, seen, seen, PrefixRules())
    table.io.delete_many(may_go)


STEPS = {step.__name__: step for step in (append, clear, steal, tamper, set_path, expire, drop, rename, orphans)}


def check(world: World, before: set[str], kept: dict[str, set[str]], name: str, actor: str | None) -> None:
    """What a table made is its own to remove, even where another has taken it in by ``add_files``."""
    after = world.files()
    made_by = world.tables()[name].metadata.table_uuid if name in world.tables() else None
    world.makers.update(dict.fromkeys(after - before, made_by))
    gone = {file for file in before - after if world.makers.get(file) != actor}
    for file in world.precious:
        assert file.exists(), f"{file} belongs to nobody"
    for other, reached in kept.items():
        if other != name:
            assert not gone & reached, f"step on {name} took files of {other}"


@pytest.mark.parametrize("kind", ["memory", "hadoop"])
@examples(60)
@given(data=st.data())
def test_nobody_loses_what_is_not_theirs(tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject) -> None:
    world = World(tmp_path_factory.mktemp("world") / uuid.uuid4().hex, kind)
    for _ in range(data.draw(st.integers(3, 14))):
        name, tables = data.draw(st.sampled_from(NAMES)), world.tables()
        step = create if name not in tables else STEPS[data.draw(st.sampled_from(sorted(STEPS)))]
        kept, before = {}, world.files()
        for other, table in tables.items():
            with contextlib.suppress(IcesqlError, OSError):
                kept[other] = world.reached(table)
        with contextlib.suppress(IcesqlError, OSError):  # hostile tables may well refuse
            step(world, name, data.draw)
        check(world, before, kept, name, tables[name].metadata.table_uuid if name in tables else None)
        if set(world.tables()) <= set(NAMES) - world.hostile:
            for table in world.tables().values():
                owner = table.metadata.table_uuid
                named = {_real(path) for path in reachable_files(table.io, table.metadata, table.metadata_location)}
                if all(world.makers.get(file) in (None, owner) for file in named):  # else whoever made it may take it away
                    table.to_arrow()


@pytest.mark.parametrize("kind", ["memory", "hadoop"])
@examples(25)
@given(data=st.data())
def test_what_is_its_own_goes(tmp_path_factory: pytest.TempPathFactory, kind: str, data: st.DataObject) -> None:
    """Ordinary tables: after expiry and orphan removal nothing is there but what they reach, and after a purge nothing at all."""
    world = World(tmp_path_factory.mktemp("world") / uuid.uuid4().hex, kind)
    for _ in range(data.draw(st.integers(3, 12))):
        name = data.draw(st.sampled_from(NAMES))
        if name not in world.tables():
            world.catalog.create_table(("db", name), SCHEMA, properties=LIMITS)
        step = data.draw(st.sampled_from(["append", "clear", "expire", "rename" if kind == "memory" else "append"]))
        with contextlib.suppress(IcesqlError):
            STEPS[step](world, name, data.draw)
    tables = world.tables()
    for table in tables.values():
        lost = Path(table.location) / "data" / "lost"
        lost.parent.mkdir(exist_ok=True)
        lost.write_bytes(b"x")
        assert table.expire_snapshots().expire_older_than(EVER).retain_last(1).commit().failures == ()
        files, folders = units_of(table.io, table.location)
        seen = [info.location for info in (*files, *list_in_threads(table.io, folders))]
        may_go, kept = removable_orphans(table, table.location, seen, seen, PrefixRules())
        assert kept == []
        table.io.delete_many(may_go)
        folder = location_provider(table.metadata).location
        held = {_real(info.location) for info in table.io.list_files(folder)}
        assert held == world.reached(table)
    for name, table in tables.items():
        world.catalog.drop_table(("db", name), purge=True)
        assert list(table.io.list_files(table.location)) == []
    assert all(file.exists() for file in world.precious)
