"""Hostile and unlucky catalogs: whatever a table's metadata says, no file of another table and none outside the table's folders goes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import IcesqlError, InvalidArgumentError, ValidationError
from icesql.io.metadata_files import write_metadata
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import MetadataLogEntry
from icesql.spec.views import ViewMetadata
from icesql.table.table import Table
from tests.catalog.tables import SCHEMA, rows
from tests.catalog.test_views import view_of

EVER = 10**15
LIMITS = {"write.metadata.previous-versions-max": "1", "write.metadata.delete-after-commit.enabled": "true"}


def forge(catalog: Catalog, table: Table, change: Callable[[TableMetadata], TableMetadata]) -> Table:
    """The table as if another program had written this into its metadata."""
    write_metadata(catalog.io, str(table.metadata_location), change(table.refresh().metadata), overwrite=True)
    return catalog.load_table(table.identifier)


def with_properties(**properties: str) -> Callable[[TableMetadata], TableMetadata]:
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return lambda metadata: replace(metadata, properties={**metadata.properties, **named})


def files_of(table: Table) -> set[str]:
    return {info.location for info in table.io.list_files(table.location)}


def readable(table: Table) -> list[int]:
    return sorted(table.refresh().to_arrow()["id"].to_pylist())


@pytest.fixture
def pair(catalog: Catalog) -> tuple[Table, Table]:
    """A table that turns hostile, and its neighbour with two rows."""
    hostile, neighbour = (catalog.create_table(("db", name), SCHEMA, properties=LIMITS) for name in ("hostile", "neighbour"))
    neighbour.append(rows(1, 2))
    return hostile, neighbour


def expire_all(table: Table) -> list[tuple[str, str]]:
    table.append(rows(7))
    table.delete()
    table.append(rows(8))
    return list(table.expire_snapshots().expire_older_than(EVER).retain_last(1).commit().failures)


# -- an ordinary INSERT --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("place", ["neighbour", "outside", "climbing", "data", "encoded", "link"])
def test_an_insert_removes_no_file_that_a_forged_log_names(
    catalog: Catalog, pair: tuple[Table, Table], tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    hostile, neighbour = pair
    hostile.append(rows(3))
    current = str(neighbour.metadata_location)
    precious = tmp_path / "00000-precious.metadata.json"
    precious.write_text("{}")
    (tmp_path / "warehouse/db/hostile/metadata/link").symlink_to(Path(current).parent)
    name = current.rpartition("/")[2]
    entry = {
        "neighbour": current,
        "outside": str(precious),
        "climbing": f"{hostile.location}/metadata/../../neighbour/metadata/{name}",
        "data": next(path for path in files_of(hostile) if path.endswith(".parquet")),
        "encoded": f"file:{hostile.location}/metadata/..//..//neighbour/metadata/{name}",
        "link": f"{hostile.location}/metadata/link/{name}",
    }[place]
    forged = forge(catalog, hostile, lambda m: replace(m, metadata_log=(MetadataLogEntry(metadata_file=entry, timestamp_ms=1),)))
    forged.append(rows(4))
    assert catalog.io.exists(entry)
    assert precious.exists()
    assert entry in caplog.text
    assert readable(catalog.load_table("db.neighbour")) == [1, 2]
    assert readable(forged) == [3, 4]
    old = str(forged.metadata_location)
    forged.append(rows(5))
    forged.append(rows(6))
    assert not catalog.io.exists(old)  # what is its own still goes


# -- expire and purge ----------------------------------------------------------------------------------------------------
FORMS = ["{0}/data", "file://{0}", "//", "{1}", "{1}/./db"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("key", ["write_data_path", "write_object-storage_path", "location"])
def test_expiry_and_purge_spare_the_neighbour_whatever_folder_is_claimed(
    catalog: Catalog, pair: tuple[Table, Table], key: str, form: str
) -> None:
    steal(catalog, *pair, key, form)


@pytest.mark.parametrize("form", FORMS)
def test_or_whatever_metadata_folder(form: str, tmp_path: Path) -> None:
    catalog = load_catalog("claimed", {"type": "memory", "warehouse": f"{tmp_path}/warehouse"})
    hostile, neighbour = (catalog.create_table(("db", name), SCHEMA, properties=LIMITS) for name in ("hostile", "neighbour"))
    neighbour.append(rows(1, 2))
    steal(catalog, hostile, neighbour, "write_metadata_path", form)


def steal(catalog: Catalog, hostile: Table, neighbour: Table, key: str, form: str) -> None:
    folder = form.format(neighbour.location, catalog.warehouse)
    stolen = next(path for path in files_of(neighbour) if path.endswith(".parquet"))
    hostile.add_files([stolen])
    hostile.delete()
    before = files_of(neighbour)
    if key == "location":
        forged = forge(catalog, hostile, lambda m: replace(m, location=folder))
    else:
        forged = forge(catalog, hostile, with_properties(**{key: folder}))
    failures = dict(forged.expire_snapshots().expire_older_than(EVER).retain_last(1).commit().failures)
    assert stolen in failures
    assert before <= files_of(neighbour)
    forge(catalog, forged, lambda m: replace(m, metadata_log=(MetadataLogEntry(metadata_file=stolen, timestamp_ms=1),)))
    with pytest.raises(ValidationError, match="Cannot purge table"):
        catalog.drop_table(("db", "hostile"), purge=True)
    assert catalog.table_exists(("db", "hostile"))
    assert before <= files_of(neighbour)
    assert readable(catalog.load_table("db.neighbour")) == [1, 2]


def test_the_database_in_the_warehouse_stays(tmp_path: Path) -> None:
    catalog = load_catalog("embedded", {"type": "sql", "warehouse": str(tmp_path / "w")})
    table = catalog.create_table("db.t", SCHEMA)
    database = tmp_path / "w/catalog.db"
    assert {str(database), f"{database}-wal"} <= set(catalog.surroundings(("db", "t")).catalog_files())
    moved = forge(catalog, table, lambda m: replace(m, location=str(tmp_path / "w"), metadata_log=(_entry(str(database)),)))
    with pytest.raises(ValidationError, match="Cannot purge"):
        catalog.drop_table(moved.identifier, purge=True)
    assert database.exists()
    catalog.close()


def _entry(path: str) -> MetadataLogEntry:
    return MetadataLogEntry(metadata_file=path, timestamp_ms=1)


def test_ordinary_removals_are_whole(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, properties=LIMITS)
    for number in range(3):
        table.append(rows(number))
        table.delete()
    assert expire_all(table) == []
    assert readable(table) == [8]
    assert len([path for path in files_of(table) if path.endswith(".parquet")]) == 1
    assert len([path for path in files_of(table) if path.endswith("metadata.json")]) == 2
    catalog.drop_table(("db", "t"), purge=True)
    assert files_of(table) == set()


def test_a_location_of_ones_own_outside_of_the_warehouse_is_cleared_too(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.t", SCHEMA, location=f"{tmp_path}/lake/t", properties=LIMITS)
    assert expire_all(table) == []
    metastore.drop_table(("db", "t"), purge=True)
    assert files_of(table) == set()


def test_folders_outside_need_to_be_allowed(tmp_path: Path) -> None:
    apart = {"write.data.path": f"{tmp_path}/files/t", **LIMITS}
    strict = load_catalog("strict", {"type": "memory", "warehouse": f"{tmp_path}/w"})
    failures = expire_all(strict.create_table("db.t", SCHEMA, properties=apart))
    assert failures
    assert all("removal.allowed-locations" in reason for _, reason in failures)
    allowing = {"type": "memory", "warehouse": f"{tmp_path}/w2", "removal.allowed-locations": f"/nowhere, file://{tmp_path}/files/"}
    lenient = load_catalog("lenient", allowing)
    assert expire_all(lenient.create_table("db.t", SCHEMA, properties={**apart, "write.data.path": f"{tmp_path}/files/t2"})) == []
    for wrong in ("/", "relative", "s3://bucket"):
        with pytest.raises(InvalidArgumentError, match="names no absolute folder below a root"):
            load_catalog("wrong", {**allowing, "removal.allowed-locations": wrong})


# -- stores --------------------------------------------------------------------------------------------------------------
def test_in_a_store_as_on_a_disk() -> None:
    root = f"memory://{uuid.uuid4().hex}/w"
    catalog = load_catalog("stored", {"type": "memory", "warehouse": root})
    hostile, neighbour = (catalog.create_table(("db", name), SCHEMA, properties=LIMITS) for name in ("hostile", "neighbour"))
    neighbour.append(rows(1, 2))
    before = files_of(neighbour)
    assert expire_all(hostile) == []
    stolen = next(path for path in before if path.endswith(".parquet"))
    hostile.add_files([stolen])
    hostile.delete()
    forged = forge(catalog, hostile, with_properties(write_data_path=f"{neighbour.location}//data/"))
    assert stolen in dict(forged.expire_snapshots().expire_older_than(EVER).retain_last(1).commit().failures)
    forged = forge(catalog, forged, lambda m: replace(m, metadata_log=(_entry(str(neighbour.metadata_location)),)))
    forged.append(rows(9))
    assert before <= files_of(neighbour)
    with pytest.raises(InvalidArgumentError, match=r"overlaps the folder of table db\.neighbour"):
        catalog.create_table("db.v", SCHEMA, location=f"MEMORY://{root[9:]}/db//neighbour/x")
    forge(catalog, forged, with_properties(write_data_path=f"{forged.location}/data")).delete()
    catalog.drop_table(("db", "neighbour"), purge=True)
    assert not before & files_of(neighbour)


# -- overlaps ------------------------------------------------------------------------------------------------------------
def test_overlapping_folders_are_refused(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.t", SCHEMA)
    free = metastore.create_table("db.free", SCHEMA)
    (tmp_path / "alias").symlink_to(table.location)
    taken = [table.location, f"{table.location}/x", f"file:{table.location}", f"{tmp_path}/alias", f"{free.location}/../t/data"]
    for location in taken:
        with pytest.raises(InvalidArgumentError, match=r"overlaps the folder of table db\.t"):
            metastore.create_table("db.u", SCHEMA, location=location)
        with pytest.raises(InvalidArgumentError, match=r"overlaps the folder of table db\.t"):
            metastore.stage_replace(("db", "free"), SCHEMA, location=location).commit()
        for key in ("write.data.path", "write.metadata.path", "write.object-storage.path"):
            with pytest.raises(InvalidArgumentError, match=r"overlaps the folder of table db\.t"):
                metastore.create_table("db.u", SCHEMA, properties={key: location})
            with pytest.raises(InvalidArgumentError, match=r"overlaps the folder of table db\.t"):
                free.update_properties().set(key, location).commit()
    for location, why in (("/", "a root"), ("file:///", "file:"), (metastore.warehouse, "warehouse is in it"), (str(tmp_path), "in it")):
        with pytest.raises(InvalidArgumentError, match=why):
            metastore.create_table("db.u", SCHEMA, location=location)
    with pytest.raises(InvalidArgumentError, match="overlaps the folder"):
        metastore.create_table("db.u", SCHEMA, location=f"{metastore.warehouse}/db")
    with pytest.raises(InvalidArgumentError, match="overlaps the folder"):
        metastore.register_table(("db", "u"), str(table.metadata_location))
    assert [name[-1] for name in metastore.list_tables(("db",))] == ["free", "t"]
    free.append(rows(1))
    free.update_properties().set("write.data.path", f"{free.location}/files").commit()
    free.update_properties().set("comment", "x").commit()


def test_a_data_folder_of_another_table_is_refused_wherever_it_is(catalog: Catalog, tmp_path: Path) -> None:
    catalog.create_table("db.t", SCHEMA, properties={"write.data.path": f"{tmp_path}/files"})
    for path in (f"{tmp_path}/files", f"{tmp_path}/files/x", f"{tmp_path}//files/"):
        with pytest.raises(InvalidArgumentError, match="overlaps the folder of table"):
            catalog.create_table("db.u", SCHEMA, properties={"write.data.path": path})
    catalog.create_table("db.u", SCHEMA, properties={"write.data.path": f"{tmp_path}/files2"})


def test_object_layouts_may_share_a_data_folder(metastore: Catalog, tmp_path: Path) -> None:
    layout = {"write.data.path": f"{tmp_path}/warehouse/files", "write.object-storage.enabled": "true", **LIMITS}
    tables = [metastore.create_table(("db", name), SCHEMA, properties=layout) for name in ("a", "b")]
    tables[1].append(rows(1, 2))
    assert expire_all(tables[0]) == []
    metastore.drop_table(("db", "a"), purge=True)
    assert readable(tables[1]) == [1, 2]


def test_after_a_rename_the_old_name_gets_a_folder_of_its_own(metastore: Catalog) -> None:
    old = metastore.create_table("db.t", SCHEMA)
    old.append(rows(1))
    metastore.rename_table(("db", "t"), ("db", "old"))
    fresh = metastore.create_table("db.t", SCHEMA)
    assert fresh.location.startswith(f"{old.location}-")
    fresh.append(rows(2))
    metastore.drop_table(("db", "t"), purge=True)
    assert readable(metastore.load_table("db.old")) == [1]


def test_a_namespace_named_like_a_table(metastore: Catalog) -> None:
    outer = metastore.create_table(("db", "t"), SCHEMA)
    inner = metastore.create_table(("db", "t", "x"), SCHEMA)
    assert not inner.location.startswith(f"{outer.location}/")
    inner.append(rows(1))
    metastore.drop_table(("db", "t"), purge=True)
    assert readable(inner) == [1]
    metastore.drop_table(("db", "t", "x"), purge=True)
    assert files_of(inner) == set()


def test_a_dropped_tables_folder_is_used_again(metastore: Catalog) -> None:
    first = metastore.create_table("db.t", SCHEMA)
    metastore.drop_table(("db", "t"))
    assert metastore.create_table("db.t", SCHEMA).location == first.location


# -- hadoop --------------------------------------------------------------------------------------------------------------
@pytest.fixture
def hadoop(tmp_path: Path) -> Catalog:
    return load_catalog("h", {"type": "hadoop", "warehouse": f"{tmp_path}/w"})


def test_no_hadoop_table_inside_another(hadoop: Catalog) -> None:
    hadoop.create_table("db.t", SCHEMA)
    with pytest.raises(IcesqlError, match="overlaps the folder of table"):
        hadoop.create_table("db.t.x", SCHEMA)
    hadoop.create_table("db.n.x", SCHEMA)
    with pytest.raises(InvalidArgumentError, match="overlaps the folder of table"):
        hadoop.create_table("db.n", SCHEMA)


def test_a_hadoop_table_with_another_in_it_is_not_dropped(hadoop: Catalog, tmp_path: Path) -> None:
    outer, inner = hadoop.create_table("db.t", SCHEMA), hadoop.create_table("db.x", SCHEMA)
    outer.append(rows(1))
    inner.append(rows(2))
    Path(inner.location).rename(f"{outer.location}/x")
    for purge in (False, True):
        with pytest.raises(ValidationError, match="another table lies in its folder"):
            hadoop.drop_table(("db", "t"), purge=purge)
    assert hadoop.table_exists(("db", "t", "x"))
    hadoop.drop_table(("db", "t", "x"))
    hadoop.drop_table(("db", "t"))
    assert list((tmp_path / "w/db").iterdir()) == []


def test_a_link_to_a_hadoop_table_is_not_dropped_as_one(hadoop: Catalog, tmp_path: Path) -> None:
    table = hadoop.create_table("db.t", SCHEMA)
    table.append(rows(1))
    (tmp_path / "w/db/alias").symlink_to(tmp_path / "w/db/t")
    with pytest.raises(ValidationError, match="its folder is a symbolic link"):
        hadoop.drop_table(("db", "alias"))
    assert readable(hadoop.load_table("db.t")) == [1]


# -- views ---------------------------------------------------------------------------------------------------------------
def test_a_view_takes_its_own_metadata_file_along_and_no_other(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.t", SCHEMA)
    view: ViewMetadata = view_of(metastore, "SELECT 1 AS id")
    metastore.commit_view(("db", "v"), None, view)
    (file,) = metastore.io.list_files(view.location)
    metastore.drop_view(("db", "v"))
    assert not metastore.io.exists(file.location)
    stolen: Any = replace(view, location=table.location)
    metastore.commit_view(("db", "w"), None, stolen)
    metastore.drop_view(("db", "w"))
    assert metastore.io.exists(str(table.metadata_location))
