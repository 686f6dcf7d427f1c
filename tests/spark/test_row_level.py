"""DELETE, UPDATE and MERGE give the rows that plain SQL over the same rows gives, in every mode and format version."""

from __future__ import annotations

import pytest

from icesql.errors import ValidationError
from icesql.spark.row_level import few_rows, found_rows, merge
from icesql.spark.row_level.assignments import Assignment
from icesql.spark.row_level.delete import delete_rows
from icesql.spark.row_level.merge import Action, Clause, Kind, merge_rows
from icesql.spark.row_level.target import Target
from icesql.spark.row_level.update import update_rows
from icesql.spark.scan import scan_dataframe
from icesql.spec.transforms import IDENTITY, bucket

pytestmark = pytest.mark.spark

MODES = [("copy-on-write", "1"), ("copy-on-write", "2"), ("copy-on-write", "3"), ("merge-on-read", "2"), ("merge-on-read", "3")]
SOURCE = """SELECT id, CAST(id % 3 AS INT) AS p, IF(id % 7 = 0, NULL, concat('v', id)) AS v, named_struct('a', id, 'b', 1) AS s
            FROM range(0, {n}, 1, 2)"""


def rows_of(spark, table):
    return sorted(map(tuple, scan_dataframe(spark, table).collect()), key=repr)


def expected(spark, query):
    return sorted(map(tuple, spark.sql(query).collect()), key=repr)


@pytest.fixture(params=MODES, ids=lambda m: f"{m[0]}-v{m[1]}")
def table(request, spark, make_table):
    mode, version = request.param
    properties = {"format-version": version, **{f"write.{verb}.mode": mode for verb in ("delete", "update", "merge")}}
    frame = spark.sql(SOURCE.format(n=200))
    frame.createOrReplaceTempView("plain")
    return make_table("t", frame, [("p", IDENTITY)], properties)


def target(spark, table):
    return Target(spark=spark, table=table, alias="t")


def is_merge_on_read(table):
    return table.properties["write.delete.mode"] == "merge-on-read"


def test_delete(spark, table):
    delete_rows(target(spark, table), "t.id % 10 = 3 AND v IS NOT NULL").builder.commit()
    assert rows_of(spark, table) == expected(spark, "SELECT * FROM plain WHERE NOT coalesce(id % 10 = 3 AND v IS NOT NULL, false)")
    summary = table.current_snapshot.summary
    assert summary["operation"] == ("delete" if is_merge_on_read(table) else "overwrite")
    delete_rows(target(spark, table), "v IN (SELECT 'v8' UNION ALL SELECT NULL)").builder.commit()
    assert (8 in {r[0] for r in rows_of(spark, table)}) is False
    if is_merge_on_read(table):
        manifests = scan_dataframe(spark, table)  # one delete file (or vector) a data file, however many statements there were
        assert manifests.count() == int(table.current_snapshot.summary["total-records"]) - int(
            table.current_snapshot.summary["total-position-deletes"]
        )
        assert int(table.current_snapshot.summary["total-delete-files"]) <= int(table.current_snapshot.summary["total-data-files"])


def test_delete_by_metadata_alone(spark, table):
    result = delete_rows(target(spark, table), "p = 1")
    assert result.metadata_only
    result.builder.commit()
    assert table.current_snapshot.summary["operation"] == "delete"
    assert "added-delete-files" not in table.current_snapshot.summary and "added-data-files" not in table.current_snapshot.summary
    assert rows_of(spark, table) == expected(spark, "SELECT * FROM plain WHERE p <> 1")


def test_delete_that_is_never_true_commits_nothing(spark, table):
    assert delete_rows(target(spark, table), "1 = 2").builder is None


def test_delete_everything(spark, table):
    delete_rows(target(spark, table), None).builder.commit()
    assert rows_of(spark, table) == []


def test_a_not_in_with_null_deletes_nothing(spark, table):
    before = rows_of(spark, table)
    result = delete_rows(target(spark, table), "NOT (id IN (1, NULL))")
    if result.builder is not None:
        result.builder.commit()
    assert rows_of(spark, table) == before


def test_update(spark, table):
    set_ = [Assignment(("v",), "concat(t.v, '!')"), Assignment(("s", "b"), "t.id + 1"), Assignment(("p",), "7")]
    update_rows(target(spark, table), set_, "id BETWEEN 5 AND 20").builder.commit()
    assert rows_of(spark, table) == expected(
        spark,
        """SELECT id, IF(id BETWEEN 5 AND 20, 7, p), IF(id BETWEEN 5 AND 20, concat(v, '!'), v),
           named_struct('a', s.a, 'b', CAST(IF(id BETWEEN 5 AND 20, id + 1, s.b) AS INT)) FROM plain""",
    )
    assert table.current_snapshot.summary["operation"] == "overwrite"


