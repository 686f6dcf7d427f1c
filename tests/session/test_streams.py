"""``spark.readStream`` and ``df.writeStream`` of an enabled session: names, options, refusals, and what stays Spark's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

import icesql
from icesql.errors import InvalidArgumentError, NotFoundError, SqlError, UnsupportedError

pytestmark = pytest.mark.spark
TELLS_SOURCES = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 2)


@pytest.fixture
def enabled(spark: Any, tmp_path: Path) -> Iterator[Any]:
    """Catalogs ``c`` and ``m`` (in memory); ``c.db.source`` has five appends of two rows."""
    catalogs = {"c": {"type": "hadoop", "warehouse": str(tmp_path / "warehouse")}, "m": {"type": "memory"}}
    icesql.enable(spark, catalogs)
    spark.sql("CREATE TABLE c.db.source (id BIGINT, name STRING, at TIMESTAMP, parts ARRAY<STRUCT<a: INT>>)")
    for i in range(5):
        spark.sql(f"INSERT INTO c.db.source VALUES ({2 * i}, 'a', TIMESTAMP'1960-01-01 00:00:0{i}', array(named_struct('a', {i}))), "
                  f"({2 * i + 1}, NULL, NULL, NULL)")  # fmt: skip
    yield spark
    icesql.disable(spark)


def finished(writer: Any, folder: Path, **start: Any) -> Any:
    """The query, which has read all that there is. ``start``: the arguments of ``start``, ``toTable`` if there are none but ``table``."""
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    query = writer.toTable(start.pop("table"), **start) if "table" in start else writer.start(**start)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return query


def same_rows(spark: Any, name: str) -> None:
    assert sorted(map(repr, spark.table(name).collect())) == sorted(map(repr, spark.table("c.db.source").collect()))


def test_a_table_is_made(enabled: Any, tmp_path: Path) -> None:
    rows = enabled.readStream.table("c.db.source")
    finished(rows.writeStream.partitionBy("name"), tmp_path, table="c.db.made")
    same_rows(enabled, "c.db.made")
    described = [tuple(row)[:2] for row in enabled.sql("DESCRIBE c.db.made").collect()]
    assert described[:4] == [("id", "bigint"), ("name", "string"), ("at", "timestamp"), ("parts", "array<struct<a:int>>")]
    assert described[-1] == ("name", "string"), "the partitioning"


def test_a_table_by_its_folder(enabled: Any, tmp_path: Path) -> None:
    folder = str(tmp_path / "warehouse" / "db")
    enabled.sql("CREATE TABLE c.db.sink AS SELECT * FROM c.db.source WHERE false")
    rows = enabled.readStream.format("iceberg").load(f"{folder}/source")
    finished(rows.writeStream.format("iceberg").option("fanout-enabled", True), tmp_path, path=f"{folder}/sink")
    same_rows(enabled, "c.db.sink")


def test_a_branch_is_written(enabled: Any, tmp_path: Path) -> None:
    enabled.sql("CREATE TABLE c.db.sink AS SELECT * FROM c.db.source WHERE false")
    enabled.sql("ALTER TABLE c.db.sink CREATE BRANCH audit")
    rows = enabled.readStream.table("c.db.source")
    finished(rows.writeStream.option("branch", "audit").option("snapshot-property.by", "me"), tmp_path, table="c.db.sink")
    assert enabled.table("c.db.sink").count() == 0
    assert enabled.sql("SELECT * FROM c.db.sink VERSION AS OF 'audit'").count() == 10
    assert enabled.sql("SELECT summary['by'] FROM c.db.sink.snapshots ORDER BY committed_at DESC").first()[0] == "me"


def test_a_batch_that_is_there_is_not_written_again(enabled: Any, tmp_path: Path) -> None:
    """Spark's note of the last batch is lost, as when the process dies between the table's commit and it."""
    for mode in ("append", "complete"):
        folder, sink = tmp_path / mode, f"c.db.sink_{mode}"
        rows = enabled.readStream.table("c.db.source")
        rows = rows if mode == "append" else rows.groupBy("name").count()
        finished(rows.writeStream.outputMode(mode), folder, table=sink)
        before, snapshots = sorted(map(repr, enabled.table(sink).collect())), enabled.table(f"{sink}.snapshots").count()
        notes = list((folder / "checkpoint" / "commits").glob("*"))
        for note in notes:
            note.unlink()
        finished(rows.writeStream.outputMode(mode), folder, table=sink)
        assert notes
        assert sorted(map(repr, enabled.table(sink).collect())) == before
        assert enabled.table(f"{sink}.snapshots").count() == snapshots


def test_all_that_is_there_now(enabled: Any, tmp_path: Path) -> None:
    """With a limit, Spark 4.0 and 4.1 end after one micro-batch: they do not tell a Python source to go on."""
    for limit, rows in ((None, 10), (2, 10 if TELLS_SOURCES else 4)):
        reader = enabled.readStream if limit is None else enabled.readStream.option("streaming-max-files-per-micro-batch", limit)
        writer = reader.table("c.db.source").writeStream.trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / str(limit))).toTable(f"c.db.sink{limit}").awaitTermination()
        assert enabled.table(f"c.db.sink{limit}").count() == rows


def test_the_session_of_a_batch(enabled: Any, tmp_path: Path) -> None:
    enabled.sql("USE c.db")
    enabled.sql("CREATE TABLE counts (name STRING, n BIGINT)")

    def count(batch: Any, number: int) -> None:
        batch.createOrReplaceTempView("batch")
        batch.sparkSession.sql("INSERT INTO counts SELECT name, count(*) FROM batch GROUP BY name")
        batch.select("name").distinct().selectExpr("name", "-1L AS n").writeTo("counts").append()
        assert batch.sparkSession.table("source").count() == 10

    finished(enabled.readStream.table("source").writeStream.foreachBatch(count), tmp_path)
    assert sorted(map(tuple, enabled.table("counts").collect()), key=str) == [("a", -1), ("a", 5), (None, -1), (None, 5)]


def test_what_is_sparks_stays_so(enabled: Any, tmp_path: Path) -> None:
    rows = enabled.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    once = rows.writeStream.trigger(once=True).option("checkpointLocation", str(tmp_path / "checkpoint"))
    once.partitionBy("value").start(str(tmp_path / "out"), "parquet").awaitTermination()
    assert list((tmp_path / "out").glob("value=*"))


def test_refusals(enabled: Any, tmp_path: Path) -> None:
    read, rows = enabled.readStream, enabled.readStream.table("c.db.source")
    enabled.sql("CREATE TABLE m.db.t (id INT)")
    with pytest.raises(UnsupportedError, match="in memory"):
        read.table("m.db.t")
    with pytest.raises(UnsupportedError, match="metadata table"):
        read.table("c.db.source.files")
    with pytest.raises(UnsupportedError, match="only the table"):
        enabled.readStream.option("branch", "main").table("c.db.source")
    with pytest.raises(SqlError, match="user specified schema"):
        enabled.readStream.format("iceberg").schema("id INT").load("c.db.source")
    with pytest.raises(NotFoundError):
        read.table("c.db.nope")
    with pytest.raises(InvalidArgumentError, match="streaming-max-files-per-micro-batch"):
        enabled.readStream.option("streaming-max-files-per-micro-batch", "few").table("c.db.source")
    with pytest.raises(InvalidArgumentError, match="checkpointLocation must be specified"):
        rows.writeStream.toTable("c.db.source")
    checkpoint = str(tmp_path / "checkpoint")
    with pytest.raises(NotFoundError):
        rows.writeStream.format("iceberg").option("checkpointLocation", checkpoint).start("c.db.nope")
    with pytest.raises(UnsupportedError, match="does not support Update mode"):
        rows.writeStream.outputMode("update").option("checkpointLocation", checkpoint).toTable("c.db.source")
    with pytest.raises(UnsupportedError, match="continuous"):
        rows.writeStream.trigger(continuous="1 second").option("checkpointLocation", checkpoint).toTable("c.db.source")
