"""PyIceberg's SqlCatalog and ours on one database at the same time, each seeing and building on what the other did."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, TableAlreadyExistsError

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import AlreadyExistsError, CommitFailedError, IcesqlError
from tests.catalog.conftest import catalog_properties
from tests.catalog.tables import BY_ID, SCHEMA, rows

pytestmark = pytest.mark.interop


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Catalog, SqlCatalog]]:
    """Our catalog and PyIceberg's of the same name, over the same database and warehouse."""
    properties = catalog_properties(request.param, tmp_path, request)
    ours = load_catalog("shared", properties)
    theirs = SqlCatalog("shared", uri=properties["uri"], warehouse=properties["warehouse"])
    yield ours, theirs
    ours.close()
    theirs.engine.dispose()


def test_each_sees_the_others_namespaces(pair: tuple[Catalog, SqlCatalog]) -> None:
    ours, theirs = pair
    ours.create_namespace(("a", "b"), {"k": "v"})
    theirs.create_namespace(("c",), {"x": "y"})
    assert theirs.load_namespace_properties(("a", "b"))["k"] == "v"
    assert ours.namespace_properties(("c",))["x"] == "y"
    assert ours.list_namespaces() == sorted(theirs.list_namespaces())
    with pytest.raises(AlreadyExistsError):
        ours.create_namespace(("c",))
    with pytest.raises(NamespaceAlreadyExistsError):
        theirs.create_namespace(("a", "b"))
    ours.update_namespace_properties(("c",), removals=["x"], updates={"z": "1"})
    assert "x" not in theirs.load_namespace_properties("c")
    theirs.drop_namespace("c")
    assert not ours.namespace_exists(("c",))


def test_each_builds_on_the_others_commits(pair: tuple[Catalog, SqlCatalog]) -> None:
    ours, theirs = pair
    ours.create_namespace(("db",))
    mine = ours.create_table("db.t", SCHEMA, spec=BY_ID, properties={"k": "v"})
    other = theirs.load_table("db.t")
    assert other.metadata.table_uuid.__str__() == mine.metadata.table_uuid
    other.append(rows(1, 2, 3))
    mine.refresh()
    assert mine.current_snapshot is not None
    assert mine.current_snapshot.snapshot_id == other.metadata.current_snapshot_id
    assert str(mine.metadata_location).rpartition("/")[2].startswith("00001-")
    mine.update_properties().set("ours", "1").commit()
    other.refresh()
    assert other.properties["ours"] == "1"
    assert [entry.metadata_file for entry in mine.metadata.metadata_log] == [entry.metadata_file for entry in other.metadata.metadata_log]
    assert sorted(theirs.load_table("db.t").scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]


def test_no_commit_undoes_the_others(pair: tuple[Catalog, SqlCatalog]) -> None:
    ours, theirs = pair
    ours.create_namespace(("db",))
    mine = ours.create_table("db.t", SCHEMA)
    base, operations = mine.version, ours.operations(("db", "t"))
    other = theirs.load_table("db.t")
    with other.transaction() as transaction:
        transaction.set_properties({"theirs": "1"})
    with pytest.raises(CommitFailedError):
        operations.commit(base, base.metadata)
    stale = theirs.load_table("db.t")
    mine.update_properties().set("ours", "1").commit()
    stale.transaction().set_properties({"theirs": "2"}).commit_transaction()  # rebases by itself, and loses nothing of ours
    final = ours.load_table("db.t")
    assert (final.properties["theirs"], final.properties["ours"]) == ("2", "1")


def test_drop_rename_and_register_are_seen_by_both(pair: tuple[Catalog, SqlCatalog]) -> None:
    ours, theirs = pair
    theirs.create_namespace("db")
    table = ours.create_table("db.t", SCHEMA)
    ours.rename_table(("db", "t"), ("db", "u"))
    assert theirs.list_tables("db") == [("db", "u")]
    theirs.rename_table("db.u", "db.w")
    assert ours.list_tables(("db",)) == [("db", "w")]
    theirs.register_table("db.r", str(table.metadata_location))
    assert ours.load_table("db.r").metadata.table_uuid == table.metadata.table_uuid
    with pytest.raises(TableAlreadyExistsError):
        theirs.register_table("db.w", str(table.metadata_location))
    ours.drop_table(("db", "r"))
    assert theirs.list_tables("db") == [("db", "w")]


def test_other_catalogs_in_the_database_are_not_ours(pair: tuple[Catalog, SqlCatalog]) -> None:
    ours, _ = pair
    ours.create_table("db.t", SCHEMA)
    other = load_catalog("other", ours.properties)
    assert other.list_namespaces() == []
    assert not other.table_exists(("db", "t"))
    other.create_table("db.t", SCHEMA)
    assert ours.load_table("db.t").metadata.table_uuid != other.load_table("db.t").metadata.table_uuid
    other.close()


V0 = """
CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, table_name));
CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
  property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_name, namespace, property_key));
"""


def test_a_database_of_schema_v0_is_used_as_it_is_or_upgraded(tmp_path: Path) -> None:
    database = tmp_path / "v0.db"
    with sqlite3.connect(database) as connection:
        connection.executescript(V0)
    properties = {"type": "jdbc", "uri": f"jdbc:sqlite:{database}", "warehouse": str(tmp_path / "warehouse")}
    old = load_catalog("c", properties)
    table = old.create_table("db.t", SCHEMA)
    table.update_properties().set("k", "v").commit()
    assert old.list_views(("db",)) == []
    assert "iceberg_type" not in _columns(database)
    old.close()
    new = load_catalog("c", {**properties, "jdbc.schema-version": "V1"})
    assert new.load_table("db.t").properties["k"] == "v"
    assert "iceberg_type" in _columns(database)
    new.load_table("db.t").update_properties().set("k", "w").commit()
    new.close()
    assert load_catalog("c", properties).load_table("db.t").properties["k"] == "w"


def _columns(database: Path) -> list[str]:
    with sqlite3.connect(database) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(iceberg_tables)")]


def test_an_uninitialised_database_is_left_alone_on_request(tmp_path: Path) -> None:
    properties = {"uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path), "jdbc.init-catalog-tables": "false"}
    with pytest.raises(IcesqlError, match="iceberg_tables"):
        load_catalog("c", properties).list_namespaces()
