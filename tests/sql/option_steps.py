"""Options of DataFrame writers, and conditions of ``overwrite``, on stock Spark with Iceberg's runtime and on icesql."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.sql.frame_steps import Step, answered


def answers(spark: Any, namespace: str) -> list[tuple[str, Any]]:
    """Each step's name, and its rows or ``"refused"``."""
    return [(name, answered(step)) for name, step in _steps(spark, namespace)]


def _steps(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    for steps in (_orders, _variants, _made, _dynamic, _called_branches):
        yield from steps(spark, namespace)


def _orders(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    from pyspark.sql import functions as F

    table = f"{namespace}.ordered"
    rows = spark.sql("VALUES (1, 'a')").toDF("id", "p")
    spark.sql(f"CREATE TABLE {table} (id int, p string) USING iceberg PARTITIONED BY (p)")
    spark.sql(f"ALTER TABLE {table} WRITE ORDERED BY id DESC")

    def append(order_id: str) -> None:
        rows.writeTo(table).option("output-sort-order-id", order_id).append()

    for order_id in ("0", "1", "9", "x"):
        yield f"order {order_id}", partial(append, order_id)
    yield "many rows in an order", lambda: spark.createDataFrame([(n, "b") for n in range(50)], "id int, p string").writeTo(table).append()
    yield "orders of files", lambda: spark.sql(f"SELECT DISTINCT partition.p, sort_order_id FROM {table}.files")
    yield "overwrite by chance", lambda: rows.writeTo(table).overwrite(F.rand() > 2)
    yield "as it was", lambda: spark.table(table)


def _variants(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    variants, plain = (f"{namespace}.{name}" for name in ("variants", "plain"))
    spark.sql(f"CREATE TABLE {variants} (id int, v variant) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    spark.sql(f"CREATE TABLE {plain} (id int) USING iceberg")

    def append(table: str, shred: str, size: str) -> None:
        rows = spark.sql("SELECT 1 AS id" + (", parse_json('1') AS v" if table == variants else ""))
        options = {"shred-variants": shred, "variant-inference-buffer-size": size}
        rows.writeTo(table).options(**{key: value for key, value in options.items() if value}).append()

    for table in (variants, plain):
        for shred, size in (("x", ""), ("true", "x"), ("true", "0"), ("true", "-5"), ("true", "7"), ("false", "0"), ("", "x")):
            yield f"{table.rpartition('.')[2]} shredded by {shred}, {size}", partial(append, table, shred, size)
        shown = "id, to_json(v) AS v" if table == variants else "id"  # of shredded files the runtime reads no other column alone
        yield f"{table.rpartition('.')[2]} read", partial(spark.sql, f"SELECT {shown} FROM {table}")


def _made(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    table, rows = f"{namespace}.made", spark.sql("SELECT 1 AS id")

    def writer(file_format: str) -> Any:
        return rows.writeTo(table).option("write-format", file_format).option("snapshot-property.k", file_format)

    yield "make with an unknown format", lambda: writer("nope").create()
    yield "make", lambda: writer("orc").create()
    yield "made", lambda: spark.sql(f"SELECT file_format FROM {table}.files")
    yield "made by", lambda: spark.sql(f"SELECT summary['k'] FROM {table}.snapshots")
    yield "make again", lambda: writer("avro").createOrReplace()
    yield "made again", lambda: spark.sql(f"SELECT file_format FROM {table}.files")
    yield "made again by", lambda: spark.sql(f"SELECT summary['k'] FROM {table}.snapshots")


def _dynamic(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    from pyspark.sql import functions as F

    table, rows = f"{namespace}.dynamic", spark.sql("SELECT 7 AS id, 'a' AS p")
    spark.sql(f"CREATE TABLE {table} (id int, p string) USING iceberg PARTITIONED BY (p)")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")

    def writer() -> Any:
        return rows.writeTo(table).partitionedBy("p").option("overwrite-mode", "dynamic")

    yield "overwrite all", lambda: writer().overwrite(F.lit(True))
    yield "only its partition went", lambda: spark.table(table)
    yield "overwrite some", lambda: writer().overwrite(F.col("p") == "a")
    yield "save over", lambda: rows.write.format("iceberg").option("overwrite-mode", "DYNAMIC").mode("overwrite").save(table)
    yield "replace", lambda: writer().replace()
    yield (
        "how",
        lambda: spark.sql(f"SELECT operation, summary['replace-partitions'] AS r, summary['total-records'] AS n FROM {table}.snapshots"),
    )


def _called_branches(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    table = f"{namespace}.tagged"
    spark.sql(f"CREATE TABLE {table} (id int) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    spark.sql(f"ALTER TABLE {table} CREATE TAG tg")
    spark.sql(f"ALTER TABLE {table} ADD COLUMN x int")
    yield "a tag as a branch", lambda: spark.read.option("branch", "tg").table(table)
    yield "twice the same branch", lambda: spark.read.option("branch", "tg").table(f"{table}.branch_tg")
    yield "two branches", lambda: spark.read.option("branch", "main").table(f"{table}.branch_tg")
    yield "one of a list", lambda: spark.read.format("iceberg").load([table])
    yield "two of a list", lambda: spark.read.format("iceberg").load([table, table])
