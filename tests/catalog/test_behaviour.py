"""What every catalog does, asked of each kind in turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.hadoop import HadoopCatalog
from icesql.catalog.loading import load_catalog
from icesql.catalog.rest.catalog import RestCatalog
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CorruptMetadataError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
    ValidationError,
)
from icesql.spec.metadata import TableMetadata
from icesql.spec.types import IntegerType, NestedField
from tests.catalog.tables import BY_ID, SCHEMA, rows


@pytest.fixture
def catalog(any_catalog: Catalog) -> Catalog:
    return any_catalog


@pytest.fixture
def metastore(any_metastore: Catalog) -> Catalog:
    return any_metastore


def files_below(folder: Path) -> set[str]:
    """Without the check sums that Hadoop's local files have beside them, where a server writes with those."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".crc"}


# -- namespaces --------------------------------------------------------------------------------------------------------
def test_a_namespace_is_created_listed_and_dropped(catalog: Catalog) -> None:
    assert not catalog.namespace_exists(("db",))
    catalog.create_namespace(("db",))
    assert catalog.namespace_exists(("db",))
    assert catalog.list_namespaces() == [("db",)]
    with pytest.raises(AlreadyExistsError, match="Namespace already exists: db"):
        catalog.create_namespace(("db",))
    catalog.drop_namespace(("db",))
    assert catalog.list_namespaces() == []
    with pytest.raises(NotFoundError, match="Namespace does not exist: db"):
        catalog.drop_namespace(("db",))


def test_namespaces_nest_and_imply_their_parents(catalog: Catalog) -> None:
    catalog.create_namespace(("a", "b", "c"))
    catalog.create_namespace(("ab",))
    assert catalog.namespace_exists(("a",))
    assert catalog.list_namespaces() == [("a",), ("ab",)]
    assert catalog.list_namespaces(("a",)) == [("a", "b")]
    assert catalog.list_namespaces(("a", "b")) == [("a", "b", "c")]
    assert catalog.list_namespaces(("a", "b", "c")) == []
    with pytest.raises(ValidationError, match="Namespace a is not empty"):
        catalog.drop_namespace(("a",))


def test_names_differing_in_case_or_wildcards_are_kept_apart(catalog: Catalog) -> None:
    for name in ("db", "DB", "d_", "d%"):
        catalog.create_namespace((name, "x"))
    assert catalog.list_namespaces(("d_",)) == [("d_", "x")]
    assert catalog.list_namespaces() == sorted([("db",), ("DB",), ("d_",), ("d%",)])


def test_an_unknown_namespace_names_the_nearest(catalog: Catalog) -> None:
    catalog.create_namespace(("sales",))
    with pytest.raises(NotFoundError, match="Did you mean 'sales'"):
        catalog.list_tables(("sale",))


def test_namespace_with_a_table_is_not_dropped(catalog: Catalog) -> None:
    catalog.create_table(("db", "t"), SCHEMA)
    with pytest.raises(ValidationError, match="Namespace db is not empty"):
        catalog.drop_namespace(("db",))
    assert catalog.table_exists(("db", "t"))


@pytest.mark.parametrize("level", ["", ".", "..", "a/b", "a\\b", "a\x00b", "a\nb"])
def test_names_that_are_no_folder_are_refused(catalog: Catalog, level: str) -> None:
    with pytest.raises(InvalidArgumentError):
        catalog.create_namespace((level,))
    with pytest.raises(InvalidArgumentError):
        catalog.create_table((level, "t"), SCHEMA)
    with pytest.raises(InvalidArgumentError):
        catalog.create_table(("db", level), SCHEMA)


