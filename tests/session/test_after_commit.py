"""A step that fails after a commit, in every kind of statement: the rows are there once, and the statement returns with a notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from pyspark.sql import functions as F

import icesql
from icesql.session.dataframe_api.enable import disable
from icesql.session.session import Session
from icesql.table.changes.append import AppendFiles

pytestmark = pytest.mark.spark
Statement = Callable[[Session, str], Any]


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    session = icesql.enable(spark, {"c": {"type": "sql", "warehouse": str(tmp_path_factory.mktemp("after_commit"))}})
    session.sql("CREATE NAMESPACE c.db")
    session.sql("CREATE TABLE c.db.source AS SELECT id FROM range(2, 4)")
    yield session
    disable(spark)


@contextmanager
def failing(owner: Any, name: str, *, before: bool = False) -> Iterator[list[str]]:
    """``owner.name`` does its work and raises, or (``before``) raises at once. Gives the calls that there were."""
    real, calls = getattr(owner, name), list[str]()

    def fail(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        if not before:
            real(*arguments, **options)
        raise RuntimeError("injected")

    setattr(owner, name, fail)
    try:
        yield calls
    finally:
        setattr(owner, name, real)


def merge_writer(session: Session, table: str) -> None:
    source = session.spark.range(2, 4).alias("s")
    session.merge_into(source, table, F.col(f"{table}.id") == F.col("s.id")).whenNotMatched().insert({"id": F.col("s.id") + 0}).merge()


def merge_of_kept_rows(session: Session, table: str) -> None:
    """As if they were too many for the driver."""
    from icesql.spark.row_level import merge

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "most_in_driver", lambda *_: 0)
        STATEMENTS["merge"](session, table)


def script(session: Session, table: str) -> None:
    session.sql(f"BEGIN DECLARE x INT DEFAULT 2; INSERT INTO {table} VALUES (x), (x + 1); END")


def transaction(session: Session, table: str) -> None:
    with session.transaction():
        session.sql(f"INSERT INTO {table} VALUES (2)")
        session.sql(f"INSERT INTO {table} VALUES (3)")


def replaced(session: Session, table: str) -> None:
    session.write_to(session.spark.range(1, 4), table).createOrReplace()


STATEMENTS: dict[str, Statement] = {
    "insert": lambda session, table: session.sql(f"INSERT INTO {table} SELECT id FROM c.db.source"),
    "insert overwrite": lambda session, table: session.sql(f"INSERT OVERWRITE {table} SELECT id FROM range(1, 4)"),
    "merge": lambda session, table: session.sql(
        f"MERGE INTO {table} t USING c.db.source s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
    ),
    "merge of kept rows": merge_of_kept_rows,
    "merge writer": merge_writer,
    "append": lambda session, table: session.write_to(session.spark.range(2, 4), table).append(),
    "overwrite": lambda session, table: session.write_to(session.spark.range(1, 4), table).overwrite("true"),
    "create or replace": replaced,
    "insertInto": lambda session, table: session.spark.range(2, 4).write.insertInto(table),
    "formatted": lambda session, table: session.spark.sql(f"INSERT INTO {table} SELECT * FROM {{f}}", f=session.spark.range(2, 4)),
    "script": script,
    "transaction": transaction,
}  # fmt: skip


def step_clean_up(session: Session) -> Any:
    return failing(AppendFiles, "committed")


def step_views(session: Session) -> Any:
    from icesql.spark.jvm import short_views

    return failing(short_views, "hide")


def step_cache(session: Session) -> Any:
    from icesql.session.plans.relation_plans import RelationPlans

    return failing(RelationPlans, "table_changed")


def step_tidy(session: Session) -> Any:
    from icesql.spark.jvm import bridge

    return failing(bridge, "tidy")


def step_functions(session: Session) -> Any:
    """Spark's own catalog of functions, as it refused names on 4.2."""
    from icesql.spark.functions import column_functions

    return failing(column_functions, "drop_function")


def step_unpersist(session: Session) -> Any:
    from pyspark.sql.classic.dataframe import DataFrame

    return failing(DataFrame, "unpersist")


def step_formatter(session: Session) -> Any:
    from pyspark.sql.sql_formatter import SQLStringFormatter

    return failing(SQLStringFormatter, "clear")


def step_variables(session: Session) -> Any:
    from icesql.spark.jvm import scripting

    return failing(scripting.Script, "_set_back")


EVERYWHERE = {"cache": step_cache, "tidy": step_tidy}
STEPS: dict[str, dict[str, Callable[[Session], Any]]] = {
    "insert": {"views": step_views},
    "merge": {"views": step_views},
    "merge of kept rows": {"unpersist": step_unpersist},
    "merge writer": {"views": step_views, "functions": step_functions},
    "insertInto": {"views": step_views},
    "formatted": {"formatter": step_formatter},
    "script": {"variables": step_variables},
}
CASES = [(statement, step) for statement in STATEMENTS for step in (*EVERYWHERE, *STEPS.get(statement, {}))]


