"""Reading: evolved schemas, pruning, metadata columns, paths with any character, other formats, changes, aggregates."""

from __future__ import annotations

from pathlib import Path

import pytest

from icesql.errors import CorruptMetadataError
from icesql.expr.tree import TRUE
from icesql.spark.jvm import partitions
from icesql.spark.jvm.bridge import Bridge, bridge_of
from icesql.spark.jvm.partitions import file_statuses
from icesql.spark.jvm.types import to_spark_schema
from icesql.spark.read.aggregates import aggregate_frame
from icesql.spark.read.changelog import changelog_frame, incremental_frame
from icesql.spark.read.metadata_frames import metadata_frame
from icesql.spark.read.read_planning import ReadSettings
from icesql.spark.read.relation import parquet_relation
from icesql.spark.read.table_scan import Read, scan_dataframe
from icesql.spec.transforms import IDENTITY, bucket
from icesql.spec.types import LongType
from icesql.table.scan import never_null
from tests.spark.conftest import append

pytestmark = pytest.mark.spark


def tuples(frame):
    return sorted(map(tuple, frame.collect()), key=repr)


def test_a_reused_name_never_sees_old_values_nor_old_statistics(spark, make_table):
    table = make_table("t", spark.sql("SELECT id AS a, id * 0 AS b FROM range(10)"))
    table.update_schema().delete_column("b").commit()
    table.update_schema().rename_column("a", "b").commit()
    frame = scan_dataframe(spark, table)
    assert tuples(frame.where("b >= 5")) == [(i,) for i in range(5, 10)]
    append(spark, table, spark.sql("SELECT 100L AS b"))
    assert tuples(scan_dataframe(spark, table).where("b > 7")) == [(100,), (8,), (9,)]


def test_only_matching_files_are_planned(spark, make_table):
    rows = spark.sql("SELECT id, CAST(id % 4 AS STRING) AS p FROM range(100)")
    table = make_table("t", rows, [("p", IDENTITY), ("id", bucket(2))])
    reports = []
    frame = scan_dataframe(spark, table, listener=lambda report, snapshot: reports.append(report))
    assert tuples(frame.where("p = '2' AND id = 42")) == [(42, "2")]
    assert (reports[-1].files_planned, reports[-1].files_total) == (1, 8)
    frame.createOrReplaceTempView("t")
    assert spark.sql("SELECT count(*) FROM t x JOIN t y ON x.id = y.id WHERE x.p IN ('1', '3')").first()[0] == 50
    assert reports[-1].files_planned == 4


def test_spark_is_told_of_few_files_once(spark, make_table, monkeypatch):
    told = []

    def counted(bridge, paths, sizes):
        told.append(paths)
        return file_statuses(bridge, paths, sizes)

    monkeypatch.setattr(partitions, "file_statuses", counted)
    table = make_table("t", spark.sql("SELECT id, CAST(id % 4 AS STRING) AS p FROM range(100)"), [("p", IDENTITY)])
    reports = []
    frame = scan_dataframe(spark, table, listener=lambda report, snapshot: reports.append(report))
    for condition, parts, times in (("p = '1'", "1", 1), ("p = '1'", "1", 1), ("p > '1'", "23", 2), ("p = '1'", "1", 3)):
        before = len(reports)
        assert {row.p for row in frame.where(condition).collect()} == set(parts)
        assert len(told) == times
        assert reports[before].files_planned == len(parts)  # each reader hears of it


def test_metadata_columns_and_filters_over_them(spark, make_table):
    rows = spark.sql("SELECT id, elt(1 + id % 3, 'a b', 'ü%20#', 'x=y/z') AS p FROM range(30)").coalesce(1)
    table = make_table("t", rows, [("p", IDENTITY)])
    frame = scan_dataframe(spark, table, metadata_columns=("_file", "_pos", "_spec_id", "_partition"))
    got = frame.where("id = 4").first()
    assert (got.p, got._pos, got._spec_id, got._partition.p) == ("ü%20#", 1, 0, "ü%20#")
    paths = {row[0] for row in frame.select("_file").distinct().collect()}
    files = metadata_frame(spark, table, "files").select("file_path")
    assert paths == {row[0] for row in files.collect()} and len(paths) == 3
    assert frame.where(frame["_file"] == got._file).count() == 10
    assert frame.where("_partition.p = 'a b' AND _pos < 2").count() == 2


