"""What is told of a commit: the rule itself, and the loop that finds its own earlier attempts in the table."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from icesql.errors import CommitFailedError
from icesql.spec.types import IntegerType
from icesql.table.append import AppendFiles
from icesql.table.arrow_write import write_rows
from icesql.table.manifest_access import manifests_of
from icesql.table.operations import TableVersion
from icesql.table.outcomes import AlreadyCommittedError, Outcome, judge, together
from icesql.table.table import Table
from tests.catalog.tables import SCHEMA, rows

HOUR_NS = 3_600_000_000_000


# -- the rule --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("base", ["base", None])
@pytest.mark.parametrize("current", ["base", "staged", "another", None])
@pytest.mark.parametrize("shown", [True, False])
def test_only_the_base_itself_proves_a_failure(base: str | None, current: str | None, shown: bool) -> None:
    outcome = judge(base=base, staged="staged", current=current, shows_commit=lambda: shown)
    if current == "staged":
        assert outcome is Outcome.COMMITTED
    elif base is not None and current == base:
        assert outcome is Outcome.FAILED
    else:
        assert outcome is (Outcome.COMMITTED if shown else Outcome.UNKNOWN)


@pytest.mark.parametrize("outcomes", [*itertools.product(Outcome, repeat=1), *itertools.product(Outcome, repeat=3)], ids=str)
def test_a_transaction_failed_only_if_all_of_it_did(outcomes: Sequence[Outcome]) -> None:
    expected = Outcome.COMMITTED if Outcome.COMMITTED in outcomes else Outcome.UNKNOWN
    assert together(outcomes) is (Outcome.FAILED if all(one is Outcome.FAILED for one in outcomes) else expected)


# -- attempts that were called failed, and were not ---------------------------------------------------------------------
@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return load_catalog("test", {"type": "memory", "warehouse": str(tmp_path)})


def new_table(catalog: Catalog, name: str = "t") -> Table:
    properties = {"commit.retry.min-wait-ms": "1", "write.metadata.previous-versions-max": "1"}
    table = catalog.create_table(f"db.{name}", SCHEMA, properties=properties)
    table.append(rows(1))
    return table


def wrongly_failing(table: Table, monkeypatch: pytest.MonkeyPatch, others: int) -> None:
    """The next commit of the table succeeds, other clients commit on top, and it is called failed."""
    operations = table.operations._operations
    commit = operations.commit

    def failed(base: TableVersion | None, metadata: object) -> TableVersion:
        monkeypatch.undo()
        commit(base, metadata)
        for number in range(others):
            table.catalog.load_table(table.identifier).append(rows(100 + number))
        raise CommitFailedError("another writer was faster")

    monkeypatch.setattr(operations, "commit", failed)


def ids(catalog: Catalog, name: str = "t") -> list[int]:
    return sorted(catalog.load_table(f"db.{name}").to_arrow()["id"].to_pylist())


def appending(table: Table) -> object:
    return table.append(rows(2))


def appending_in_a_transaction(table: Table) -> object:
    transaction = table.transaction()
    transaction.add(table.update_schema().add_column("c", IntegerType()))
    transaction.add(AppendFiles(table.operations).owning_files().append_files(write_rows(table.io, table.metadata, rows(2))))
    return transaction.commit()


@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("work", [appending, appending_in_a_transaction], ids=lambda work: work.__name__)
def test_an_attempt_that_finds_its_own_snapshot_has_succeeded(
    work: Callable[[Table], object], others: int, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(catalog)
    wrongly_failing(table, monkeypatch, others)
    work(table)
    assert ids(catalog) == [1, 2, *range(100, 100 + others)]


def test_rewritten_manifests_of_the_attempt_that_succeeded_stay(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_table(catalog)
    for number in (2, 3):
        table.new_fast_append().append_files(write_rows(table.io, table.metadata, rows(number))).commit()
    wrongly_failing(table, monkeypatch, 1)
    table.rewrite_manifests().commit()
    assert ids(catalog) == [1, 2, 3, 100]


def test_several_tables_that_were_called_failed_are_found(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [new_table(catalog, name) for name in "ab"]
    transaction, commit_tables = catalog.transaction(), catalog.commit_tables
    for table in tables:
        files = write_rows(table.io, table.metadata, rows(2))
        transaction.table(table.identifier).add(AppendFiles(table.operations).owning_files().append_files(files))

    def failed(commits: object) -> object:
        monkeypatch.undo()
        commit_tables(commits)  # type: ignore[arg-type]
        catalog.load_table("db.a").append(rows(3))
        raise CommitFailedError("another writer was faster")

    monkeypatch.setattr(catalog, "commit_tables", failed)
    transaction.commit()
    assert (ids(catalog, "a"), ids(catalog, "b")) == ([1, 2, 3], [1, 2])


# -- one change, committed twice ------------------------------------------------------------------------------------
def test_a_change_that_is_committed_again_removes_nothing(catalog: Catalog) -> None:
    table = new_table(catalog)
    append = table.new_append().owning_files().append_files(write_rows(table.io, table.metadata, rows(2)))
    append.commit()
    append.commit()
    assert ids(catalog) == [1, 2]


def test_a_cherry_pick_that_is_committed_again_removes_nothing(catalog: Catalog) -> None:
    table = new_table(catalog)
    staged = table.new_append().owning_files().append_files(write_rows(table.io, table.metadata, rows(2))).stage_only()
    staged.commit()
    table.append(rows(3))
    pick = table.manage_snapshots().create_branch("b").cherrypick(staged.snapshot_id)
    pick.commit()
    pick.commit()
    assert ids(catalog) == [1, 2, 3]


def test_a_change_that_is_staged_twice_keeps_its_files(catalog: Catalog) -> None:
    table = new_table(catalog)
    append = table.new_append().owning_files().append_files(write_rows(table.io, table.metadata, rows(2)))
    transaction = table.transaction()
    transaction.add(append)
    with pytest.raises(AlreadyCommittedError):
        transaction.add(append)
    transaction.commit()
    assert ids(catalog) == [1, 2]
    snapshot = catalog.load_table("db.t").current_snapshot
    assert all(catalog.io.exists(manifest.manifest_path) for manifest in manifests_of(catalog.io, snapshot))


# -- clocks ----------------------------------------------------------------------------------------------------------
def test_refresh_shows_what_the_catalog_holds_whatever_the_clock_says(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    table, now = new_table(catalog), time.time_ns()
    other = catalog.load_table("db.t")
    monkeypatch.setattr(time, "time_ns", lambda: now - HOUR_NS)
    other.update_properties().set("k", "v").commit()
    assert other.properties["k"] == table.refresh().properties["k"] == "v"
    assert other.metadata.last_updated_ms >= other.metadata.metadata_log[-1].timestamp_ms


def test_refresh_shows_a_version_of_a_clock_behind_ours(catalog: Catalog) -> None:
    table = new_table(catalog)
    operations, version = catalog.operations(table.identifier), table.version
    operations.commit(version, replace(version.metadata, last_updated_ms=version.metadata.last_updated_ms - 3_600_000))
    assert table.refresh().metadata_location == catalog.load_table("db.t").metadata_location != version.metadata_location


def test_an_older_registered_version_is_shown(catalog: Catalog) -> None:
    table = new_table(catalog)
    older = str(table.metadata_location)
    table.append(rows(2))
    catalog.drop_table(table.identifier)
    catalog.register_table(table.identifier, older)
    assert table.refresh().metadata_location == older


def test_a_slow_load_does_not_move_a_table_back(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    table = new_table(catalog)
    operations = table.operations._operations
    load = operations.load

    def slow() -> TableVersion:
        monkeypatch.undo()
        loaded: TableVersion = load()
        table.append(rows(2))  # by another thread
        return loaded

    monkeypatch.setattr(operations, "load", slow)
    table.refresh()
    assert sorted(table.to_arrow()["id"].to_pylist()) == [1, 2]
