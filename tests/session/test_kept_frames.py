"""DataFrames that are kept while their tables change. ``tests/sql/kept_steps.py`` has what the runtime does, too."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import NotFoundError, SqlError
from icesql.session.session import Session
from icesql.table.scan import never_null

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield session_at(spark, tmp_path_factory.mktemp("kept"))


def session_at(spark: Any, warehouse: Path) -> Session:
    session = Session(spark, {"k": {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE IF NOT EXISTS k.db")
    return session


@pytest.fixture
def table(ice: Session, request: pytest.FixtureRequest) -> str:
    name = f"k.db.{request.node.name.replace('[', '_').replace(']', '').replace('-', '_')}"
    ice.sql(f"CREATE TABLE {name} (id bigint, v string)")
    ice.sql(f"INSERT INTO {name} VALUES (1, 'a'), (2, 'b')")
    return name


def ids(frame: Any) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


def test_a_commit_of_another_process_is_seen(ice: Session, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, count = ice.table(table).to_df(), ice.sql(f"SELECT count(*) AS n FROM {table}")
    monkeypatch.setattr("icesql.table.commit.note_change", lambda location: None)  # nothing here tells of it
    ice.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    time.sleep(0.15)
    assert ids(frame) == [1, 2, 3]
    assert count.select("n").collect() == [(3,)]


def test_a_plan_shows_the_version_that_it_was_made_for(ice: Session, table: str) -> None:
    frame = ice.table(table).to_df()
    plan = frame._jdf.queryExecution()
    plan.executedPlan()
    ice.sql(f"DELETE FROM {table} WHERE id = 1")
    assert plan.executedPlan().executeCollectPublic() is not None
    assert len(frame.collect()) == 2
    assert ids(frame) == [2]


def test_one_run_shows_one_version(ice: Session, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit between two questions of one run is for the next run, however often the table occurs."""
    frame = ice.table(table).to_df()
    thrice = frame.union(frame.where("id > 0")).union(ice.sql(f"SELECT * FROM {table}"))
    operations = type(ice.table(table).operations._operations)
    load, written = operations.load, list[bool]()

    def loading(self: Any) -> Any:
        version = load(self)
        if not written:
            written.append(True)
            ice.sql(f"INSERT INTO {table} VALUES (9, 'z')")
        return version

    time.sleep(0.15)
    monkeypatch.setattr(operations, "load", loading)
    assert ids(thrice) in ([1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2, 9, 9, 9])
    monkeypatch.undo()
    assert written and ids(thrice) == [1, 1, 1, 2, 2, 2, 9, 9, 9]


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_columns_once_without_nulls_may_get_some(ice: Session, table: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(never_null, "FEWEST_ROWS", 0)
    ice.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode' = '{mode}')")
    frame = ice.table(table).to_df()
    counted, nulls = frame.selectExpr("count(v) AS id"), frame.where("v IS NULL")
    assert ids(counted) == [2] and ids(nulls) == []
    ice.sql(f"INSERT INTO {table} VALUES (3, NULL), (4, NULL)")
    assert ids(counted) == [2] and ids(nulls) == [3, 4]
    ice.sql(f"DELETE FROM {table} WHERE id = 3")
    assert ids(counted) == [2] and ids(nulls) == [4]
    assert all(field.nullable for field in frame.schema.fields)


def test_spark_is_told_the_size_of_the_version(ice: Session, table: str) -> None:
    ice.sql(f"TRUNCATE TABLE {table}")
    frame = ice.table(table).to_df().where("id > 0")

    def size() -> int:
        fresh = frame.select("*")
        return int(str(fresh._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))

    ice.sql(f"INSERT INTO {table} SELECT id, repeat('x', 10) FROM range(10)")
    small = size()
    ice.sql(f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)")
    assert size() > 20 * small > 0


def test_reports_are_of_the_version_that_was_planned(ice: Session, table: str) -> None:
    frame = ice.table(table).to_df()
    ice.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    ice.sql(f"INSERT INTO {table} VALUES (4, 'd')")
    ice.state.plans.reports.clear()
    assert frame.where("id = 4").count() == 1
    (planning,) = ice.state.plans.reports
    assert (planning.report.files_planned, planning.report.files_total) == (1, 3)
    assert planning.total_bytes == int(ice.table(table).current_snapshot.summary["total-files-size"])


def test_what_no_plan_can_read_is_not_followed(ice: Session, table: str) -> None:
    frame = ice.table(table).to_df()
    ice.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.format.default' = 'orc')")
    ice.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    assert ids(frame) == [1, 2]
    assert ids(ice.table(table).to_df()) == [1, 2, 3]
    ice.sql(f"DELETE FROM {table} WHERE id = 3")
    ice.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.format.default' = 'parquet')")
    ice.sql(f"INSERT INTO {table} VALUES (4, 'd')")
    assert ids(frame) == [1, 2, 4]


def test_many_versions_later(ice: Session, table: str) -> None:
    frame: Any = ice.table(table).to_df()
    later: list[Any] = []
    first = frame.rdd
    for number in range(3, 40):
        ice.sql(f"INSERT INTO {table} VALUES ({number}, 'x')")
        later.append(frame.select("id").rdd)
    assert ids(frame) == list(range(1, 40))
    assert first.count() == 2
    assert [each.count() for each in (later[0], later[20], later[-1])] == [3, 23, 39]


def test_changes_that_no_frame_survives_are_told(ice: Session, table: str) -> None:
    frame = ice.table(table).to_df()
    ice.sql(f"ALTER TABLE {table} DROP COLUMN v")
    with pytest.raises(SqlError, match=r"(?s)COLUMNS_MISMATCH.*`v` STRING has been removed"):
        frame.collect()
    ice.sql(f"ALTER TABLE {table} ADD COLUMN v string")
    with pytest.raises(SqlError, match=r"`v` STRING has been removed, and another of its name added"):
        frame.count()
    ice.sql(f"DROP TABLE {table}")
    with pytest.raises(NotFoundError, match="TABLE_OR_VIEW_NOT_FOUND"):
        frame.count()
    ice.sql(f"CREATE TABLE {table} (id bigint, v string)")
    with pytest.raises(SqlError, match="TABLE_ID_MISMATCH"):
        frame.count()


def test_what_is_kept_in_memory_of_columns_that_go_is_kept_no_more(ice: Session, table: str, caplog: pytest.LogCaptureFixture) -> None:
    kept = [frame.persist() for frame in (ice.table(table).to_df(), ice.table(table).to_df().select("id"))]
    assert [frame.count() for frame in kept] == [2, 2]
    ice.sql(f"ALTER TABLE {table} DROP COLUMN v")
    assert [record for record in caplog.records if record.name.startswith("icesql")] == []
    for frame in kept:
        assert not frame.storageLevel.useMemory
        with pytest.raises(SqlError, match="COLUMNS_MISMATCH"):
            frame.count()
    assert ice.sql(f"SELECT count(*) AS n FROM {table}").collect() == [(2,)]


def test_a_removed_branch_is_told(ice: Session, table: str) -> None:
    ice.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    frame = ice.read.option("branch", "b").table(table)
    assert ids(frame) == [1, 2]
    ice.sql(f"ALTER TABLE {table} DROP BRANCH b")
    with pytest.raises(NotFoundError, match="b"):
        frame.count()


def test_frames_of_a_transaction_show_what_it_staged(ice: Session, table: str) -> None:
    before = ice.table(table).to_df()
    with ice.transaction():
        ice.sql(f"INSERT INTO {table} VALUES (3, 'c')")
        inside = ice.sql(f"SELECT * FROM {table}")
        assert ids(inside) == [1, 2, 3]
        assert ids(before) == [1, 2]
    assert ids(before) == [1, 2, 3]


def test_two_sessions_of_one_spark_session(ice: Session, spark: Any, table: str) -> None:
    other = ice.catalog("k").load_table(tuple(table.split(".")[1:]))
    frame = ice.table(table).to_df().persist()
    try:
        assert ids(frame) == [1, 2]
        other.new_delete().delete_from_row_filter(other.expression("id > 0")).commit()
        assert ids(frame) == []
    finally:
        frame.unpersist()


def test_a_table_held_for_long_makes_frames_of_the_newest_version(ice: Session, table: str) -> None:
    held, kept = ice.table(table), ice.table(table).to_df()
    ice.sql(f"INSERT INTO {table} VALUES (3, 'c')")
    assert ids(held.to_df()) == ids(kept) == [1, 2, 3]


def test_a_side_reads_only_versions_that_it_can(ice: Session, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A delete that comes after a plan has lost its test for deleted rows, and before it asks for its number, is not half seen."""
    ice.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'file')")
    ice.sql(f"INSERT INTO {table} SELECT id, 'x' FROM range(100, 110)")
    frame = ice.table(table).to_df().where("id >= 100")
    following = next(kept[0] for kept in ice.state.plans._plans.values() if isinstance(kept, tuple) and kept[0]._own.name == table)
    assert len(following._sides) == 2
    plain, with_deletes = following._sides
    before = following._number(plain)
    ice.sql(f"DELETE FROM {table} WHERE id = 105")
    assert following._number(with_deletes) > before == following._number(plain)
    assert ids(frame) == [100, 101, 102, 103, 104, 106, 107, 108, 109]


def test_a_scripts_results_are_of_their_statements(ice: Session, table: str) -> None:
    count, rows, _, later, _, last = ice.run_script(
        f"SELECT count(*) FROM {table}; SELECT * FROM {table}; INSERT INTO {table} VALUES (3, 'c');"
        f"SELECT id FROM {table}.files JOIN {table}; ALTER TABLE {table} RENAME COLUMN v TO w; SELECT w FROM {table} WHERE id = 3"
    )
    assert count.collect() == [(2,)] and ids(rows) == [1, 2] and rows.columns == ["id", "v"]
    assert len(later.collect()) == 6 and last.collect() == [("c",)]