def test_constants_of_many_files_need_no_local_relation(spark, make_table):
    """Spark makes an RDD of Arrow rows larger than this setting."""
    rows = spark.sql("SELECT id, id % 4 AS p FROM range(8)").coalesce(1)
    frame = scan_dataframe(spark, make_table("t", rows, [("p", IDENTITY)]), metadata_columns=("_file", "_partition"))
    spark.conf.set("spark.sql.execution.arrow.localRelationThreshold", "1b")
    try:
        assert tuples(frame.where("_partition.p = 3").select("id")) == [(3,), (7,)]
        assert frame.select("_file").distinct().count() == 4
    finally:
        spark.conf.unset("spark.sql.execution.arrow.localRelationThreshold")


@pytest.mark.parametrize("encrypts", [False, True])
def test_many_bytes_reach_the_jvm_and_stay_on_no_disk(spark, monkeypatch, encrypts):
    bridge = Bridge(spark)
    monkeypatch.setattr(bridge, "_encrypts", encrypts)
    folder = Path(spark.sparkContext._temp_dir)
    before = set(folder.iterdir())
    with bridge.input_stream(bytes(range(256)) * 1000) as stream:
        assert len(set(folder.iterdir()) - before) == (0 if encrypts else 1)
        assert bytes(stream.readAllBytes()) == bytes(range(256)) * 1000
    assert set(folder.iterdir()) == before


def test_errors_of_planning_reach_the_caller_as_they_are(spark, make_table):
    table = make_table("t", spark.range(3).toDF("id"))

    def broken(expression, version):
        raise CorruptMetadataError("Cannot read manifest: it ends too early: /m.avro")

    bridge = bridge_of(spark)
    relation = parquet_relation(
        bridge,
        key="broken",
        plan=broken,
        schema=to_spark_schema(table.schema),
        constants=to_spark_schema(type(table.schema)(())),
        size_in_bytes=lambda: 1,
    )
    frame = bridge.frame(bridge.logical_relation(relation, False))
    with pytest.raises(CorruptMetadataError, match="ends too early"):
        frame.collect()


@pytest.mark.parametrize("file_format", ["avro", "orc"])
def test_other_formats_take_the_fallback_reader(spark, make_table, file_format):
    rows = spark.sql("SELECT id, CAST(id % 2 AS INT) AS p, concat('s', id) AS s, IF(id = 3, NULL, array(id)) AS l FROM range(20)")
    table = make_table("t", rows, [("p", IDENTITY)], {"write.format.default": file_format})
    assert tuples(scan_dataframe(spark, table).where("id > 2")) == tuples(rows.where("id > 2"))
    assert {r[0] for r in metadata_frame(spark, table, "files").select("file_format").collect()} == {file_format.upper()}


