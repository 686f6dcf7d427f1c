"""A session end to end: statements in, DataFrames out, on stock Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException, ArithmeticException

from icesql.errors import CorruptMetadataError, IcesqlError, NotFoundError, UnsupportedError
from icesql.session.resolve.resolver import required
from icesql.session.script import ScriptError
from icesql.session.session import Session

pytestmark = pytest.mark.spark
needs_scripts = pytest.mark.xfail(
    pyspark.__version__ < "4.1", raises=(UnsupportedError, AssertionError), strict=True, reason="Spark 4.0 runs no script that calls back"
)


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    warehouse = tmp_path_factory.mktemp("session")
    session = Session(spark, {"s": {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE s.db")
    session.sql("CREATE TABLE s.db.t (id bigint, p string) PARTITIONED BY (p)")
    session.sql("INSERT INTO s.db.t VALUES (1, 'a'), (2, 'b'), (3, 'b')")
    yield session


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def test_queries_read_our_tables_beside_sparks(ice: Session) -> None:
    ice.spark.createDataFrame([(1, "one"), (2, "two")], "id bigint, name string").createOrReplaceTempView("names")
    found = ice.sql("SELECT s.db.t.id, n.name FROM s.db.t JOIN names n ON n.id = db.t.id")
    assert rows(found) == [(1, "one"), (2, "two")]
    assert not [view.name for view in ice.spark.catalog.listTables() if view.name.startswith("_ice")]


def test_a_filter_prunes_files_and_the_report_says_so(ice: Session) -> None:
    assert ice.sql("SELECT id FROM s.db.t WHERE p = 'a'").collect()[0][0] == 1
    report = ice.last_report[-1]
    assert (report.files_planned, report.files_total) == (1, 2)


def test_metadata_columns_are_hidden_from_stars(ice: Session) -> None:
    frame = ice.sql("SELECT *, _spec_id FROM s.db.t WHERE _file LIKE '%p=b%'")
    assert frame.columns == ["id", "p", "_spec_id"]
    assert rows(frame) == [(2, "b", 0), (3, "b", 0)]


def test_an_unknown_table_names_the_nearest_and_its_place(ice: Session) -> None:
    with pytest.raises(NotFoundError, match=r"(?s)Did you mean 't'.*line 2, column 6"):
        ice.sql("SELECT *\nFROM s.db.tt")


def test_spark_errors_carry_places_of_the_users_text(ice: Session) -> None:
    with pytest.raises(Exception, match=r"nope.*line 1 pos 36") as caught:
        ice.sql("SELECT x.id FROM s.db.t AS x WHERE  nope = 1")
    assert "_ice" not in str(caught.value)


def test_a_temporary_view_shows_what_the_table_holds_now(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.v (id int)")
    ice.sql("CREATE OR REPLACE TEMPORARY VIEW shown AS SELECT id + 1 AS next FROM s.db.v")
    assert rows(ice.sql("SELECT * FROM shown")) == []
    ice.sql("INSERT INTO s.db.v VALUES (1)")
    assert rows(ice.sql("SELECT * FROM shown")) == [(2,)]
    ice.sql("DROP VIEW shown")


def test_commands_are_explained_without_being_run(ice: Session) -> None:
    for text, named in {
        "ALTER TABLE s.db.t ADD COLUMN q int": "AlterTable s.db.t",
        "CREATE TABLE s.db.q (id int)": "CreateTable s.db.q",
        "DROP TABLE s.db.t": "DropTable s.db.t",
        "TRUNCATE TABLE s.db.t": "TruncateTable s.db.t",
        "SHOW TABLES IN s.db": "ShowTables s.db",
        "DESCRIBE s.db.t": "DescribeTable s.db.t",
        "ALTER TABLE s.db.t CREATE BRANCH b": "AlterTable s.db.t",
        "CREATE NAMESPACE s.other": "CreateNamespace s.other",
    }.items():
        assert rows(ice.sql(f"EXPLAIN {text}")) == [(f"== Physical Plan ==\n{named}\n\n",)], text
    assert rows(ice.sql("SELECT count(*) FROM s.db.t")) == [(3,)]
    assert "TABLE_OR_VIEW_NOT_FOUND" in str(rows(ice.sql("EXPLAIN ALTER TABLE s.db.nope ADD COLUMN q int")))


def test_stored_views_resolve_where_they_were_written(ice: Session) -> None:
    ice.sql("USE s.db")
    try:
        ice.sql("CREATE VIEW stored (n) AS SELECT count(*) FROM t")
    finally:
        ice.sql("USE spark_catalog")
    assert rows(ice.sql("SELECT n FROM s.db.stored")) == [(3,)]
    ice.sql("DROP VIEW s.db.stored")


def test_properties_of_a_view_are_shown_so_that_they_can_be_read_back(ice: Session) -> None:
    ice.sql(r"CREATE VIEW s.db.described TBLPROPERTIES ('z' = 'it''s', 'b' = 'a\\b') AS SELECT 1 AS i")
    shown = {row[0]: row[1] for row in ice.sql("DESCRIBE EXTENDED s.db.described").collect()}
    assert r"'b' = 'a\\b'" in shown["View Properties"] and r"'z' = 'it\'s'" in shown["View Properties"]
    ice.sql("DROP VIEW s.db.described")


def test_a_stored_view_calls_no_function_of_the_session(ice: Session, spark: Any) -> None:
    spark.udf.register("of_session", lambda x: x, "bigint")
    try:
        with pytest.raises(UnsupportedError, match=r"references temporary function: \[of_session\]"):
            ice.sql("CREATE VIEW s.db.uses AS SELECT of_session(id) AS i FROM s.db.t WHERE upper(p) = 'B'")
        assert rows(ice.sql("SELECT of_session(id) FROM s.db.t WHERE p = 'a'")) == [(1,)]
    finally:
        spark.sql("DROP TEMPORARY FUNCTION of_session")


def test_parameters_fill_queries_and_changes(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.q (id int, s string)")
    ice.sql("INSERT INTO s.db.q VALUES (:id, :s)", {"id": 7, "s": "it's"})
    ice.sql("UPDATE s.db.q SET id = ? WHERE s = ?", [8, "it's"])
    assert rows(ice.sql("SELECT * FROM s.db.q WHERE id = :id", {"id": 8})) == [(8, "it's")]


def test_a_dry_run_gives_the_rows_and_changes_nothing(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.e (id int)")
    for number in (1, 2, 3):
        ice.sql(f"INSERT INTO s.db.e VALUES ({number})")
    table = ice.table("s.db.e")
    before = sorted(str(path) for path in Path(table.location).rglob("*"))
    text = "CALL s.system.expire_snapshots(table => 'db.e', older_than => TIMESTAMP '2100-01-01 00:00:00'{})"
    planned = rows(ice.sql(text.format(", dry_run => true")))
    actions = {action.action for action in ice.last_plan}
    assert {"expire snapshot", "remove snapshot", "delete file"} <= actions
    assert ice.table("s.db.e").metadata_location == table.metadata_location
    assert sorted(str(path) for path in Path(table.location).rglob("*")) == before
    assert rows(ice.sql(text.format(""))) == planned
    assert len(ice.table("s.db.e").snapshots) == 1


def test_a_call_that_does_nothing_says_why(ice: Session) -> None:
    ice.call("s.system.rewrite_manifests", table="db.t")
    assert "changed nothing" in ice.last_notices[0]


def test_a_script_stops_at_the_first_error_and_keeps_what_came_before(ice: Session) -> None:
    script = "CREATE TABLE s.db.k (id int);\nINSERT INTO s.db.k VALUES (1); SELECT nope FROM s.db.k;\nDROP TABLE s.db.k;"
    with pytest.raises(ScriptError) as caught:
        ice.run_script(script)
    assert (caught.value.number, caught.value.line, caught.value.column) == (3, 2, 39)
    assert rows(ice.sql("SELECT * FROM s.db.k")) == [(1,)]


def test_a_transaction_is_all_or_nothing(ice: Session) -> None:
    ice.sql("CREATE TABLE s.db.x (id int)")
    ice.sql("CREATE TABLE s.db.y (id int)")
    with ice.transaction():
        ice.sql("INSERT INTO s.db.x VALUES (1)")
        ice.sql("INSERT INTO s.db.y SELECT id + 1 FROM s.db.x")
        assert ice.catalog("s").load_table("db.x").current_snapshot is None
    assert rows(ice.sql("SELECT x.id, y.id FROM s.db.x, s.db.y")) == [(1, 2)]
    with pytest.raises(IcesqlError, match="nope"), ice.transaction():
        ice.sql("INSERT INTO s.db.x VALUES (2)")
        ice.sql("INSERT INTO s.db.nope VALUES (2)")
    assert rows(ice.sql("SELECT id FROM s.db.x")) == [(1,)]


def test_explain_pruning_names_what_each_predicate_removed(ice: Session) -> None:
    steps = {row.step: row for row in ice.sql("EXPLAIN PRUNING SELECT * FROM s.db.t WHERE p = 'a'").collect()}
    assert steps["read"].files == 1
    assert steps["files skipped by partition"].files == -1


def test_readers_and_writers_have_sparks_verbs(ice: Session) -> None:
    frame = ice.spark.createDataFrame([(1, "x")], "id bigint, s string")
    ice.write_to(frame, "s.db.w").partitionedBy("bucket(4, id)").tableProperty("k", "v").create()
    ice.write_to(frame, "s.db.w").option("branch", "audit").append()
    assert rows(ice.read.option("branch", "audit").table("s.db.w")) == [(1, "x"), (1, "x")]
    assert rows(ice.table("s.db.w").to_df()) == [(1, "x")]
    ice.write_to(frame, "s.db.w").overwrite("id = 1")
    assert rows(ice.read.table("s.db.w")) == [(1, "x")]


def test_enable_teaches_spark_and_disable_undoes_it(ice: Session, spark: Any) -> None:
    import icesql

    spark.conf.set("spark.sql.catalog.enabled.type", "memory")
    icesql.enable(spark)
    try:
        spark.sql("CREATE NAMESPACE enabled.db")
        spark.sql("CREATE TABLE enabled.db.t (id bigint)")
        spark.range(3).writeTo("enabled.db.t").append()
        assert spark.table("enabled.db.t").count() == 3
        assert spark.sql("SELECT max(id) FROM enabled.db.t").collect()[0][0] == 2
    finally:
        icesql.disable(spark)
        spark.conf.unset("spark.sql.catalog.enabled.type")
    with pytest.raises(Exception, match=r"REQUIRES_SINGLE_PART_NAMESPACE|TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SELECT * FROM enabled.db.t")


def test_tables_of_one_name_are_told_apart_in_nested_queries(ice: Session) -> None:
    ice.sql("CREATE NAMESPACE s.other")
    ice.sql("CREATE TABLE s.other.t (id bigint, p string)")
    ice.sql("INSERT INTO s.other.t VALUES (2, 'b'), (9, 'z')")
    found = ice.sql("SELECT t.id FROM s.db.t WHERE EXISTS (SELECT 1 FROM s.other.t WHERE t.id = s.db.t.id AND db.t.p = other.t.p)")
    assert rows(found) == [(2,)]
    assert rows(ice.sql("SELECT t.id FROM s.db.t WHERE t.id IN (SELECT t.id FROM s.other.t)")) == [(2,)]


def test_a_filter_planned_before_is_reported_again(ice: Session) -> None:
    for _ in range(2):
        assert ice.sql("SELECT id FROM s.db.t WHERE p = 'a'").collect()[0][0] == 1
        assert [(report.files_planned, report.files_total) for report in ice.last_report] == [(1, 2)]


@needs_scripts
def test_scripts_change_our_tables(ice: Session) -> None:
    script = """BEGIN
        DECLARE n INT DEFAULT 1;
        IF (SELECT count(*) FROM s.db.t) > n THEN INSERT INTO s.db.t VALUES (4, 'c'); END IF;
        SELECT id FROM s.db.t WHERE id > :least;
    END"""
    assert rows(ice.sql(script, {"least": 2})) == [(3,), (4,)]
    assert len(rows(ice.table("s.db.t").to_df())) == 4
    assert rows(ice.sql("SELECT count(*) FROM s.db.t")) == [(4,)]


@needs_scripts
def test_errors_in_scripts_have_their_places(ice: Session) -> None:
    with pytest.raises(NotFoundError, match=r"(?s)nope.*line 2, column 13"):
        ice.sql("BEGIN SELECT 1;\nINSERT INTO s.db.nope VALUES (1); END")
    with pytest.raises(AnalysisException, match=r"(?s)`nope`.*line 2 pos 7"):
        ice.sql("BEGIN\nSELECT nope FROM s.db.t; END")
    with pytest.raises(AnalysisException, match=r"(?s)`s`.`db`.`nope` cannot be found.*line 2 pos 25"):
        ice.sql("BEGIN\nIF (SELECT count(*) FROM s.db.nope) > 1 THEN SELECT 1; END IF; END")
    with pytest.raises(AnalysisException, match=r"(?s)`nope`.*line 2 pos 39"):
        ice.sql("BEGIN\nIF (SELECT count(*) FROM s.db.t WHERE (nope)) > 1 THEN SELECT 1; END IF; END")


@needs_scripts
def test_a_script_that_fails_leaves_no_variables_and_no_views(ice: Session) -> None:
    before = ice.sql("SHOW VIEWS").count()
    with pytest.raises(ArithmeticException):
        ice.sql("BEGIN DECLARE n INT DEFAULT 0; IF (SELECT count(*) FROM s.db.t) > 0 THEN SELECT 1 / n; END IF; END")
    assert ice.sql("SHOW VIEWS").count() == before
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN"):
        ice.sql("SELECT n")


@needs_scripts
def test_a_script_over_a_damaged_table_says_what_is_damaged(ice: Session) -> None:
    location = required(ice.state, ("s", "db", "t")).table.metadata_location
    assert location is not None
    Path(location.removeprefix("file:")).write_text("{")
    with pytest.raises(CorruptMetadataError, match=r"metadata\.json"):
        ice.sql("BEGIN IF (SELECT count(*) FROM s.db.t) > 1 THEN SELECT 1; END IF; END")


@needs_scripts
def test_scripts_take_no_parameters_by_place(ice: Session) -> None:
    with pytest.raises(UnsupportedError, match="SQL_SCRIPTING_WITH_POSITIONAL_PARAMETERS"):
        ice.sql("BEGIN SELECT ?; END", [1])