# -- tables ------------------------------------------------------------------------------------------------------------
def test_a_table_is_created_loaded_listed_and_dropped(catalog: Catalog) -> None:
    created = catalog.create_table("db.t", SCHEMA, spec=BY_ID, properties={"k": "v"})
    loaded = catalog.load_table("db.t")
    assert loaded.metadata == created.metadata
    assert loaded.metadata_location == created.metadata_location
    assert loaded.name == "test.db.t"
    assert loaded.properties["k"] == "v"
    assert loaded.location == catalog.default_location(("db", "t")) == f"{catalog.warehouse}/db/t"
    assert catalog.list_tables(("db",)) == [("db", "t")]
    assert catalog.list_namespaces() == [("db",)]
    catalog.drop_table(("db", "t"))
    assert not catalog.table_exists(("db", "t"))
    assert catalog.list_tables(("db",)) == [] if catalog.namespace_exists(("db",)) else True
    with pytest.raises(NotFoundError, match=r"Table does not exist: test\.db\.t"):
        catalog.drop_table(("db", "t"))


def test_an_existing_table_is_not_created_again(catalog: Catalog) -> None:
    first = catalog.create_table("db.t", SCHEMA)
    with pytest.raises(AlreadyExistsError, match=r"Table already exists: db\.t"):
        catalog.create_table("db.t", SCHEMA)
    assert catalog.load_table("db.t").metadata.table_uuid == first.metadata.table_uuid


def test_a_create_that_loses_the_race_leaves_the_winner_and_no_file(catalog: Catalog) -> None:
    loser = catalog.stage_create(("db", "t"), SCHEMA)
    winner = catalog.create_table("db.t", SCHEMA)
    before = files_below(Path(catalog.warehouse))
    with pytest.raises(AlreadyExistsError):
        loser.commit()
    assert catalog.load_table("db.t").metadata.table_uuid == winner.metadata.table_uuid
    assert files_below(Path(catalog.warehouse)) == before


def test_an_unknown_table_names_the_nearest(catalog: Catalog) -> None:
    catalog.create_table("db.events", SCHEMA)
    with pytest.raises(NotFoundError, match=r"Cannot find table.*test\.db\.event\. Did you mean 'test\.db\.events'"):
        catalog.load_table("db.event")
    with pytest.raises(NotFoundError, match="Cannot find table"):
        catalog.load_table("nowhere.event")


def test_catalog_properties_give_defaults_and_overrides(catalog: Catalog) -> None:
    catalog.properties.update({"table-default.a": "1", "table-default.b": "1", "table-override.c": "3"})
    table = catalog.create_table("db.t", SCHEMA, properties={"b": "2", "c": "2"})
    assert {key: table.properties[key] for key in "abc"} == {"a": "1", "b": "2", "c": "3"}


