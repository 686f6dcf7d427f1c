"""Several tables in one commit: all or none, on every catalog that can."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.errors import CommitStateUnknownError, UnsupportedError, ValidationError
from icesql.session.light import connect_catalog
from icesql.table.changes.delete_files import DeleteFiles
from tests.catalog.tables import SCHEMA
from tests.table.memory import data_file

QUICK = {"commit.retry.min-wait-ms": "1"}


def two_tables(catalog: Catalog) -> None:
    for name in ("a", "b"):
        catalog.create_table(f"db.{name}", SCHEMA, properties=QUICK)


def appended(catalog: Catalog, name: str) -> list[str]:
    return sorted(path.rpartition("/")[2] for path in catalog.load_table(f"db.{name}").scan().plan_files().paths)


def test_two_tables_change_together(metastore: Catalog) -> None:
    two_tables(metastore)
    with metastore.transaction() as transaction:
        for name in ("a", "b"):
            transaction.table(f"db.{name}").add(metastore.load_table(f"db.{name}").new_append().append_file(data_file(name)))
        assert appended(metastore, "a") == []
    assert [appended(metastore, name) for name in ("a", "b")] == [["a.parquet"], ["b.parquet"]]


def test_a_block_that_raises_leaves_nothing(metastore: Catalog) -> None:
    two_tables(metastore)
    before = {name: metastore.load_table(f"db.{name}").metadata_location for name in ("a", "b")}

    def change() -> None:
        with metastore.transaction() as transaction:
            transaction.table("db.a").add(metastore.load_table("db.a").new_append().append_file(data_file("x")))
            transaction.table("db.b").add(DeleteFiles().delete_file("/data/missing.parquet").validate_files_exist().change())

    with pytest.raises(ValidationError, match="Missing required files to delete"):
        change()
    assert {name: metastore.load_table(f"db.{name}").metadata_location for name in ("a", "b")} == before


def test_a_faster_writer_makes_all_tables_start_anew(metastore: Catalog) -> None:
    two_tables(metastore)
    transaction = metastore.transaction()
    for name in ("a", "b"):
        transaction.table(f"db.{name}").add(metastore.load_table(f"db.{name}").new_append().append_file(data_file(name)))
    metastore.load_table("db.b").new_append().append_file(data_file("first")).commit()
    transaction.commit()
    assert [appended(metastore, name) for name in ("a", "b")] == [["a.parquet"], ["b.parquet", "first.parquet"]]


@pytest.mark.parametrize("error", [CommitStateUnknownError("Cannot tell"), KeyboardInterrupt(), OSError("connection reset")], ids=repr)
def test_an_unknown_outcome_removes_nothing(metastore: Catalog, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    two_tables(metastore)
    transaction = metastore.transaction()
    for name in ("a", "b"):
        transaction.table(f"db.{name}").add(metastore.load_table(f"db.{name}").new_append().append_file(data_file(name)))
    lists = [transaction.table(f"db.{name}").metadata.snapshots[-1].manifest_list for name in ("a", "b")]

    def lost(*arguments: object) -> list[object]:
        raise error

    monkeypatch.setattr(metastore, "commit_tables", lost)
    with pytest.raises(type(error)):
        transaction.commit()
    transaction.abandon()
    assert all(metastore.io.exists(str(location)) for location in lists)


def test_a_lost_race_removes_the_files_that_were_written_for_it(
    metastore: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_tables(metastore)
    own, foreign = tmp_path / "own.parquet", tmp_path / "foreign.parquet"
    for path in (own, foreign):
        path.write_bytes(b"rows")
    transaction = metastore.transaction()
    for name, path in (("a", own), ("b", foreign)):
        append = metastore.load_table(f"db.{name}").new_append().append_file(replace(data_file(name), file_path=str(path)))
        transaction.table(f"db.{name}").add(append.owning_files() if path == own else append)

    def lost(*arguments: object) -> list[object]:
        raise ValidationError("the table is another one now")

    monkeypatch.setattr(metastore, "commit_tables", lost)
    with pytest.raises(ValidationError):
        transaction.commit()
    assert not own.exists() and foreign.exists()


def test_file_system_tables_cannot_be_swapped_together(tmp_path: Path) -> None:
    catalog = connect_catalog("files", type="hadoop", warehouse=str(tmp_path))
    two_tables(catalog)
    transaction = catalog.transaction()
    for name in ("a", "b"):
        transaction.table(f"db.{name}").add(catalog.load_table(f"db.{name}").new_append().append_file(data_file(name)))
    with pytest.raises(UnsupportedError, match="Cannot commit several tables at once"):
        transaction.commit()
    assert appended(catalog, "a") == []
    assert not list((tmp_path / "db" / "a" / "metadata").glob("*.avro"))