def test_row_ids_survive(spark, table):
    if table.metadata.format_version < 3:
        return
    before = dict(map(tuple, scan_dataframe(spark, table, metadata_columns=("_row_id",)).select("id", "_row_id").collect()))
    update_rows(target(spark, table), [Assignment(("v",), "'new'")], "id < 50").builder.commit()
    delete_rows(target(spark, table), "id = 60").builder.commit()
    frame = scan_dataframe(spark, table, metadata_columns=("_row_id", "_last_updated_sequence_number"))
    after = {r[0]: (r[1], r[2]) for r in frame.select("id", "_row_id", "_last_updated_sequence_number").collect()}
    assert {i: r for i, (r, _) in after.items()} == {i: r for i, r in before.items() if i != 60}
    assert {s for i, (_, s) in after.items() if i < 50} == {2}
    assert {s for i, (_, s) in after.items() if i >= 50} == {1}


def test_merge(spark, table):
    source = "(SELECT id * 2 AS id, 'm' AS v FROM range(90, 120))"
    clauses = [
        Clause(kind=Kind.MATCHED, action=Action.DELETE, condition="t.id % 4 = 0"),
        Clause(kind=Kind.MATCHED, action=Action.UPDATE, assignments=(Assignment(("v",), "concat(s.v, t.id)"),)),
        Clause(
            kind=Kind.NOT_MATCHED,
            action=Action.INSERT,
            condition="s.id < 230",
            assignments=(Assignment(("id",), "s.id"), Assignment(("p",), "1")),
        ),
        Clause(kind=Kind.NOT_MATCHED_BY_SOURCE, action=Action.UPDATE, condition="t.id < 3", assignments=(Assignment(("v",), "'old'"),)),
        Clause(kind=Kind.NOT_MATCHED_BY_SOURCE, action=Action.DELETE, condition="t.id = 3"),
    ]
    result = merge_rows(target(spark, table), source, "s", "t.id = s.id", clauses)
    result.builder.set_all({key: str(value) for key, value in result.metrics.items()}).commit()
    assert rows_of(spark, table) == expected(
        spark,
        """SELECT id, p, CASE WHEN id >= 180 AND id % 2 = 0 THEN concat('m', id) WHEN id < 3 THEN 'old' ELSE v END, s
           FROM plain WHERE NOT (id >= 180 AND id % 4 = 0) AND id <> 3
           UNION ALL SELECT id * 2, 1, NULL, NULL FROM range(100, 115)""",
    )
    metrics = {k.removeprefix("spark.merge-into.num-target-rows-"): v for k, v in result.metrics.items()}
    copied = metrics.pop("copied")
    assert copied == (0 if is_merge_on_read(table) else int(table.current_snapshot.summary["total-records"]) - 15 - 8)
    assert metrics == {
        "deleted": 6,
        "updated": 8,
        "inserted": 15,
        "matched-updated": 5,
        "matched-deleted": 5,
        "not-matched-by-source-updated": 3,
        "not-matched-by-source-deleted": 1,
    }
    assert table.current_snapshot.summary["spark.merge-into.num-target-rows-inserted"] == "15"


def test_merge_that_only_inserts_appends(spark, table):
    clauses = [Clause(kind=Kind.NOT_MATCHED, action=Action.INSERT, assignments=(Assignment(("id",), "s.id"),))]
    merge_rows(target(spark, table), "(SELECT id FROM range(195, 205))", "s", "t.id = s.id", clauses).builder.commit()
    assert table.current_snapshot.summary["operation"] == "append"
    assert len(rows_of(spark, table)) == 205


def test_merge_refuses_several_matches(spark, table):
    update = [Clause(kind=Kind.MATCHED, action=Action.UPDATE, condition="t.id = 1", assignments=(Assignment(("v",), "'x'"),))]
    source = "(SELECT 5L AS id UNION ALL SELECT 5L)"
    with pytest.raises(ValidationError, match="MERGE_CARDINALITY_VIOLATION"):
        merge_rows(target(spark, table), source, "s", "t.id = s.id", update)
    delete = [Clause(kind=Kind.MATCHED, action=Action.DELETE)]
    merge_rows(target(spark, table), source, "s", "t.id = s.id", delete).builder.commit()
    assert len(rows_of(spark, table)) == 199


def test_statements_in_a_row_on_buckets(spark, make_table):
    """Many small deletes keep one vector a file, and reads stay right."""
    spark.sql(SOURCE.format(n=100)).createOrReplaceTempView("plain")
    table = make_table("b", spark.table("plain"), [("id", bucket(4))], {"format-version": "3", "write.delete.mode": "merge-on-read"})
    for i in range(5):
        delete_rows(target(spark, table), f"id % 20 = {i}").builder.commit()
    assert rows_of(spark, table) == expected(spark, "SELECT * FROM plain WHERE id % 20 > 4")
    assert int(table.current_snapshot.summary["total-delete-files"]) <= 4
    deleted = scan_dataframe(spark, table, metadata_columns=("_deleted",)).where("_deleted").count()
    assert deleted == 25


