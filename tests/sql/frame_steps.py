"""DataFrame code for stock Spark with Iceberg's runtime and, after ``icesql.enable(spark)``, for icesql: the answers must be equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from icesql.errors import IcesqlError

Step: TypeAlias = Callable[[], Any]
_CLASS = "org.apache.iceberg.spark.source.IcebergSource"  # what "iceberg" is short for


def answers(spark: Any, namespace: str) -> list[tuple[str, Any]]:
    """Each step's name, and its rows or ``"refused"``."""
    return [(name, answered(step)) for name, step in _steps(spark, namespace)]


def answered(step: Step) -> Any:
    """Rows with their types, the text of another answer, ``None`` for a step without any, or ``"refused"``."""
    try:
        answer = step()
        if not hasattr(answer, "dtypes"):
            return None if answer is None else repr(answer)
        return [list(pair) for pair in answer.dtypes], sorted(repr(tuple(row)) for row in answer.collect())
    except (PySparkException, Py4JJavaError, IcesqlError):  # anything else is a fault of ours or of the step
        return "refused"


def _steps(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    yield from _writes(spark, namespace)
    yield from _reads(spark, namespace)
    yield from _builder_writes(spark, namespace)
    yield from _paths(spark, namespace)


def _writes(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    from pyspark.sql import functions as F
    from pyspark.sql.functions import partitioning as P

    def rows(*values: Any, schema: str = "id bigint, s string, d date") -> Any:
        return spark.sql("VALUES " + ", ".join(values)).toDF(*[part.split()[0] for part in schema.split(", ")])

    def show(what: str = "SELECT *", where: str = "") -> Step:
        return lambda: spark.sql(f"{what} FROM {table}{where}")

    table = f"{namespace}.t"
    day = "DATE '2024-01-0{}'".format
    first = rows(f"(1L, 'a', {day(1)})", f"(2L, 'b', {day(2)})")
    yield "create", lambda: first.writeTo(table).using("iceberg").tableProperty("k", "v").partitionedBy(F.col("s"), P.days("d")).create()
    yield "created", show()
    yield "partitions", show("SELECT partition, record_count", ".partitions")
    yield "properties", lambda: spark.sql(f"SHOW TBLPROPERTIES {table} ('k')")
    yield "create again", lambda: first.writeTo(table).create()
    yield "append", lambda: first.writeTo(table).append()
    yield "append in another order", lambda: first.select("d", "id", "s").writeTo(table).append()
    yield "append fewer columns", lambda: first.select("id", "s").writeTo(table).append()
    yield "append more columns", lambda: first.withColumn("x", F.lit(1)).writeTo(table).append()
    yield "append other types", lambda: first.withColumn("id", F.lit("x")).writeTo(table).append()
    yield "append narrower types", lambda: first.withColumn("id", F.lit(7)).writeTo(table).append()
    yield "appended", show()
    yield "overwrite by column", lambda: first.writeTo(table).overwrite(F.col("s") == "a")
    yield "overwritten", show()
    yield "overwrite all", lambda: first.writeTo(table).overwrite(F.lit(True))
    yield "overwrite part of a file", lambda: first.writeTo(table).overwrite(F.col("id") > 1)
    yield "overwrite by two", lambda: first.writeTo(table).overwrite((F.col("s") == "a") & (F.col("d") <= F.lit("2024-01-01").cast("date")))
    yield "overwrite by a list", lambda: first.writeTo(table).overwrite(F.col("s").isin("b", "c") | F.col("s").isNull())
    yield "overwritten again", show()
    yield "overwrite partitions", lambda: rows(f"(9L, 'a', {day(1)})").writeTo(table).overwritePartitions()
    yield "partitions overwritten", show()
    yield "branch", lambda: spark.sql(f"ALTER TABLE {table} CREATE BRANCH audit")
    yield "append to a branch", lambda: first.writeTo(f"{table}.branch_audit").append()
    yield "overwrite partitions of a branch", lambda: first.limit(1).writeTo(f"{table}.branch_audit").overwritePartitions()
    yield "the branch", show(where=".branch_audit")
    yield "append with a summary", lambda: first.writeTo(table).option("snapshot-property.by", "me").append()
    yield "summary", show("SELECT operation, summary['by']", ".snapshots")
    yield "append nowhere", lambda: first.writeTo(f"{namespace}.nope").append()
    yield "replace nothing", lambda: first.writeTo(f"{namespace}.nope").replace()
    yield "create or replace", lambda: first.writeTo(f"{namespace}.u").using("iceberg").createOrReplace()
    yield "replace", lambda: first.select("id").writeTo(f"{namespace}.u").using("iceberg").partitionedBy(P.bucket(4, "id")).replace()
    yield "replaced", lambda: spark.table(f"{namespace}.u")
    yield "replaced partitions", lambda: spark.sql(f"SELECT partition FROM {namespace}.u.partitions")
    yield (
        "other transforms",
        lambda: first.writeTo(f"{namespace}.w").partitionedBy(P.years("d"), F.col("s")).tableProperty("format-version", "3").create(),
    )
    yield "their partitions", lambda: spark.sql(f"SELECT partition, record_count FROM {namespace}.w.partitions")
    yield "nested", lambda: first.select(F.struct("id", "s").alias("n"), F.array("s").alias("l")).writeTo(f"{namespace}.n").create()
    yield "nested rows", lambda: spark.table(f"{namespace}.n").select("n.id", F.explode("l").alias("e"))


def _reads(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    table = f"{namespace}.t"

    def first_snapshot() -> int:
        return int(spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1").collect()[0][0])

    yield "table", lambda: spark.table(table).where("id > 1").select("s")
    yield "a branch", lambda: spark.table(f"{table}.branch_audit")
    yield "a metadata table", lambda: spark.table(f"{table}.refs").select("name", "type")
    yield "nothing", lambda: spark.table(f"{namespace}.nope")
    yield "read.table", lambda: spark.read.table(table)
    yield "read.load", lambda: spark.read.format("iceberg").load(table)
    yield "read.load by the class", lambda: spark.read.format(_CLASS).load(table)
    yield "at a version", lambda: spark.read.option("versionAsOf", first_snapshot()).table(table)
    yield "at a branch", lambda: spark.read.option("branch", "audit").table(table)
    yield "at a named version", lambda: spark.read.option("versionAsOf", "audit").table(table)
    yield "at a time", lambda: spark.read.option("timestampAsOf", "2100-01-01").table(table)
    yield "too early", lambda: spark.read.option("timestampAsOf", "2000-01-01").table(table)
    yield "at both", lambda: spark.read.option("timestampAsOf", "2100-01-01").option("versionAsOf", "audit").table(table)
    yield "an option that is gone", lambda: spark.read.option("snapshot-id", first_snapshot()).table(table)
    yield "increments", lambda: spark.read.option("start-snapshot-id", first_snapshot()).table(table)
    begun = spark.read.option("start-snapshot-id", first_snapshot())
    yield "increments as of a branch", lambda: begun.option("versionAsOf", "audit").table(table)
    yield "increments as of a version", lambda: begun.option("versionAsOf", first_snapshot()).table(table)
    yield "joined", lambda: spark.table(table).join(spark.table(f"{namespace}.u"), "id")


def _builder_writes(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    """``DataFrame.write``, the older writer."""
    table = f"{namespace}.t"
    first = spark.sql("VALUES (1L, 'a', DATE '2024-01-01')").toDF("id", "s", "d")
    show: Step = lambda: spark.sql(f"SELECT * FROM {table}")  # noqa: E731
    yield "insertInto", lambda: first.write.insertInto(table)
    yield "insertInto overwriting", lambda: first.write.insertInto(table, overwrite=True)
    yield "inserted", show
    yield "saveAsTable appending", lambda: first.select("s", "d", "id").write.format("iceberg").mode("append").saveAsTable(table)
    yield "saved", show
    yield "saveAsTable anew", lambda: first.write.format("iceberg").partitionBy("s").saveAsTable(f"{namespace}.v")
    yield "saveAsTable again", lambda: first.write.format("iceberg").saveAsTable(f"{namespace}.v")
    yield "saveAsTable ignoring", lambda: first.write.format("iceberg").mode("ignore").saveAsTable(f"{namespace}.v")
    yield "saveAsTable overwriting", lambda: first.select("id").write.format("iceberg").mode("overwrite").saveAsTable(f"{namespace}.v")
    yield "saved anew", lambda: spark.table(f"{namespace}.v")
    yield "save appending", lambda: first.write.format("iceberg").mode("append").save(table)
    yield "save overwriting", lambda: first.write.format("iceberg").mode("overwrite").save(table)
    yield "saved by name", show
    yield "save by the class", lambda: first.write.format(_CLASS).mode("append").save(table)
    yield "saved by the class", show
    yield "saveAsTable by the class", lambda: first.write.format(_CLASS).saveAsTable(f"{namespace}.w")
    yield "save by the class anew", lambda: first.write.format(_CLASS).save(f"{namespace}.w")
    yield "clustered", lambda: first.write.format("iceberg").clusterBy("s").saveAsTable(f"{namespace}.clustered")


def _paths(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    """Tables by their folders."""
    table = f"{namespace}.p"
    first = spark.sql("VALUES (1, 'a'), (2, 'b')").toDF("id", "s").coalesce(1)
    first.writeTo(table).create()
    spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    first.writeTo(table).append()
    log = spark.sql(f"SELECT file FROM {table}.metadata_log_entries ORDER BY timestamp").collect()
    folder = log[0][0].removeprefix("file:").partition("/metadata/")[0]

    def load(behind: str = "", **options: Any) -> Step:
        return lambda: spark.read.format("iceberg").options(**options).load(f"{folder}{behind}")

    yield "by path", load()
    yield "by path with a slash", load("/")
    yield "by path and class", lambda: spark.read.format(_CLASS).load(folder)
    yield "by uri", lambda: spark.read.format("iceberg").load(f"file:{folder}")
    yield "by path as an option", lambda: spark.read.format("iceberg").option("path", folder).load()
    yield "a branch by path", load("#branch_b")
    yield "a branch by option", load(branch="b")
    yield "a version by option", load(versionAsOf="b")
    yield "files by path", lambda: load("#files")().select("record_count")
    yield "snapshots by path", lambda: load("#snapshots")().select("operation")
    yield "changes by path", lambda: load("#changes")().select("id", "_change_type")
    yield "no table at a path", load("/nope")
    yield "a folder of a table", load("/metadata")
    yield "a metadata file", lambda: spark.read.format("iceberg").load(log[1][0])
    yield "no metadata file", load("/metadata/v77.metadata.json")
    yield "append to a metadata file", lambda: first.write.format("iceberg").mode("append").save(log[1][0])
    yield "append to a path", lambda: first.write.format("iceberg").mode("append").save(folder)
    yield "append to a branch at a path", lambda: first.write.format("iceberg").mode("append").save(f"{folder}#branch_b")
    yield "append nowhere at a path", lambda: first.write.format("iceberg").mode("append").save(f"{folder}/nope")
    yield "appended", lambda: spark.table(table)
    yield "overwrite a path", lambda: first.limit(1).write.format("iceberg").mode("overwrite").save(folder)
    yield "overwritten", lambda: spark.table(table)
    yield "the branch at the path", lambda: spark.table(f"{table}.branch_b")
    yield "create at a path", lambda: first.write.format("iceberg").save(f"{folder}x")