def test_a_table_shows_one_version_until_refreshed(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    other = catalog.load_table("db.t")
    other.update_properties().set("k", "v").commit()
    assert other.properties["k"] == "v"
    assert "k" not in table.properties
    assert table.refresh().properties["k"] == "v"
    assert table.metadata_location == other.metadata_location


def test_a_commit_on_an_old_base_is_refused_and_leaves_no_file(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    base, operations = table.version, catalog.operations(("db", "t"))
    table.update_properties().set("k", "v").commit()
    before = files_below(Path(catalog.warehouse))
    with pytest.raises(CommitFailedError):
        operations.commit(base, base.metadata)
    assert files_below(Path(catalog.warehouse)) == before
    assert catalog.load_table("db.t").properties["k"] == "v"


def test_a_commit_to_a_dropped_table_is_refused(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    catalog.drop_table(("db", "t"))
    with pytest.raises(NotFoundError):
        table.update_properties().set("k", "v").commit()
    assert not catalog.table_exists(("db", "t"))


def test_a_commit_to_a_table_made_anew_is_refused(catalog: Catalog) -> None:
    stale = catalog.create_table("db.t", SCHEMA)
    base = stale.version
    catalog.drop_table(("db", "t"))
    fresh = catalog.create_table("db.t", SCHEMA)
    with pytest.raises(CommitFailedError):
        catalog.operations(("db", "t")).commit(base, base.metadata)
    assert catalog.load_table("db.t").metadata.table_uuid == fresh.metadata.table_uuid


def test_the_metadata_log_keeps_as_many_versions_as_asked(catalog: Catalog) -> None:
    limits = {"write.metadata.previous-versions-max": "2", "write.metadata.delete-after-commit.enabled": "true"}
    table = catalog.create_table("db.t", SCHEMA, properties=limits)
    seen = [table.metadata_location]
    for number in range(5):
        table.update_properties().set("n", str(number)).commit()
        seen.append(table.metadata_location)
    assert [entry.metadata_file for entry in table.metadata.metadata_log] == seen[-3:-1]
    assert [location for location in seen if catalog.io.exists(str(location))] == seen[-3:]
    assert catalog.load_table("db.t").properties["n"] == "4"


@pytest.mark.parametrize("codec", ["none", "gzip"])
def test_metadata_is_compressed_as_asked(catalog: Catalog, codec: str) -> None:
    table = catalog.create_table("db.t", SCHEMA, properties={"write.metadata.compression-codec": codec})
    if isinstance(catalog, HadoopCatalog):  # each version there is compressed as the one before it says
        assert str(table.metadata_location).endswith("/v1.metadata.json")
        table.update_properties().set("n", "1").commit()
    data = Path(str(table.metadata_location)).read_bytes()
    assert data.startswith(b"\x1f\x8b" if codec == "gzip" else b"{")
    assert str(table.metadata_location).endswith(".gz.metadata.json") == (codec == "gzip")
    other = "none" if codec == "gzip" else "gzip"
    table.update_properties().set("write.metadata.compression-codec", other).commit()
    assert catalog.load_table("db.t").properties["write.metadata.compression-codec"] == other


def test_an_unknown_codec_is_refused_before_anything_is_written(catalog: Catalog) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid codec name: lz9"):
        catalog.create_table("db.t", SCHEMA, properties={"write.metadata.compression-codec": "lz9"})
    assert not catalog.table_exists(("db", "t"))
    assert files_below(Path(catalog.warehouse)) == set()


def test_missing_and_damaged_metadata_name_the_file(catalog: Catalog) -> None:
    if isinstance(catalog, RestCatalog):
        pytest.skip("the server reads the file: tests/rest/test_replies.py has what comes of its failures")
    table = catalog.create_table("db.t", SCHEMA)
    location = Path(str(table.metadata_location))
    location.write_bytes(b'{"format-version": 2, "tab')
    from icesql.io import metadata_files

    metadata_files._cache.drop(str(location))
    with pytest.raises(CorruptMetadataError, match=location.name):
        catalog.load_table("db.t")


# -- drop, rename, register --------------------------------------------------------------------------------------------
def test_drop_with_purge_deletes_the_files(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1, 2))
    table.append(rows(3))
    catalog.drop_table(("db", "t"), purge=True)
    assert files_below(Path(catalog.warehouse)) == set()


def test_purge_is_refused_where_gc_is_disabled(catalog: Catalog) -> None:
    catalog.create_table("db.t", SCHEMA, properties={"gc.enabled": "false"})
    before = files_below(Path(catalog.warehouse))
    with pytest.raises(ValidationError, match="GC is disabled"):
        catalog.drop_table(("db", "t"), purge=True)
    assert catalog.table_exists(("db", "t"))
    assert files_below(Path(catalog.warehouse)) == before


def test_purge_is_refused_where_a_file_lies_outside(catalog: Catalog, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    table = catalog.create_table("db.t", SCHEMA)
    outside = tmp_path / "precious.parquet"
    pq.write_table(rows(1, 2), outside)
    table.add_files([str(outside)])
    with pytest.raises(ValidationError, match=r"lies outside the table's location: .*precious\.parquet"):
        catalog.drop_table(("db", "t"), purge=True)
    assert outside.exists()
    assert catalog.table_exists(("db", "t"))


def test_drop_without_purge_keeps_files_but_in_a_file_system_catalog(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA)
    catalog.drop_table(("db", "t"))
    assert catalog.io.exists(str(table.metadata_location)) != isinstance(catalog, HadoopCatalog)


def test_register_brings_a_table_in(catalog: Catalog) -> None:
    elsewhere = load_catalog("elsewhere", {"type": "memory"})
    table = elsewhere.create_table("db.t", SCHEMA)
    registered = catalog.register_table(("db", "u"), str(table.metadata_location))
    assert registered.metadata.table_uuid == table.metadata.table_uuid
    assert catalog.load_table("db.u").metadata == table.metadata
    with pytest.raises(AlreadyExistsError, match="Table already exists"):
        catalog.register_table(("db", "u"), str(table.metadata_location))
    with pytest.raises(CorruptMetadataError, match="nothing here"):
        catalog.register_table(("db", "v"), f"{catalog.warehouse}/nothing here.metadata.json")
    assert not catalog.table_exists(("db", "v"))


def test_rename_moves_the_name_only(metastore: Catalog) -> None:
    table = metastore.create_table("db.t", SCHEMA)
    metastore.create_table("db.taken", SCHEMA)
    with pytest.raises(NotFoundError, match="Namespace does not exist: other"):
        metastore.rename_table(("db", "t"), ("other", "u"))
    metastore.create_namespace(("other",))
    metastore.rename_table(("db", "t"), ("other", "u"))
    assert not metastore.table_exists(("db", "t"))
    moved = metastore.load_table("other.u")
    assert (moved.location, moved.metadata.table_uuid) == (table.location, table.metadata.table_uuid)
    moved.update_properties().set("k", "v").commit()
    with pytest.raises(AlreadyExistsError):
        metastore.rename_table(("other", "u"), ("db", "taken"))
    with pytest.raises(NotFoundError, match="does not exist"):
        metastore.rename_table(("db", "t"), ("db", "x"))


def test_namespace_properties_are_kept(metastore: Catalog) -> None:
    metastore.create_namespace(("db",), {"owner": "me", "comment": "c"})
    assert metastore.namespace_properties(("db",)) == {"owner": "me", "comment": "c", "location": f"{metastore.warehouse}/db"}
    metastore.update_namespace_properties(("db",), removals=["owner", "absent"], updates={"comment": "d", "new": "1"})
    assert metastore.namespace_properties(("db",)) == {"comment": "d", "new": "1", "location": f"{metastore.warehouse}/db"}
    with pytest.raises(InvalidArgumentError, match="both set and removed: k"):
        metastore.update_namespace_properties(("db",), removals=["k"], updates={"k": "v"})
    with pytest.raises(NotFoundError):
        metastore.namespace_properties(("nope",))


def test_a_namespace_with_a_location_holds_its_tables(metastore: Catalog, tmp_path: Path) -> None:
    if isinstance(metastore, RestCatalog):
        pytest.skip("the server chooses locations, and Iceberg's own passes over this property")
    metastore.create_namespace(("db",), {"location": f"{tmp_path}/elsewhere/"})
    assert metastore.create_table("db.t", SCHEMA).location == f"{tmp_path}/elsewhere/t"


def test_a_location_is_used_without_slashes_at_its_end(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.t", SCHEMA, location=f"{tmp_path}/own//")
    assert table.location == f"{tmp_path}/own"
    assert str(table.metadata_location).startswith(f"{tmp_path}/own/metadata/00000-")


def test_metadata_goes_where_the_property_says(metastore: Catalog, tmp_path: Path) -> None:
    table = metastore.create_table("db.t", SCHEMA, properties={"write.metadata.path": f"{tmp_path}/m/"})
    assert str(table.metadata_location).startswith(f"{tmp_path}/m/00000-")
    table.update_properties().set("k", "v").commit()
    assert str(table.metadata_location).startswith(f"{tmp_path}/m/00001-")


def test_replace_keeps_the_table_and_its_history(catalog: Catalog) -> None:
    table = catalog.create_table("db.t", SCHEMA, properties={"k": "v"})
    table.update_properties().set("own", "1").commit()
    catalog.stage_replace(("db", "t"), SCHEMA, spec=BY_ID, properties={"k": "w"}).commit()
    replaced = catalog.load_table("db.t")
    assert replaced.metadata.table_uuid == table.metadata.table_uuid
    assert (replaced.properties["k"], replaced.properties["own"]) == ("w", "1")
    assert not replaced.spec.is_unpartitioned
    assert len(replaced.metadata.metadata_log) == 2
    with pytest.raises(NotFoundError, match="Cannot find table"):
        catalog.stage_replace(("db", "absent"), SCHEMA)
    catalog.stage_replace(("db", "absent"), SCHEMA, or_create=True).commit()
    assert catalog.table_exists(("db", "absent"))


# -- several tables ----------------------------------------------------------------------------------------------------
def test_several_tables_commit_together_or_not_at_all(metastore: Catalog) -> None:
    first, second = metastore.create_table("db.a", SCHEMA), metastore.create_table("db.b", SCHEMA)
    bases = {name: metastore.load_table(("db", name)).version for name in "ab"}
    changed = {name: _with_property(bases[name].metadata, "k", "1") for name in "ab"}
    versions = metastore.commit_tables([(("db", name), bases[name], changed[name]) for name in "ba"])
    assert [version.metadata.table_uuid for version in versions] == [second.metadata.table_uuid, first.metadata.table_uuid]
    assert [metastore.load_table(("db", name)).properties["k"] for name in "ab"] == ["1", "1"]

    current, stale = metastore.load_table("db.a").version, metastore.load_table("db.b")
    base = stale.version
    stale.update_schema().add_column("other", IntegerType()).commit()
    before = files_below(Path(metastore.warehouse))
    lost = [(("db", "a"), current, _with_property(current.metadata, "k", "2")), (("db", "b"), base, _with_column(base.metadata))]
    with pytest.raises(CommitFailedError):
        metastore.commit_tables(lost)
    assert [metastore.load_table(("db", name)).properties["k"] for name in "ab"] == ["1", "1"]
    assert files_below(Path(metastore.warehouse)) == before


def test_refresh_follows_the_catalog_although_the_clock_stepped_back(catalog: Catalog) -> None:
    shown = catalog.create_table("db.t", SCHEMA)
    other = catalog.load_table("db.t")
    earlier = shown.metadata.last_updated_ms - 3_600_000
    other.operations.commit(other.version, replace(_with_property(other.metadata, "k", "v"), last_updated_ms=earlier))
    assert shown.refresh().properties["k"] == "v"


def _with_property(metadata: TableMetadata, key: str, value: str) -> TableMetadata:
    from icesql.table.metadata.update_values import SetProperties
    from icesql.table.metadata.updates import apply

    return apply(metadata, SetProperties({key: value}))


def _with_column(metadata: TableMetadata) -> TableMetadata:
    from icesql.table.metadata.update_values import AddSchema, SetCurrentSchema
    from icesql.table.metadata.updates import fold

    column = NestedField(id=metadata.last_column_id + 1, name="one", type=IntegerType())
    return fold(metadata, [AddSchema(replace(metadata.schema, fields=(*metadata.schema.fields, column))), SetCurrentSchema()])


# -- file-system catalogs ----------------------------------------------------------------------------------------------
def test_file_system_catalogs_refuse_what_they_cannot_do(tmp_path: Path) -> None:
    catalog = load_catalog("test", {"type": "hadoop", "warehouse": str(tmp_path)})
    with pytest.raises(UnsupportedError, match="metadata is not supported"):
        catalog.create_namespace(("db",), {"k": "v"})
    catalog.create_table("db.t", SCHEMA)
    assert catalog.namespace_properties(("db",)) == {"location": f"{tmp_path}/db"}
    with pytest.raises(UnsupportedError, match="setProperties is not supported"):
        catalog.update_namespace_properties(("db",), updates={"k": "v"})
    with pytest.raises(UnsupportedError, match="Cannot rename Hadoop tables"):
        catalog.rename_table(("db", "t"), ("db", "u"))
    with pytest.raises(InvalidArgumentError, match="Cannot set a custom location for a path-based table"):
        catalog.create_table("db.v", SCHEMA, location=f"{tmp_path}/own")
    with pytest.raises(InvalidArgumentError, match="Hadoop path-based tables cannot relocate metadata"):
        catalog.create_table("db.v", SCHEMA, properties={"write.metadata.path": f"{tmp_path}/m"})
    with pytest.raises(UnsupportedError, match="several tables"):
        catalog.commit_tables([])
    with pytest.raises(UnsupportedError, match="Creating a view is not supported"):
        catalog.load_view(("db", "v"))