def test_a_snapshot_of_its_own_and_incremental_reads(spark, make_table):
    table = make_table("t", spark.range(3).toDF("id"))
    first = table.metadata.current_snapshot_id
    append(spark, table, spark.range(3, 6).toDF("id"))
    assert tuples(scan_dataframe(spark, table, snapshot_id=first)) == [(0,), (1,), (2,)]
    assert tuples(incremental_frame(spark, table, options={"start-snapshot-id": str(first)})) == [(3,), (4,), (5,)]
    changes = changelog_frame(spark, table)
    assert tuples(changes.select("id", "_change_type", "_change_ordinal")) == [(i, "INSERT", i // 3) for i in range(6)]


def test_aggregates_come_from_metadata(spark, make_table):
    table = make_table("t", spark.sql("SELECT id, CAST(id % 4 AS INT) AS p, IF(id < 5, NULL, id) AS v FROM range(40)"), [("p", IDENTITY)])
    scan_dataframe(spark, table).createOrReplaceTempView("t")

    def answer(query):
        frame = spark.sql(query)
        found = aggregate_frame(spark, frame, table, snapshot_id=table.metadata.current_snapshot_id, schema=table.schema)
        if found is not None:
            assert found.schema == frame.schema
            assert tuples(found) == tuples(frame)
        return None if found is None else tuple(found.first())

    assert answer("SELECT count(*), min(id), max(v), count(v) AS n FROM t") == (40, 0, 39, 35)
    assert answer("SELECT count(*) FROM t WHERE p = 3") == (10,)
    assert answer("SELECT count(*) FROM t WHERE id = 3") is None
    assert answer("SELECT count(*), max(id) FROM t WHERE id < 100") == (40, 39)  # the bounds of every file prove it
    assert answer("SELECT count(*) FROM t WHERE v < 100") is None  # nulls
    assert answer("SELECT min(id) FROM (SELECT -id AS id FROM t)") is None
    assert answer("SELECT sum(id) FROM t") is None
    assert answer("SELECT p, count(*) FROM t GROUP BY p") is None


def test_columns_that_hold_no_null_are_not_tested_for_it(spark, make_table, monkeypatch):
    monkeypatch.setattr(never_null, "FEWEST_ROWS", 0)
    table = make_table("t", spark.sql("SELECT id, CAST(id AS STRING) AS s, IF(id < 5, NULL, id) AS v FROM range(40)"))

    def counted(table):
        """The optimiser's count of each column, and what it is."""
        frame = scan_dataframe(spark, table, metadata_columns=("_pos",)).where("id >= 2").selectExpr("count(id)", "count(s)", "count(v)")
        functions = frame._jdf.queryExecution().optimizedPlan().aggregateExpressions()
        whole = ["count(1)" in functions.apply(i).toString() for i in range(3)]
        return whole, tuple(frame.first())

    assert counted(table) == ([True, True, False], (38, 38, 35))
    frame = scan_dataframe(spark, table)
    assert all(field.nullable for field in frame.schema.fields)
    assert frame.schema.fields[0].metadata  # which is all as without
    assert frame.where("s IS NULL").count() == 0
    outer = frame.alias("x").join(frame.where("id < 3").alias("y"), "id", "left").where("y.s IS NULL")
    assert outer.count() == 37
    monkeypatch.setattr(never_null, "FEWEST_ROWS", 100_000)
    assert scan_dataframe(spark, table).schema == frame.schema
    assert counted(table)[0] == [False] * 3
    monkeypatch.setattr(never_null, "FEWEST_ROWS", 0)

    append(spark, table, spark.sql("SELECT 100L AS id, CAST(NULL AS STRING) AS s, 1L AS v"))
    assert counted(table) == ([True, False, False], (39, 38, 36))
    table.update_schema().add_column("w", LongType()).commit()
    assert scan_dataframe(spark, table).where("w IS NULL").count() == 41


def test_failed_writes_leave_nothing(spark, make_table):
    table = make_table("t", spark.range(3).toDF("id"))
    before = [info.location for info in table.io.list_files(table.location)]
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        append(spark, table, spark.range(0, 3_000_000, 1, 4).selectExpr("id DIV (id - 2500000) AS id"))
    assert [info.location for info in table.io.list_files(table.location)] == before


def test_nothing_is_pruned_by_true(spark, make_table):
    table = make_table("t", spark.range(3).toDF("id"))
    assert scan_dataframe(spark, table, where=TRUE).count() == 3


def test_equality_deletes_with_nulls_and_sequence_numbers(spark, make_table):
    """What stream writers leave: rows deleted by value, null equal to null, only in older files."""
    from icesql.io.deletes.files import write_equality_deletes

    rows = spark.sql("SELECT id, IF(id % 5 = 0, NULL, id % 3) AS k, CAST(id % 2 AS INT) AS p FROM range(30)")
    table = make_table("t", rows, [("p", IDENTITY)])
    ids = (table.schema.field("k").id, table.schema.field("p").id)
    import pyarrow as pa

    gone = pa.table({"k": pa.array([None, 1], pa.int64()), "p": pa.array([0, 0], pa.int32())})
    names = iter(f"{table.location}/data/eq-{i}.parquet" for i in range(9))
    delta = table.new_row_delta()
    for file in write_equality_deletes(table.io, lambda: next(names), gone, table.schema, ids, spec_id=0, partition=(0,)):
        delta.add_deletes(file)
    delta.commit()
    append(spark, table, spark.sql("SELECT 100L AS id, CAST(NULL AS BIGINT) AS k, 0 AS p"))
    rows.createOrReplaceTempView("plain")
    want = tuples(spark.sql("SELECT * FROM plain WHERE NOT (p = 0 AND (k IS NULL OR k = 1)) UNION ALL SELECT 100L, NULL, 0"))
    assert tuples(scan_dataframe(spark, table)) == want
    assert tuples(scan_dataframe(spark, table).select("id")) == [(w[0],) for w in sorted(want, key=lambda w: repr((w[0],)))]
    shown = scan_dataframe(spark, table, metadata_columns=("_deleted", "_pos"))
    assert shown.where("_deleted").count() == 30 + 1 - len(want)


def test_types_spark_lacks(spark, catalog):
    import uuid

    import pyarrow as pa

    from icesql.spec import types as I
    from icesql.spec.schema import Schema

    schema = Schema(
        (I.NestedField(1, "u", I.UUIDType()), I.NestedField(2, "f", I.FixedType(3)), I.NestedField(3, "n", I.TimestampNanoType()))
    )
    table = catalog.create_table(("db", "odd"), schema, properties={"format-version": "3"})
    text = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    append(spark, table, spark.sql(f"SELECT '{text}' AS u, X'010203' AS f, TIMESTAMP_NTZ'1969-12-31 23:59:59.999999' AS n"))
    row = scan_dataframe(spark, table).where(f"u = '{text}'").first()
    assert (row.u, bytes(row.f), str(row.n)) == (text, b"\x01\x02\x03", "1969-12-31 23:59:59.999999")
    held = table.to_arrow()
    assert held.column("u").to_pylist() in ([uuid.UUID(text)], [uuid.UUID(text).bytes])
    assert held.schema.field("n").type == pa.timestamp("ns")


def test_plans_of_one_form_show_each_its_own_files(spark, make_table):
    tables = [make_table(name, spark.range(start, start + 3).toDF("id")) for name, start in (("first", 0), ("second", 10))]
    bridge = bridge_of(spark)

    def plans():
        settings = [ReadSettings(schema=table.schema, metadata_columns=("_pos",), deleted_positions={}) for table in tables]
        reads = [Read(spark, t.io, t.metadata, t.name, t.current_snapshot, s) for t, s in zip(tables, settings, strict=True)]
        return [read.plan() for read in reads]

    first, second = map(bridge.frame, plans())
    assert first._jdf.queryExecution().analyzed().output().toString() == second._jdf.queryExecution().analyzed().output().toString()
    assert tuples(second.where("id > 10")) == [(11, 1), (12, 2)]
    assert tuples(first.union(second).where("_pos = 0")) == [(0, 0), (10, 0)]
    assert tuples(first.alias("f").crossJoin(second.alias("s")).where("f.id = 1 AND s.id = 12")) == [(1, 1, 12, 2)]
    append(spark, tables[0], spark.range(3, 5).toDF("id").coalesce(1))
    assert tuples(bridge.frame(plans()[0])) == [(0, 0), (1, 1), (2, 2), (3, 0), (4, 1)]
    assert tuples(first) == [(0, 0), (1, 1), (2, 2)]
