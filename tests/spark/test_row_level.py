"""DELETE, UPDATE and MERGE give the rows that plain SQL over the same rows gives, in every mode and format version."""

from __future__ import annotations

import pytest

from icesql.errors import ValidationError
from icesql.spark.read.table_scan import scan_dataframe
from icesql.spark.row_level import affected_rows, few_rows, merge, update
from icesql.spark.row_level.assignments import Assignment
from icesql.spark.row_level.delete import delete_rows
from icesql.spark.row_level.merge import merge_rows
from icesql.spark.row_level.merge_clauses import Action, Clause, ClauseKind
from icesql.spark.row_level.target import Target
from icesql.spark.row_level.update import update_rows
from icesql.spec.transforms import DAY, IDENTITY, bucket, truncate

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


def every(*names):
    """The columns from the source's of the same names."""
    return tuple(Assignment((name,), f"s.{name}") for name in names)


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
        Clause(kind=ClauseKind.MATCHED, action=Action.DELETE, condition="t.id % 4 = 0"),
        Clause(kind=ClauseKind.MATCHED, action=Action.UPDATE, assignments=(Assignment(("v",), "concat(s.v, t.id)"),)),
        Clause(
            kind=ClauseKind.NOT_MATCHED,
            action=Action.INSERT,
            condition="s.id < 230",
            assignments=(Assignment(("id",), "s.id"), Assignment(("p",), "1")),
        ),
        Clause(
            kind=ClauseKind.NOT_MATCHED_BY_SOURCE, action=Action.UPDATE, condition="t.id < 3", assignments=(Assignment(("v",), "'old'"),)
        ),
        Clause(kind=ClauseKind.NOT_MATCHED_BY_SOURCE, action=Action.DELETE, condition="t.id = 3"),
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
    clauses = [Clause(kind=ClauseKind.NOT_MATCHED, action=Action.INSERT, assignments=(Assignment(("id",), "s.id"),))]
    merge_rows(target(spark, table), "(SELECT id FROM range(195, 205))", "s", "t.id = s.id", clauses).builder.commit()
    assert table.current_snapshot.summary["operation"] == "append"
    assert len(rows_of(spark, table)) == 205


def test_merge_refuses_several_matches(spark, table):
    update = [Clause(kind=ClauseKind.MATCHED, action=Action.UPDATE, condition="t.id = 1", assignments=(Assignment(("v",), "'x'"),))]
    source = "(SELECT 5L AS id UNION ALL SELECT 5L)"
    with pytest.raises(ValidationError, match="MERGE_CARDINALITY_VIOLATION"):
        merge_rows(target(spark, table), source, "s", "t.id = s.id", update)
    delete = [Clause(kind=ClauseKind.MATCHED, action=Action.DELETE)]
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
    monkeypatch.setattr(affected_rows, "MANY_ROWS", -1)
    monkeypatch.setattr(few_rows, "_is_small", lambda *_: False)
    monkeypatch.setattr(few_rows, "FEW_VALUES", 0)
    properties = {"format-version": mode[1], **{f"write.{verb}.mode": mode[0] for verb in ("delete", "merge")}}
    spark.range(0, 70_000, 1, 1).createOrReplaceTempView("numbers")
    table = make_table("n", spark.table("numbers"), [], properties)
    delete_rows(target(spark, table), "id % 1000 = 7 OR id IN (0, 32767, 32768, 65535, 65536, 69999)").builder.commit()
    twice = "(SELECT explode(array(5L, 5L, 80000L)) AS id)"
    update = Clause(kind=ClauseKind.MATCHED, action=Action.UPDATE, assignments=(Assignment(("id",), "-t.id"),))
    insert = Clause(kind=ClauseKind.NOT_MATCHED, action=Action.INSERT, assignments=(Assignment(("id",), "s.id"),))
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


@pytest.fixture(params=[4_000_000, 40], ids=["all in the driver", "too many"])
def brought(request, monkeypatch):
    """Tables are too large for all of their rows to come; a list of whether all that were found came after all."""
    came = []

    def in_driver(*arguments):
        rows = few_rows.in_driver(*arguments)
        came.append(rows is not None)
        return rows

    monkeypatch.setattr(few_rows, "_is_small", lambda *_: False)
    monkeypatch.setattr(few_rows, "FEW_VALUES", request.param)
    for module in (merge, update):
        monkeypatch.setattr(module, "in_driver", in_driver)
    yield came
    assert set(came) == {request.param > 40}


def modes_of(mode):
    return {"format-version": mode[1], **{f"write.{verb}.mode": mode[0] for verb in ("delete", "update", "merge")}}


