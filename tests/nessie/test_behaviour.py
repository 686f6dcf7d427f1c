"""The behaviour that every catalog shows, with a catalog of Nessie: with keys of our own, and with requests that Nessie signs."""

from __future__ import annotations

import pytest

from icesql.catalog.base import Catalog
from icesql.errors import NotFoundError, ValidationError
from tests.catalog import test_behaviour as suite
from tests.catalog.tables import SCHEMA, rows

BY_NATURE = {
    "test_an_unknown_namespace_names_the_nearest": "the suite's catalog here makes namespaces that are missing",
    "test_rename_moves_the_name_only": "as above",
    "test_a_table_is_created_loaded_listed_and_dropped": "locations are Nessie's choice, a new one for each table",
    "test_namespace_properties_are_kept": "so are those of namespaces",
    "test_a_location_is_used_without_slashes_at_its_end": "a location outside of the warehouse is passed over",
    "test_metadata_goes_where_the_property_says": "as above",
    "test_metadata_is_compressed_as_asked": "Nessie does not compress metadata",
    "test_an_unknown_codec_is_refused_before_anything_is_written": "nor look at the codec",
    "test_the_metadata_log_keeps_as_many_versions_as_asked": "versions are Nessie's own, under one address",
    "test_a_table_shows_one_version_until_refreshed": "as above",
    "test_replace_keeps_the_table_and_its_history": "a replaced table begins without snapshots",
    "test_drop_with_purge_deletes_the_files": "tables have gc.enabled=false",
    "test_purge_is_refused_where_a_file_lies_outside": "as above",
    "test_drop_without_purge_keeps_files_but_in_a_file_system_catalog": "metadata is at an address of Nessie's that no file system has",
    "test_register_brings_a_table_in": "files of this machine are out of its reach",
}
"""Tests of the suite that ask for what a server may do otherwise; ``test_what_nessie_does_otherwise`` shows that it does."""

catalog, metastore = suite.catalog, suite.metastore
globals().update({name: test for name, test in vars(suite).items() if name.startswith("test_") and name not in BY_NATURE})


def test_all_exceptions_are_of_the_suite() -> None:
    assert BY_NATURE.keys() <= vars(suite).keys()


def test_what_nessie_does_otherwise(any_catalog: Catalog) -> None:
    table = any_catalog.create_table("db.t", SCHEMA, location="s3://elsewhere/t")
    assert table.location.startswith("s3://lake/nessie/db/t_")
    table.append(rows(1))
    assert table.metadata.metadata_log == () and table.properties["gc.enabled"] == "false"
    with pytest.raises(ValidationError, match="GC is disabled"):
        any_catalog.drop_table("db.t", purge=True)
    assert any_catalog.load_table("db.t").to_arrow().num_rows == 1
    any_catalog.rename_table("db.t", "other.u")
    assert any_catalog.load_table("other.u").location == table.location
    with pytest.raises(NotFoundError, match="does not exist"):
        any_catalog.load_table("db.t")
