"""Batches for Python tasks: ended by rows where rows are short, by bytes where one may be long."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

from icesql.spark.read.table_scan import scan_dataframe
from icesql.spark.write.batches import LONG_ROW, MAX_BYTES_PER_BATCH, MAX_ROW_BYTES, short_rows, unmeasured_batches

pytestmark = pytest.mark.spark

LONG = MAX_ROW_BYTES // 2 + 1


def checked(frame):
    return short_rows([F.col(f"`{name}`") for name in frame.columns], frame.schema.fields)


def rows_of_batches(frame):
    def count(batches):
        for batch in batches:
            yield pa.record_batch([pa.array([batch.num_rows])], names=["rows"])

    return [row.rows for row in frame.mapInArrow(count, "rows bigint").collect()]


def test_unmeasured_batches_end_by_rows_unless_the_session_sets_bytes(spark):
    frame = spark.range(0, 4000, 1, 1).select("id", F.repeat(F.lit("x"), 100).alias("s"))
    spark.sparkContext.setLocalProperty(MAX_BYTES_PER_BATCH, "20000")
    try:
        assert len(rows_of_batches(frame)) > 10
        with unmeasured_batches(spark):
            assert rows_of_batches(frame) == [4000]
        assert spark.sparkContext.getLocalProperty(MAX_BYTES_PER_BATCH) == "20000"
    finally:
        spark.sparkContext.setLocalProperty(MAX_BYTES_PER_BATCH, None)
    spark.conf.set(MAX_BYTES_PER_BATCH, "20000b")
    try:
        with unmeasured_batches(spark):
            assert len(rows_of_batches(frame)) > 10
    finally:
        spark.conf.unset(MAX_BYTES_PER_BATCH)


@pytest.mark.parametrize(
    "row",
    [
        f"repeat('x', {2 * LONG}) AS s",
        f"repeat('x', {LONG}) AS a, repeat('y', {LONG}) AS b",
        f"1 AS a, CAST(repeat('x', {2 * LONG}) AS BINARY) AS b",
        f"1 AS a, named_struct('in', named_struct('s', repeat('x', {2 * LONG}))) AS s",
    ],
)
def test_a_long_row_is_noticed(spark, row):
    frame = spark.sql(f"SELECT {row} FROM range(2)")
    with pytest.raises(Exception, match=LONG_ROW):
        frame.select(*checked(frame)).collect()


def test_short_rows_pass_unchanged(spark):
    frame = spark.range(3).selectExpr(
        "id", "IF(id = 1, NULL, repeat('x', 1000)) AS s", "named_struct('b', IF(id = 2, NULL, CAST('y' AS BINARY)), 'n', 1) AS t"
    )
    passed = frame.select(*checked(frame))
    assert passed.columns == frame.columns
    assert [f.dataType for f in passed.schema] == [f.dataType for f in frame.schema]
    assert passed.collect() == frame.collect()
    fixed = spark.range(3).selectExpr("id", "named_struct('n', 1) AS t")
    columns = [F.col(name) for name in fixed.columns]
    assert short_rows(columns, fixed.schema.fields) is columns


@pytest.mark.parametrize(
    "columns", ["array(1) AS a", "map(1, 2) AS m", "parse_json('1') AS v", "named_struct('a', 'x', 'A', 'y') AS s", "many"]
)
def test_rows_of_unknown_length_are_measured(spark, columns):
    wanted = [f"id AS c{i}" for i in range(MAX_ROW_BYTES // 16 + 1)] if columns == "many" else ["id", columns]
    assert checked(spark.range(1).selectExpr(*wanted)) is None


@pytest.mark.parametrize("length", [1, 3 * LONG])
def test_long_rows_are_written_once(spark, make_table, monkeypatch, length):
    import icesql.spark.write.data_files as write

    monkeypatch.setattr(write, "SMALL_BYTES", -1)
    rows = spark.range(0, 400, 1, 4).selectExpr("id", f"repeat('x', IF(id = 250, {length}, 1)) AS s")
    table = make_table("t", rows)
    assert sorted((r.id, len(r.s)) for r in scan_dataframe(spark, table).collect()) == [(i, length if i == 250 else 1) for i in range(400)]
    planned = {task.data_file.file_path for task in table.scan().plan_files().tasks}
    assert {info.location for info in table.io.list_files(f"{table.metadata.location}/data")} == planned