@pytest.mark.parametrize("mode", [MODES[1], MODES[4]], ids=lambda m: f"{m[0]}-v{m[1]}")
def test_merge_of_middle_size(spark, make_table, brought, mode):
    spark.sql(SOURCE.format(n=200)).createOrReplaceTempView("plain")
    table = make_table("m", spark.table("plain"), [("p", IDENTITY)], modes_of(mode))
    source = "(SELECT id, CAST(0 AS INT) AS p, CAST(NULL AS STRING) AS v, named_struct('a', -id, 'b', 2) AS s FROM range(150, 250))"
    clauses = [
        Clause(kind=ClauseKind.MATCHED, action=Action.DELETE, condition="t.id % 10 = 0"),
        Clause(kind=ClauseKind.MATCHED, action=Action.UPDATE, assignments=every("id", "p", "v", "s")),
        Clause(kind=ClauseKind.NOT_MATCHED, action=Action.INSERT, assignments=every("id", "p", "v", "s")),
    ]
    merge_rows(target(spark, table), source, "s", "t.id = s.id", clauses).builder.commit()
    assert rows_of(spark, table) == expected(
        spark, f"SELECT * FROM plain WHERE id < 150 UNION ALL SELECT * FROM {source} WHERE id >= 200 OR id % 10 <> 0"
    )
    only_deletes = [Clause(kind=ClauseKind.MATCHED, action=Action.DELETE)]
    merge_rows(target(spark, table), "(SELECT id FROM range(100))", "s", "t.id = s.id", only_deletes).builder.commit()
    assert {row[0] for row in rows_of(spark, table)} == {i for i in range(100, 250) if not (150 <= i < 200 and i % 10 == 0)}
    assert len(brought) == 2


FLAT = """SELECT CAST(id AS INT) AS id, CAST(id AS DECIMAL(9, 2)) AS d, timestamp_seconds(id * 86400) AS at,
          IF(id % 7 = 0, NULL, concat('v', id)) AS v, CAST(concat('b', id) AS BINARY) AS b FROM range(0, 100, 1, 2)"""
LAYOUTS = {"unpartitioned": [], "by bucket and day": [("id", bucket(4)), ("at", DAY)], "by text": [("v", truncate(2))]}


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("is_sorted", [False, True], ids=["as they come", "sorted"])
def test_few_rows_written_in_the_driver(spark, make_table, brought, version, layout, is_sorted):
    """Values, partitions, row ids and the order of rows are as where tasks write them."""
    spark.sql(FLAT).createOrReplaceTempView("plain")
    table = make_table("m", spark.table("plain"), layout, modes_of(("merge-on-read", version)))
    if is_sorted:
        table.replace_sort_order().desc("v").commit()
    ids = row_ids(spark, table)
    change = [Assignment(("d",), "d + 1.5"), Assignment(("v",), "IF(id = 13, NULL, concat('x', id))")]
    update_rows(target(spark, table), change, "id % 10 = 3").builder.commit()
    changed = "SELECT id, CAST(d + 1.5 AS DECIMAL(9, 2)) AS d, at, IF(id = 13, NULL, concat('x', id)) AS v, b FROM plain WHERE id % 10 = 3"
    spark.sql(f"{changed} UNION ALL SELECT * FROM plain WHERE id % 10 <> 3").createOrReplaceTempView("plain_after")
    assert rows_of(spark, table) == expected(spark, "SELECT * FROM plain_after")
    source = "(SELECT CAST(id + 20 AS INT) AS id, d, at, v, b FROM plain)"
    clauses = [
        Clause(kind=ClauseKind.MATCHED, action=Action.DELETE, condition="s.id < 30"),
        Clause(kind=ClauseKind.MATCHED, action=Action.UPDATE, condition="s.id < 50", assignments=every("id", "d", "at", "v", "b")),
        Clause(kind=ClauseKind.NOT_MATCHED, action=Action.INSERT, condition="s.id < 110", assignments=every("id", "d", "at", "v", "b")),
    ]
    merge_rows(target(spark, table), source, "s", "t.id = s.id", clauses).builder.commit()
    assert rows_of(spark, table) == expected(
        spark,
        f"""SELECT * FROM plain_after WHERE id < 20 OR id >= 50 UNION ALL
            SELECT * FROM {source} WHERE id BETWEEN 30 AND 49 OR id BETWEEN 100 AND 109""",
    )
    after = row_ids(spark, table)
    kept = {i: row_id for i, row_id in ids.items() if not 20 <= i < 30}
    assert {i: row_id for i, row_id in after.items() if i < 100} == kept
    assert len(set(after.values())) == len(after)
    for file in (
        scan_dataframe(spark, table, metadata_columns=["_file", "_pos", "_partition"]).sort("_file", "_pos").toPandas().groupby("_file")
    ):
        rows = file[1]
        assert len(set(map(str, rows["_partition"]))) == 1  # a Row, or a dict from Spark 4.3 on
        if is_sorted and (rows["id"] % 10 == 3).any():
            assert rows["v"].fillna("").is_monotonic_decreasing


def test_columns_named_as_ours_might_be(spark, make_table, brought):
    table = make_table("m", spark.sql("SELECT id, id AS __number FROM range(60)"), [], modes_of(("merge-on-read", "2")))
    update_rows(target(spark, table), [Assignment(("__number",), "-id")], "id < 55").builder.commit()
    assert rows_of(spark, table) == expected(spark, "SELECT id, IF(id < 55, -id, id) FROM range(60)")