@pytest.mark.parametrize(("statement", "step"), CASES)
def test_rows_are_committed_once_and_a_notice_says_what_failed(ice: Session, statement: str, step: str) -> None:
    table = f"c.db.t_{CASES.index((statement, step))}"
    ice.sql(f"CREATE TABLE {table} (id bigint) TBLPROPERTIES ('write.merge.mode'='merge-on-read')")
    ice.sql(f"INSERT INTO {table} VALUES (1)")
    with ExitStack() as stack:
        calls = stack.enter_context({**EVERYWHERE, **STEPS.get(statement, {})}[step](ice))
        STATEMENTS[statement](ice, table)
    assert calls
    assert any("injected; what was committed stands" in notice for notice in ice.last_notices)
    assert sorted(row.id for row in ice.sql(f"SELECT id FROM {table}").collect()) == [1, 2, 3]
    ice.spark.catalog.clearCache()


@pytest.mark.parametrize("statement", STATEMENTS)
def test_nothing_fails_and_nothing_is_left(ice: Session, statement: str) -> None:
    """As on Spark 4.2, where functions of Columns could not be dropped any more."""
    table = f"c.db.plain_{[*STATEMENTS].index(statement)}"
    ice.sql(f"CREATE TABLE {table} (id bigint)")
    ice.sql(f"INSERT INTO {table} VALUES (1)")
    catalog = ice.spark._jsparkSession.sessionState().catalog()
    STATEMENTS[statement](ice, table)
    assert ice.last_notices == ()
    assert "_ice" not in str(catalog.listLocalTempViews("*").toString())
    assert "__icesql_column" not in str(catalog.listTemporaryFunctions().toString())


def test_the_rows_of_a_procedure_that_cannot_be_shown(ice: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    ice.sql("CREATE TABLE c.db.procedure (id bigint)")
    ice.sql("INSERT INTO c.db.procedure VALUES (1)")
    first = ice.table("c.db.procedure").snapshots[-1].snapshot_id
    ice.sql("INSERT INTO c.db.procedure VALUES (2)")
    from icesql.session.output.results import ResultColumns

    ice.state.nothing  # noqa: B018
    with monkeypatch.context() as patch:
        patch.setattr(ResultColumns, "frame", lambda *_: 1 / 0)
        assert ice.sql(f"CALL c.system.rollback_to_snapshot('db.procedure', {first})").collect() == []
    assert any("Cannot show the rows of rollback_to_snapshot" in notice and str(first) in notice for notice in ice.last_notices)
    assert [row.id for row in ice.sql("SELECT id FROM c.db.procedure").collect()] == [1]


@pytest.mark.parametrize("procedure", ["rewrite_data_files", "rewrite_manifests"])
def test_what_a_procedure_does_after_its_commit(ice: Session, procedure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from icesql.procedures import rewrite_manifests
    from icesql.table.maintenance.dangling_deletes import DanglingDeletes

    table = f"c.db.{procedure}"
    ice.sql(f"CREATE TABLE {table} (id bigint)")
    for number in (1, 2):
        ice.sql(f"INSERT INTO {table} VALUES ({number})")
    before = len(ice.table(table).snapshots)
    options = ", options => map('min-input-files', '2', 'remove-dangling-deletes', 'true')" if procedure == "rewrite_data_files" else ""
    with monkeypatch.context() as patch:
        patch.setattr(DanglingDeletes, "commit", lambda *_: 1 / 0)
        patch.setattr(rewrite_manifests, "_tell", lambda *_: 1 / 0)
        counts = ice.sql(f"CALL c.system.{procedure}(table => 'db.{procedure}'{options})").collect()
    assert counts[0][0] == 2, "files or manifests rewritten"
    assert any("ZeroDivisionError" in notice for notice in ice.last_notices)
    assert len(ice.table(table).snapshots) == before + 1
    assert sorted(row.id for row in ice.sql(f"SELECT id FROM {table}").collect()) == [1, 2]


def test_a_watcher_that_fails_stops_nothing(ice: Session) -> None:
    ice.sql("CREATE TABLE c.db.watched (id bigint)")
    for number in (1, 2):
        ice.sql(f"INSERT INTO c.db.watched VALUES ({number})")

    def fails(progress: object) -> None:
        raise ZeroDivisionError

    with ice.watched_by(fails):
        rows = ice.sql("CALL c.system.rewrite_data_files(table => 'db.watched', options => map('min-input-files', '2'))").collect()
    assert rows[0].rewritten_data_files_count == 2
    assert any("Cannot tell the watcher" in notice for notice in ice.last_notices)


def test_ctrl_c_after_a_commit_goes_on_and_the_session_knows(ice: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from icesql.spark.jvm import short_views

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    ice.sql("CREATE TABLE c.db.interrupted (id bigint)")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(short_views, "hide", interrupt)
        ice.sql("INSERT INTO c.db.interrupted SELECT id FROM c.db.source")
    assert ice.has_committed
    assert ice.sql("SELECT count(*) FROM c.db.interrupted").collect()[0][0] == 2
    assert not ice.has_committed
