"""A database that is busy, loses a connection, or goes away: a clear error, no half commit, nothing removed while unsure."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from icesql.catalog.base import Catalog
from icesql.catalog.commit_status import settle
from icesql.catalog.hadoop_operations import HadoopTableOperations
from icesql.catalog.loading import load_catalog
from icesql.errors import CommitFailedError, CommitStateUnknownError, CorruptMetadataError, IcesqlError, NotFoundError
from icesql.table.outcomes import Outcome
from tests.catalog.tables import SCHEMA, rows
from tests.postgres import PostgresServer, start_postgres, stop_postgres

IMPATIENT = {
    "commit.retry.num-retries": "2",
    "commit.retry.min-wait-ms": "1",
    "commit.status-check.num-retries": "2",
    "commit.status-check.min-wait-ms": "1",
}


def files_of(catalog: Catalog) -> set[Path]:
    return {path for path in Path(catalog.warehouse).rglob("*") if path.is_file()}


def ids(catalog: Catalog) -> list[int]:
    return sorted(catalog.load_table("db.t").to_arrow()["id"].to_pylist())


def failing_commits(monkeypatch: pytest.MonkeyPatch, *, times: int, before: Callable[[Connection], None]) -> None:
    """The next commits run ``before`` and then report a lost connection."""
    commit, left = Connection.commit, [times]

    def lost(connection: Connection) -> None:
        if left[0] == 0:
            commit(connection)
            return
        left[0] -= 1
        before(connection)
        raise OperationalError("COMMIT", None, Exception("connection reset by peer"), connection_invalidated=True)

    real_commit.append(commit)
    monkeypatch.setattr(Connection, "commit", lost)


real_commit: list[Any] = []


@pytest.fixture
def sqlite_catalog(tmp_path: Path) -> Iterator[Catalog]:
    properties = {"uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path / "warehouse"), "sqlite.busy-timeout-ms": "20"}
    catalog = load_catalog("test", properties)
    yield catalog
    catalog.close()


def test_a_commit_whose_answer_is_lost_is_found_again(sqlite_catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sqlite_catalog.create_table("db.t", SCHEMA, properties=IMPATIENT)
    failing_commits(monkeypatch, times=1, before=lambda connection: real_commit[-1](connection))
    table.append(rows(1, 2))
    assert ids(sqlite_catalog) == [1, 2]
    assert len(table.snapshots) == 1


def test_a_commit_that_was_lost_is_made_again(sqlite_catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sqlite_catalog.create_table("db.t", SCHEMA, properties=IMPATIENT)
    failing_commits(monkeypatch, times=1, before=lambda connection: connection.rollback())
    table.append(rows(1, 2))
    assert ids(sqlite_catalog) == [1, 2]
    assert len(table.snapshots) == 1


def test_several_tables_whose_answer_is_lost_are_found_again(sqlite_catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [sqlite_catalog.create_table(f"db.{name}", SCHEMA, properties=IMPATIENT) for name in "ab"]
    failing_commits(monkeypatch, times=1, before=lambda connection: real_commit[-1](connection))
    versions = sqlite_catalog.commit_tables([(table.identifier, table.version, table.metadata) for table in tables])
    assert [sqlite_catalog.load_table(table.identifier).metadata_location for table in tables] == [
        version.metadata_location for version in versions
    ]


def test_a_busy_database_fails_the_commit_and_leaves_nothing(sqlite_catalog: Catalog, tmp_path: Path) -> None:
    table = sqlite_catalog.create_table("db.t", SCHEMA, properties=IMPATIENT)
    before = files_of(sqlite_catalog)
    with sqlite3.connect(tmp_path / "c.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CommitFailedError, match="it is busy: database is locked"):
            table.append(rows(1))
        other.execute("ROLLBACK")
    assert files_of(sqlite_catalog) == before
    table.append(rows(1))
    assert ids(sqlite_catalog) == [1]


def test_a_database_that_is_no_database_says_so(tmp_path: Path) -> None:
    (tmp_path / "c.db").write_bytes(b"not a database" * 100)
    with pytest.raises(IcesqlError, match="Cannot use catalog database: it failed: file is not a database"):
        load_catalog("test", {"uri": f"sqlite:///{tmp_path}/c.db", "warehouse": str(tmp_path)}).list_namespaces()


def test_a_wrong_setting_does_not_hide_that_the_outcome_is_unknown() -> None:
    """Other engines set what we refuse to set."""
    wrong = {"commit.status-check.num-retries": "often", "commit.status-check.total-timeout-ms": "0"}
    settle(lambda: Outcome.COMMITTED, wrong, "commit db.t", OSError("connection reset"))
    with pytest.raises(CommitFailedError, match="kept the old version"):
        settle(lambda: Outcome.FAILED, wrong, "commit db.t", OSError("connection reset"))
    with pytest.raises(CommitStateUnknownError, match="the outcome is unknown"):
        settle(lambda: Outcome.UNKNOWN, wrong, "commit db.t", OSError("connection reset"))


@pytest.mark.parametrize("error", [OSError("connection reset"), NotFoundError("gone"), CorruptMetadataError("half a file")], ids=repr)
def test_a_file_system_that_fails_after_the_rename_leaves_the_outcome_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    catalog = load_catalog("test", {"type": "hadoop", "warehouse": str(tmp_path)})
    table = catalog.create_table("db.t", SCHEMA)

    def silent(*arguments: object) -> bool:
        raise error

    monkeypatch.setattr(HadoopTableOperations, "_is_beaten", silent)
    with pytest.raises(CommitStateUnknownError, match="the outcome is unknown, the store does not answer"):
        table.append(rows(1))
    monkeypatch.undo()
    assert ids(catalog) == [1]


# -- a server that really goes away --------------------------------------------------------------------------------------
@pytest.fixture
def mortal() -> Iterator[PostgresServer]:
    server = start_postgres()
    yield server
    stop_postgres(server)


@pytest.mark.slow
def test_a_server_that_dies_in_commit_leaves_the_outcome_unknown(
    mortal: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = load_catalog("test", {"uri": mortal.uri, "warehouse": str(tmp_path)})
    table = catalog.create_table("db.t", SCHEMA, properties=IMPATIENT)
    table.append(rows(1))
    commit = psycopg.Connection.commit

    def struck(connection: psycopg.Connection[Any]) -> None:
        monkeypatch.undo()
        mortal.stop(signal.SIGQUIT)
        commit(connection)

    monkeypatch.setattr(psycopg.Connection, "commit", struck)
    before = files_of(catalog)
    with pytest.raises(CommitStateUnknownError, match="the outcome is unknown"):
        table.append(rows(2))
    assert len(files_of(catalog)) > len(before), "files of an unknown outcome were removed"
    with pytest.raises(IcesqlError, match="Cannot use catalog database"):
        table.refresh()
    mortal.start()
    assert ids(catalog) in ([1], [1, 2])
    table.refresh().append(rows(3))
    assert ids(catalog)[-1] == 3


@pytest.mark.slow
def test_a_server_that_is_away_fails_the_commit_and_comes_back(mortal: PostgresServer, tmp_path: Path) -> None:
    catalog = load_catalog("test", {"uri": mortal.uri, "warehouse": str(tmp_path)})
    table = catalog.create_table("db.t", SCHEMA, properties=IMPATIENT)
    before = files_of(catalog)
    mortal.stop()
    with pytest.raises(IcesqlError, match="Cannot use catalog database"):
        table.append(rows(1))
    assert files_of(catalog) == before
    mortal.start()
    table.append(rows(1))
    assert ids(catalog) == [1]
