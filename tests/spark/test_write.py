"""Writing: how many files, in which order, and what does not fit."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, SparkRuntimeException

from icesql.spark.read.table_scan import scan_dataframe
from icesql.spark.write.data_files import WriteSettings, write_frame
from icesql.spark.write.store_assignment import assigned_frame
from icesql.spec.sorting import NullOrder, SortDirection, SortField, SortOrder
from icesql.spec.transforms import IDENTITY, bucket
from tests.spark.conftest import append

pytestmark = pytest.mark.spark


def files_of(table):
    return [task.data_file for task in table.scan().plan_files().tasks]


def test_an_insert_into_many_partitions_makes_one_file_each(spark, make_table):
    wide = spark.sql("SELECT id, CAST(id % 20 AS INT) AS p, repeat(uuid(), 20) AS s FROM range(0, 20000, 1, 4)")
    table = make_table("t", wide.limit(0), [("p", IDENTITY)])
    append(spark, table, wide.cache())
    files = files_of(table)
    assert sorted(file.partition for file in files) == [(p,) for p in range(20)]
    assert sum(file.record_count for file in files) == 20000


def test_small_results_are_written_in_the_driver(spark, make_table, monkeypatch):
    import icesql.spark.write.data_files as write

    monkeypatch.setattr(write, "_write_in_tasks", lambda *given: pytest.fail("a Python worker was started"))
    rows = spark.sql("SELECT * FROM VALUES (1L, 'a'), (2L, NULL), (3L, 'a') AS t(id, p)")
    table = make_table("t", rows, [("p", IDENTITY), ("id", bucket(2))])
    assert sorted(map(tuple, scan_dataframe(spark, table).collect())) == [(1, "a"), (2, None), (3, "a")]


@pytest.mark.parametrize("small", [True, False])
def test_files_are_in_the_sort_order(spark, make_table, small, monkeypatch):
    import icesql.spark.write.data_files as write

    monkeypatch.setattr(write, "is_small", lambda *given: small)  # rows that are not go through a shuffle by ranges
    rows = spark.sql("SELECT (id * 7919) % 1000 AS id, IF(id % 9 = 0, NULL, CAST(id % 2 AS INT)) AS p FROM range(0, 1000, 1, 3)")
    table = make_table("t", rows.limit(0), [("p", IDENTITY)])
    field = SortField(
        source_ids=(table.schema.field("id").id,), transform=IDENTITY, direction=SortDirection.DESC, null_order=NullOrder.NULLS_LAST
    )
    from dataclasses import replace

    metadata = replace(
        table.metadata, sort_orders=(*table.metadata.sort_orders, SortOrder(order_id=1, fields=(field,))), default_sort_order_id=1
    )
    frame = assigned_frame(spark, rows if small else rows.withColumn("id", rows.id), table.schema, table_name="t")
    if not small:
        frame = frame.union(frame.where("rand() < 0")).repartition(3)
    for file in write_frame(spark, frame, metadata, table.io, WriteSettings()):
        ids = pq.read_table(file.file_path).column("id").to_pylist()
        assert ids == sorted(ids, reverse=True)
        assert file.sort_order_id == 1


def test_what_does_not_fit_has_sparks_own_errors(spark, make_table):
    table = make_table("t", spark.sql("SELECT 1 AS i, 'x' AS s"))

    def assign(query, **given):
        return assigned_frame(spark, spark.sql(query), table.schema, table_name="local.db.t", **given)

    for query, condition in {
        "SELECT 1": "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
        "SELECT 1, 'a', 3": "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
        "SELECT 'a', 'b'": "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST",
    }.items():
        with pytest.raises(AnalysisException) as caught:
            assign(query)
        assert caught.value.getCondition() == condition
    with pytest.raises(AnalysisException, match="INSERT_COLUMN_ARITY_MISMATCH"):
        assign("SELECT 1", columns=("s", "i"))
    assert assign("SELECT 'y'", columns=("s",)).collect() == [(None, "y")]
    assert assign("SELECT 'y' AS s, 2 AS i", by_name=True).collect() == [(2, "y")]
    with pytest.raises((SparkRuntimeException, Exception), match="CAST_OVERFLOW"):
        assign("SELECT 3000000000L, 'a'").collect()


def test_short_decimals_reach_tasks_as_longs(spark, make_table, monkeypatch):
    import icesql.spark.write.data_files as write

    monkeypatch.setattr(write, "SMALL_BYTES", -1)
    values = "(1, -12.34, 99999999999999.9999, 12345678901234567890.12), (2, NULL, -0.0001, NULL), (3, 0, NULL, -0.01)"
    rows = spark.sql(
        "SELECT id, CAST(a AS DECIMAL(9, 2)) AS a, CAST(b AS DECIMAL(18, 4)) AS b, CAST(c AS DECIMAL(22, 2)) AS c, "
        f"named_struct('d', CAST(a AS DECIMAL(5, 1))) AS s FROM VALUES {values} AS t(id, a, b, c)"
    )
    table = make_table("t", rows, [("id", bucket(2))])
    assert sorted(map(tuple, scan_dataframe(spark, table).collect())) == sorted(map(tuple, rows.collect()))
    sent = rows.select(*write.task_columns(spark, rows, len(rows.columns))).dtypes
    assert [type_ for _, type_ in sent] == ["int", "bigint", "bigint", "decimal(22,2)", "struct<d:decimal(5,1)>"]


def test_rows_known_to_be_few_are_written_in_the_driver(spark, make_table, monkeypatch):
    import icesql.spark.write.data_files as write

    rows = spark.range(30).toDF("id")
    table = make_table("t", rows.limit(0), [("id", bucket(4))])
    monkeypatch.setattr(write, "SMALL_BYTES", -1)
    with monkeypatch.context() as without_tasks:
        without_tasks.setattr(write, "_write_in_tasks", lambda *given: pytest.fail("a Python worker was started"))
        files = write_frame(spark, rows, table.metadata, table.io, WriteSettings(rows=30))
    assert len(files) == 4
    assert sum(file.record_count for file in files) == 30
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.driver.maxResultSize", "64k")
    try:
        large = write_frame(spark, spark.range(30_000).toDF("id"), table.metadata, table.io, WriteSettings(rows=30_000))
    finally:
        conf.remove("spark.driver.maxResultSize")
    assert sum(file.record_count for file in large) == 30_000