def row_ids(spark, table):
    """By ``id``, empty where rows have none."""
    if table.metadata.format_version < 3:
        return {}
    return dict(map(tuple, scan_dataframe(spark, table, metadata_columns=["_row_id"]).select("id", "_row_id").collect()))


@pytest.mark.parametrize("mode", MODES, ids=lambda m: f"{m[0]}-v{m[1]}")
@pytest.mark.parametrize("is_small", [True, False], ids=["small", "larger"])
def test_inserts_alone_are_an_append(spark, make_table, monkeypatch, mode, is_small):
    if not is_small:
        monkeypatch.setattr(few_rows, "_is_small", lambda *_: False)
    spark.sql(FLAT).createOrReplaceTempView("plain")
    table = make_table("m", spark.table("plain"), LAYOUTS["by bucket and day"], modes_of(mode))
    source = "(SELECT CAST(id + 95 AS INT) AS id, d, at, v, b FROM plain WHERE id < 10)"
    insert = Clause(kind=ClauseKind.NOT_MATCHED, action=Action.INSERT, assignments=every("id", "d", "at", "v", "b"))
    merge_rows(target(spark, table), source, "s", "t.id = s.id", [insert]).builder.commit()
    assert rows_of(spark, table) == expected(spark, f"SELECT * FROM plain UNION ALL SELECT * FROM {source} WHERE id >= 100")
    assert table.current_snapshot.summary["operation"] == "append"


@pytest.mark.parametrize("mode", [MODES[1], MODES[4]], ids=lambda m: f"{m[0]}-v{m[1]}")
def test_required_columns_take_no_nulls_from_the_driver(spark, make_table, brought, mode):
    table = make_table("m", spark.sql("SELECT id, id + 1 AS n FROM range(50)"), [], modes_of(mode))
    table.update_schema().allow_incompatible_changes().require_column("n").commit()
    before = rows_of(spark, table)
    clauses = [Clause(kind=ClauseKind.MATCHED, action=Action.UPDATE, assignments=(Assignment(("n",), "s.n"),))]
    with pytest.raises(Exception, match="NOT_NULL_ASSERT_VIOLATION"):
        merge_rows(target(spark, table), "(SELECT id, IF(id = 3, NULL, id) AS n FROM range(5))", "s", "t.id = s.id", clauses)
    with pytest.raises(Exception, match="NOT_NULL_ASSERT_VIOLATION"):
        update_rows(target(spark, table), [Assignment(("n",), "IF(id = 3, NULL, n)")], "id < 5")
    merge_rows(target(spark, table), "(SELECT id, -id AS n FROM range(5))", "s", "t.id = s.id", clauses).builder.commit()
    assert rows_of(spark, table) == sorted([(i, -i) if i < 5 else (i, n) for i, n in before], key=repr)
    brought[:] = [brought[-1]]  # jobs that failed or brought too much tell nothing


def test_rows_too_large_for_the_driver_stay_where_they_are(spark):
    frame = spark.range(0, 10, 1, 2).selectExpr("id AS k", "repeat(uuid(), 10000) AS v")
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.driver.maxResultSize", "64k")
    try:
        assert [few_rows.in_driver(few_rows.first_rows(frame, most), most) for most in (None, 100)] == [None, None]
    finally:
        conf.remove("spark.driver.maxResultSize")


def test_rows_are_few_in_each_partition_or_none_comes(spark):
    frame = spark.range(0, 10, 1, 2)
    for most in (3, 4):
        assert few_rows.in_driver(few_rows.first_rows(frame, most), most) is None
    for most in (5, 6, None):
        assert sorted(few_rows.in_driver(few_rows.first_rows(frame, most), most)["id"].to_pylist()) == list(range(10))


def test_a_first_try_is_made_where_few_rows_are_likely(spark, make_table, monkeypatch):
    monkeypatch.setattr(few_rows, "_is_small", lambda *_: False)
    rows = target(spark, make_table("m", spark.sql(SOURCE.format(n=200))))
    spark.range(100).createOrReplaceTempView("numbers")
    sources = {name: spark.sql(f"SELECT * FROM numbers {where}") for name, where in [("whole", ""), ("filtered", "WHERE id % 10 = 0")]}
    unknown = spark.createDataFrame(spark.sparkContext.parallelize([(1,)]), "id long")

    def tries(source):
        return few_rows.most_in_driver(rows, 5, source) != 0

    assert tries(None) and tries(unknown) and all(map(tries, sources.values()))
    monkeypatch.setattr(few_rows, "_FEW_SOURCE_BYTES", 10)
    assert tries(sources["filtered"]) and not tries(sources["whole"])
    monkeypatch.setattr(affected_rows, "MANY_ROWS", 100)
    assert not tries(None) and not tries(unknown) and not tries(sources["filtered"])
    monkeypatch.setattr(few_rows, "_FEW_SOURCE_BYTES", 32 << 20)
    assert all(map(tries, sources.values()))
