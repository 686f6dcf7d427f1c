"""Whose the files are that nothing of a table reaches: orphan removal takes the table's own, and leaves all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import ValidationError
from icesql.table.orphan_files import PrefixRules, list_in_threads, removable_orphans, units_of, visible
from icesql.table.table import Table
from icesql.table.update_location import UpdateLocation
from tests.table.maintained import SCHEMA, ids, rows


def orphans(table: Table, location: str | None = None) -> tuple[set[str], dict[str, str]]:
    """Names of the files that may go, and of those that must stay with the reason."""
    root = location or table.location
    files, folders = units_of(table.io, root)
    seen = [*files, *list_in_threads(table.io, folders)]
    candidates = [info.location for info in visible(seen, root, frozenset())]
    may_go, kept = removable_orphans(table, root, candidates, [info.location for info in seen], PrefixRules())
    return {Path(path).name for path in may_go}, {Path(path).name: reason for path, reason in kept}


def lose(*folders: str | Path) -> None:
    for number, folder in enumerate(folders):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"lost{number}").write_bytes(b"x")


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    """Its database lies in its warehouse, as that of the embedded catalog does."""
    return load_catalog("embedded", {"type": "sql", "warehouse": str(tmp_path / "w")})


@pytest.fixture
def table(catalog: Catalog) -> Table:
    made = [catalog.create_table(("db", name), SCHEMA) for name in ("t", "other")]
    for one in made:
        one.append(rows(1, 2))
    return made[0]


def test_a_warehouse_holds_more_than_one_table(catalog: Catalog, table: Table) -> None:
    other = catalog.load_table("db.other")
    lose(f"{table.location}/data", f"{other.location}/data", f"{catalog.warehouse}/notes", f"{catalog.warehouse}/db")
    may_go, kept = orphans(table, catalog.warehouse)
    assert may_go == {"lost0"}
    assert {"lost1", "lost2", "lost3", "catalog.db"} <= kept.keys()
    assert kept["lost1"] == "a folder above it holds another table's metadata"
    assert orphans(table, f"{catalog.warehouse}/db/../db//t/") == ({"lost0"}, {})


def test_an_alias_of_the_location_shows_no_live_file(table: Table, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(table.location)
    (tmp_path / "above").symlink_to(tmp_path / "w/db")
    lose(f"{table.location}/data")
    for location in (f"{tmp_path}/alias", f"{tmp_path}/above/t", f"file:{tmp_path}/above/./t", f"{tmp_path}/alias/data"):
        assert orphans(table, location) == ({"lost0"}, {})


def test_a_location_without_a_file_of_the_table_is_refused(catalog: Catalog, table: Table, tmp_path: Path) -> None:
    lose(tmp_path / "elsewhere")
    for location in (catalog.load_table("db.other").location, f"{tmp_path}/elsewhere", f"{table.location}/nothing", f"{tmp_path}/no"):
        with pytest.raises(ValidationError, match="none of its files lies below the location"):
            orphans(table, location)


def test_a_table_of_another_catalog_in_the_folder_stays_whole(table: Table, tmp_path: Path) -> None:
    foreign = load_catalog("foreign", {"type": "memory", "warehouse": f"{table.location}/data/nested"}).create_table("n.t", SCHEMA)
    foreign.append(rows(7))
    lose(f"{table.location}/data", f"{foreign.location}/data")
    may_go, kept = orphans(table)
    assert may_go == {"lost0"}
    assert set(kept.values()) == {"a folder above it holds another table's metadata"}
    assert ids(foreign) == [7]


def test_a_data_folder_of_another_table_stays_whole(catalog: Catalog, table: Table) -> None:
    """That folder was given when no table was there."""
    earlier = catalog.create_table("db.earlier", SCHEMA, properties={"write.data.path": f"{catalog.warehouse}/db/later/data/x"})
    earlier.append(rows(5))
    later = catalog.create_table("db.later", SCHEMA, location=f"{catalog.warehouse}/db/later")
    lose(f"{later.location}/data")
    may_go, kept = orphans(later)
    assert may_go == {"lost0"}
    assert set(kept.values()) == {"it lies in a folder of table db.earlier"}


def test_what_a_moved_and_renamed_table_left_behind_stays(catalog: Catalog, table: Table, tmp_path: Path) -> None:
    UpdateLocation(f"{tmp_path}/moved", table.operations).commit()
    table.refresh().append(rows(3))
    catalog.rename_table(("db", "t"), ("db", "old"))
    fresh = catalog.create_table("db.t", SCHEMA, location=f"{catalog.warehouse}/db/t")
    may_go, kept = orphans(fresh)
    assert may_go == set()
    assert set(kept.values()) == {"it lies in a folder of table db.old"}


def test_the_old_place_of_a_moved_table_is_cleared_when_asked(table: Table, tmp_path: Path) -> None:
    lose(f"{table.location}/data")
    old = table.location
    UpdateLocation(f"{tmp_path}/moved", table.operations).commit()
    assert orphans(table.refresh(), old) == ({"lost0"}, {})


def test_links_are_neither_followed_nor_removed(table: Table, tmp_path: Path) -> None:
    lose(tmp_path / "far/deep/deeper/deepest")
    data = Path(table.location) / "data"
    (data / "p=1").symlink_to(tmp_path / "far")
    (data / "file").symlink_to(tmp_path / "far/deep/deeper/deepest/lost0")
    deep = data / "a/b/c"
    deep.mkdir(parents=True)
    (deep / "linked").symlink_to(tmp_path / "far")
    may_go, kept = orphans(table)
    assert may_go == set()
    assert set(kept) == {"file", "linked", "p=1"}
    assert set(kept.values()) == {"it is a symbolic link, and what it leads to may be in use"}
