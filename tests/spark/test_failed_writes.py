"""A statement whose commit fails for certain leaves no file behind; one whose outcome is unknown leaves all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.memory import MemoryStore
from icesql.errors import CommitFailedError, CommitStateUnknownError, ValidationError
from icesql.session.session import Session

pytestmark = pytest.mark.spark

STATEMENTS = [
    "INSERT INTO m.db.{t} VALUES (9, 'z')",
    "INSERT OVERWRITE m.db.{t} VALUES (9, 'z')",
    "INSERT INTO m.db.{t} REPLACE WHERE p = 'a' SELECT 9L, 'a'",
    "UPDATE m.db.{t} SET p = 'new' WHERE id = 1",
    "DELETE FROM m.db.{t} WHERE id = 1",
    "MERGE INTO m.db.{t} t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET p = 'm'",
    "CREATE TABLE m.db.made USING iceberg AS SELECT * FROM m.db.{t}",
    "CREATE OR REPLACE TABLE m.db.{t} USING iceberg AS SELECT * FROM range(3)",
]
TABLES = {"cow": (2, "copy-on-write"), "mor": (2, "merge-on-read"), "dv": (3, "merge-on-read")}
ROW_LEVEL = ("UPDATE", "DELETE", "MERGE")
PAIRS = [(table, statement) for statement in STATEMENTS for table in TABLES if table == "cow" or statement.startswith(ROW_LEVEL)]


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Session:
    session = Session(spark, {"m": {"type": "memory", "warehouse": str(tmp_path_factory.mktemp("failed"))}})
    session.sql("CREATE NAMESPACE m.db")
    for name, (version, mode) in TABLES.items():
        modes = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
        session.sql(
            f"CREATE TABLE m.db.{name} (id bigint, p string) PARTITIONED BY (p) "
            f"TBLPROPERTIES ('format-version' = '{version}', 'commit.retry.num-retries' = '1', 'commit.retry.min-wait-ms' = '1', {modes})"
        )
        session.sql(f"INSERT INTO m.db.{name} SELECT id, 'a' FROM range(0, 4, 1, 1)")
    return session


def files(session: Session) -> set[str]:
    return {str(path) for path in Path(session.catalog("m").warehouse).rglob("*") if path.is_file()}


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def swap(self: MemoryStore, *arguments: Any) -> None:
        raise error

    monkeypatch.setattr(MemoryStore, "swap", swap)


@pytest.mark.parametrize(("table", "statement"), PAIRS)
def test_nothing_is_left_of_a_write_that_failed(ice: Session, table: str, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(ice)
    failing(monkeypatch, CommitFailedError("another writer won"))
    with pytest.raises(CommitFailedError):
        ice.sql(statement.format(t=table))
    assert files(ice) == before


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_is_removed_when_the_outcome_is_unknown(ice: Session, statement: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(ice)
    failing(monkeypatch, KeyboardInterrupt() if statement.startswith("INSERT") else CommitStateUnknownError("no answer"))
    with pytest.raises((KeyboardInterrupt, CommitStateUnknownError)):
        ice.sql(statement.format(t="dv"))
    suffixes = {path.rpartition(".")[2] for path in files(ice) - before}
    assert {"avro", "json"} <= suffixes and suffixes & {"parquet", "puffin"}


@pytest.mark.parametrize(("table", "statement"), [pair for pair in PAIRS if "CREATE" not in pair[1]])
def test_a_rollback_removes_what_was_written(ice: Session, table: str, statement: str) -> None:
    before = files(ice)
    with pytest.raises(ZeroDivisionError), ice.transaction():
        ice.sql(statement.format(t=table))
        assert files(ice) > before
        raise ZeroDivisionError
    assert files(ice) == before


def test_options_are_checked_before_rows_are_written(ice: Session) -> None:
    before = files(ice)
    frame = ice.spark.range(1).selectExpr("id", "'x' AS p")
    writer = ice.write_to(frame, "m.db.cow").option("isolation-level", "snapshot").option("validate-from-snapshot-id", "x")
    with pytest.raises(ValueError, match="validate-from-snapshot-id"):
        writer.overwritePartitions()
    assert files(ice) == before


def test_a_conflict_found_at_commit_leaves_nothing(ice: Session) -> None:
    """The transaction's delete was planned before another session's."""
    ice.sql("CREATE TABLE m.db.raced (id bigint) TBLPROPERTIES ('commit.retry.min-wait-ms' = '1')")
    ice.sql("INSERT INTO m.db.raced SELECT * FROM range(0, 4, 1, 1)")
    ice.sql("BEGIN")
    ice.sql("UPDATE m.db.raced SET id = 10 WHERE id = 1")
    ice.catalog("m").load_table("db.raced").delete("id = 2")
    before = {path for path in files(ice) if "/raced/" in path and path.endswith(".parquet")}
    with pytest.raises(ValidationError):
        ice.sql("COMMIT")
    after = {path for path in files(ice) if "/raced/" in path and path.endswith(".parquet")}
    assert after < before and len(before - after) == 1
    assert sorted(row[0] for row in ice.sql("SELECT id FROM m.db.raced").collect()) == [0, 1, 3]