@pytest.mark.parametrize("mode", MODES[1::2], ids=lambda m: f"{m[0]}-v{m[1]}")
def test_many_rows_come_as_bitmaps(spark, make_table, monkeypatch, mode):
    monkeypatch.setattr(found_rows, "MANY_ROWS", -1)
    monkeypatch.setattr(merge, "is_small", lambda *_: False)
    properties = {"format-version": mode[1], **{f"write.{verb}.mode": mode[0] for verb in ("delete", "merge")}}
    spark.range(0, 70_000, 1, 1).createOrReplaceTempView("numbers")
    table = make_table("n", spark.table("numbers"), [], properties)
    delete_rows(target(spark, table), "id % 1000 = 7 OR id IN (0, 32767, 32768, 65535, 65536, 69999)").builder.commit()
    twice = "(SELECT explode(array(5L, 5L, 80000L)) AS id)"
    update = Clause(kind=Kind.MATCHED, action=Action.UPDATE, assignments=(Assignment(("id",), "-t.id"),))
    insert = Clause(kind=Kind.NOT_MATCHED, action=Action.INSERT, assignments=(Assignment(("id",), "s.id"),))
    with pytest.raises(ValidationError, match="MERGE_CARDINALITY_VIOLATION"):
        merge_rows(target(spark, table), twice, "s", "t.id = s.id", [update, insert])
    result = merge_rows(target(spark, table), "(SELECT id * 10000 AS id FROM range(10))", "s", "t.id = s.id", [update, insert])
    result.builder.commit()
    assert result.metrics["spark.merge-into.num-target-rows-inserted"] == 4
    assert result.metrics["spark.merge-into.num-target-rows-updated"] == 6
    assert rows_of(spark, table) == expected(
        spark,
        """SELECT IF(id % 10000 = 0, -id, id) AS id FROM numbers
           WHERE NOT (id % 1000 = 7 OR id IN (0, 32767, 32768, 65535, 65536, 69999))
           UNION ALL SELECT explode(array(0L, 70000L, 80000L, 90000L))""",
    )


@pytest.mark.parametrize("most", [1_000_000, 40], ids=["all in the driver", "the first rows only"])
@pytest.mark.parametrize("mode", [MODES[1], MODES[4]], ids=lambda m: f"{m[0]}-v{m[1]}")
def test_merge_of_middle_size(spark, make_table, monkeypatch, mode, most):
    monkeypatch.setattr(merge, "is_small", lambda *_: False)
    monkeypatch.setattr(few_rows, "SMALL_VALUES", most)
    whole = []
    first = few_rows.first_in_driver

    def first_in_driver(*arguments):
        found, rows = first(*arguments)
        whole.append(rows is not None)
        return found, rows

    monkeypatch.setattr(merge, "first_in_driver", first_in_driver)
    spark.sql(SOURCE.format(n=200)).createOrReplaceTempView("plain")
    table = make_table("m", spark.table("plain"), [("p", IDENTITY)], {"format-version": mode[1], "write.merge.mode": mode[0]})
    source = "(SELECT id, CAST(0 AS INT) AS p, CAST(NULL AS STRING) AS v, named_struct('a', -id, 'b', 2) AS s FROM range(150, 250))"
    clauses = [
        Clause(kind=Kind.MATCHED, action=Action.DELETE, condition="t.id % 10 = 0"),
        Clause(kind=Kind.MATCHED, action=Action.UPDATE_ALL),
        Clause(kind=Kind.NOT_MATCHED, action=Action.INSERT_ALL),
    ]
    merge_rows(target(spark, table), source, "s", "t.id = s.id", clauses).builder.commit()
    assert rows_of(spark, table) == expected(
        spark, f"SELECT * FROM plain WHERE id < 150 UNION ALL SELECT * FROM {source} WHERE id >= 200 OR id % 10 <> 0"
    )
    only_deletes = [Clause(kind=Kind.MATCHED, action=Action.DELETE)]
    merge_rows(target(spark, table), "(SELECT id FROM range(100))", "s", "t.id = s.id", only_deletes).builder.commit()
    assert {row[0] for row in rows_of(spark, table)} == {i for i in range(100, 250) if not (150 <= i < 200 and i % 10 == 0)}
    assert whole == ([True, True] if most == 1_000_000 else [False, False])


def test_rows_too_large_for_the_driver_stay_where_they_are(spark):
    frame = spark.range(0, 10, 1, 2).selectExpr("id AS k", "repeat(uuid(), 10000) AS v")
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.driver.maxResultSize", "64k")
    try:
        keys, rows = few_rows.first_in_driver(frame, ["k"])
    finally:
        conf.remove("spark.driver.maxResultSize")
    assert sorted(keys["k"].to_pylist()) == list(range(10))
    assert rows is None
