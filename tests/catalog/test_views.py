"""Views beside tables in catalogs of pointers."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import AlreadyExistsError, CommitFailedError, NotFoundError, UnsupportedError, ValidationError
from icesql.spec.views import SqlRepresentation, ViewMetadata, ViewVersion, new_view, replace_version
from tests.catalog.tables import SCHEMA
from tests.catalog.test_interop import V0


def view_of(catalog: Catalog, sql: str) -> ViewMetadata:
    return new_view(view_uuid=str(uuid.uuid4()), location=f"{catalog.warehouse}/db/v", schema=SCHEMA, version=version_of(sql))


def version_of(sql: str) -> ViewVersion:
    queries = (SqlRepresentation(sql=sql, dialect="spark"),)
    return ViewVersion(version_id=1, timestamp_ms=1, schema_id=0, representations=queries, default_namespace=("db",))


def test_a_view_is_created_replaced_renamed_and_dropped(metastore: Catalog) -> None:
    first = view_of(metastore, "SELECT 1 AS id")
    metastore.commit_view(("db", "v"), None, first)
    assert metastore.load_view(("db", "v")) == first
    assert metastore.list_views(("db",)) == [("db", "v")]
    assert metastore.list_tables(("db",)) == []
    second = replace_version(first, version_of("SELECT 2 AS id"), SCHEMA)
    metastore.commit_view(("db", "v"), first, second)
    assert metastore.load_view(("db", "v")) == second
    metastore.rename_view(("db", "v"), ("db", "w"))
    assert metastore.load_view(("db", "w")) == second
    with pytest.raises(ValidationError, match="is not empty: 1 view"):
        metastore.drop_namespace(("db",))
    metastore.drop_view(("db", "w"))
    with pytest.raises(NotFoundError, match="View does not exist"):
        metastore.drop_view(("db", "w"))


@pytest.mark.parametrize("gc", ["true", "false"])
def test_the_last_metadata_file_of_a_dropped_view_goes_too(metastore: Catalog, gc: str) -> None:
    first = replace(view_of(metastore, "SELECT 1"), properties={"gc.enabled": gc})
    metastore.commit_view(("db", "v"), None, first)
    metastore.commit_view(("db", "v"), first, replace(first, properties={"gc.enabled": gc, "k": "v"}))
    before = sorted(Path(metastore.warehouse).rglob("*.json"))
    metastore.drop_view(("db", "v"))
    left = sorted(Path(metastore.warehouse).rglob("*.json"))
    assert left == (before if gc == "false" else [file for file in before if not file.name.startswith("00001-")])


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("{")], ids=["missing", "damaged"])
def test_a_view_without_readable_metadata_can_be_dropped(metastore: Catalog, damage: Callable[[Path], object]) -> None:
    metastore.commit_view(("db", "v"), None, view_of(metastore, "SELECT 1"))
    (file,) = Path(metastore.warehouse).rglob("*.json")
    damage(file)
    metastore.drop_view(("db", "v"))
    with pytest.raises(NotFoundError, match="View does not exist"):
        metastore.drop_view(("db", "v"))


def test_tables_and_views_share_one_name_space(metastore: Catalog) -> None:
    metastore.create_table("db.t", SCHEMA)
    metastore.commit_view(("db", "v"), None, view_of(metastore, "SELECT 1"))
    with pytest.raises(AlreadyExistsError):
        metastore.commit_view(("db", "t"), None, view_of(metastore, "SELECT 1"))
    with pytest.raises(AlreadyExistsError):
        metastore.create_table("db.v", SCHEMA)
    with pytest.raises(AlreadyExistsError):
        metastore.rename_table(("db", "t"), ("db", "v"))
    with pytest.raises(NotFoundError):
        metastore.load_table("db.v")
    with pytest.raises(NotFoundError, match=r"Did you mean 'db\.v'"):
        metastore.load_view(("db", "vv"))


def test_a_view_that_changed_meanwhile_is_not_overwritten(metastore: Catalog) -> None:
    first = view_of(metastore, "SELECT 1")
    metastore.commit_view(("db", "v"), None, first)
    other = replace(first, properties={"k": "v"})
    metastore.commit_view(("db", "v"), first, other)
    files = sorted(Path(metastore.warehouse).rglob("*.json"))
    with pytest.raises(CommitFailedError):
        metastore.commit_view(("db", "v"), first, replace(first, properties={"k": "w"}))
    assert metastore.load_view(("db", "v")) == other
    assert sorted(Path(metastore.warehouse).rglob("*.json")) == files


def test_schema_v0_has_no_place_for_views(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "c.db") as connection:
        connection.executescript(V0)
    catalog = load_catalog("c", {"uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path)})
    with pytest.raises(UnsupportedError, match=r"jdbc\.schema-version=V1"):
        catalog.commit_view(("db", "v"), None, view_of(catalog, "SELECT 1"))
