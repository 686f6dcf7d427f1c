"""DataFrames kept while their tables change, for stock Spark with Iceberg's runtime and for icesql: the answers must be equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.sql.frame_steps import Step, answered

_MERGE_ON_READ = "TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')"


def answers(spark: Any, namespace: str) -> list[tuple[str, Any]]:
    """Each step's name, and its rows or ``"refused"``."""
    return [(name, answered(step)) for name, step in _steps(spark, namespace)]


def _steps(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    for mode, properties in (("copy on write", ""), ("merge on read", _MERGE_ON_READ)):
        yield from _changes(spark, f"{namespace}.t{len(mode)}{len(properties)}", mode, properties)
    yield from _evolutions(spark, namespace)
    yield from _other_tables(spark, namespace)
    yield from _metadata_tables(spark, f"{namespace}.n")
    yield from _in_memory(spark, f"{namespace}.m")


def _changes(spark: Any, table: str, mode: str, properties: str) -> Iterator[tuple[str, Step]]:
    sql = spark.sql
    sql(f"CREATE TABLE {table} (id bigint, v string, p int) USING iceberg PARTITIONED BY (p) {properties}")
    view = table.replace(".", "_")
    frames = {
        "table": spark.table(table),
        "query": sql(f"SELECT id, v FROM {table} WHERE id > 1"),
        "count": sql(f"SELECT count(*) AS n FROM {table}"),
        "extremes": sql(f"SELECT min(id), max(v), count(v) FROM {table} WHERE p = 1"),
        "sum": sql(f"SELECT sum(id), count(*) FROM {table}"),
        "groups": sql(f"SELECT p, count(*) FROM {table} GROUP BY p HAVING count(*) > 1"),
        "twice": sql(f"SELECT a.id, b.v FROM {table} a JOIN {table} b ON a.id = b.id WHERE a.p = 1"),
        "subquery": sql(f"SELECT * FROM {table} WHERE id = (SELECT max(id) FROM {table})"),
        "derived": spark.table(table).where("p = 1").select("v"),
        "files": spark.table(table).select("id", "p").distinct(),
    }
    frames["table"].createOrReplaceTempView(f"{view}_of_frame")
    sql(f"CREATE OR REPLACE TEMP VIEW {view}_of_text AS SELECT id FROM {table}")
    frames["view"], frames["text view"] = sql(f"SELECT * FROM {view}_of_frame"), sql(f"SELECT count(id) FROM {view}_of_text")
    frames["both views"] = sql(f"SELECT * FROM {view}_of_frame JOIN {view}_of_text USING (id)")
    changes = [
        "INSERT INTO {} VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)",
        "DELETE FROM {} WHERE id = 1",
        "UPDATE {} SET v = 'x' WHERE id = 3",
        "MERGE INTO {} t USING (SELECT 2L AS id, 'm' AS v UNION ALL SELECT 9L, 'n') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, s.v, 1)",
        "ALTER TABLE {} ADD PARTITION FIELD bucket(2, id)",
        "INSERT INTO {} VALUES (10, 'k', 1)",
        "ALTER TABLE {} ADD COLUMN w int FIRST",
        "ALTER TABLE {} ALTER COLUMN v COMMENT 'text'",
        "INSERT OVERWRITE {} SELECT 1, id, v, p FROM {} WHERE id > 2",
        "TRUNCATE TABLE {}",
        "INSERT INTO {} (id, p) VALUES (20, 1), (21, 1)",
    ]
    for change in changes:
        yield f"{mode}: {change}", lambda change=change: sql(change.format(*[table] * change.count("{}"))) and None  # type: ignore[misc]
        for name, frame in frames.items():
            yield f"{mode}: {name} after {change}", lambda frame=frame: frame.select("*")  # type: ignore[misc]
        yield f"{mode}: counted after {change}", lambda: (frames["table"].count(), frames["derived"].count())
    first = sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1").collect()[0][0]
    yield f"{mode}: an old version", lambda: sql(f"SELECT id, v, p FROM {table} VERSION AS OF {first}")


def _evolutions(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    for number, change in enumerate((
        "DROP COLUMN v", "RENAME COLUMN v TO w", "ALTER COLUMN i TYPE bigint", "ALTER COLUMN s.a TYPE bigint", "ADD COLUMN s.c int",
        "DROP COLUMN s.b", "ALTER COLUMN id DROP NOT NULL", "ALTER COLUMN i FIRST", "RENAME COLUMN s.a TO z",
    )):  # fmt: skip
        table = f"{namespace}.e{number}"
        spark.sql(f"CREATE TABLE {table} (id bigint NOT NULL, v string, i int, s struct<a: int, b: int>) USING iceberg")
        spark.sql(f"INSERT INTO {table} VALUES (1, 'a', 1, struct(1, 2))")
        frame, part = spark.table(table), spark.table(table).select("id")
        spark.sql(f"ALTER TABLE {table} {change}")
        spark.sql(f"INSERT INTO {table} (id) VALUES (2)")
        yield f"after {change}", lambda frame=frame: frame  # type: ignore[misc]
        yield f"ids after {change}", lambda part=part: part  # type: ignore[misc]
        yield f"count after {change}", lambda frame=frame: frame.count()  # type: ignore[misc]


def _other_tables(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    table, sql = f"{namespace}.o", spark.sql
    sql(f"CREATE TABLE {table} (id bigint) USING iceberg")
    sql(f"INSERT INTO {table} VALUES (1)")
    frame = spark.table(table)
    sql(f"ALTER TABLE {table} CREATE BRANCH b")
    branch, by_option = spark.table(f"{table}.branch_b"), spark.read.option("branch", "b").table(table)
    sql(f"INSERT INTO {table}.branch_b VALUES (2)")
    yield "branch", lambda: branch
    yield "branch by an option", lambda: by_option.count()
    yield "main beside a branch", lambda: frame.select("*")
    sql(f"ALTER TABLE {table} CREATE TAG g")
    tag = spark.table(f"{table}.tag_g")
    sql(f"INSERT INTO {table} VALUES (3)")
    yield "tag", lambda: tag.count()
    since = spark.read.option("start-snapshot-id", _first(spark, table)).table(table)
    yield "rows since a snapshot", lambda: since
    before = frame.select("id")
    yield "an older frame joined with a newer one", lambda: before.join(spark.table(table), "id")
    yield "union of frames", lambda: before.union(spark.table(table))
    yield "appended to itself", lambda: before.writeTo(table).append()
    yield "then", lambda: before.count()
    sql(f"CALL {namespace.split('.')[0]}.system.rollback_to_snapshot('{table}', {_first(spark, table)})")
    yield "rolled back", lambda: frame.select("id")
    sql(f"CREATE OR REPLACE TABLE {table} (id bigint) USING iceberg")
    yield "replaced", lambda: frame.select("id")
    sql(f"DROP TABLE {table}")
    yield "dropped", lambda: frame.select("id")
    sql(f"CREATE TABLE {table} (id bigint) USING iceberg")
    yield "made again", lambda: frame.select("id")


def _metadata_tables(spark: Any, table: str) -> Iterator[tuple[str, Step]]:
    sql = spark.sql
    sql(f"CREATE TABLE {table} (id bigint, v string) USING iceberg PARTITIONED BY (v)")
    frames = {
        "snapshots": spark.table(f"{table}.snapshots").select("operation", "summary.added-records"),
        "history": sql(f"SELECT is_current_ancestor FROM {table}.history"),
        "files": spark.table(f"{table}.files").select("content", "record_count", "partition"),
        "rows by partition": sql(f"SELECT partition, sum(record_count) FROM {table}.files GROUP BY ALL"),
        "partitions": sql(f"SELECT partition, record_count, file_count FROM {table}.partitions"),
        "all entries": sql(f"SELECT status, data_file.record_count FROM {table}.all_entries"),
        "refs": spark.table(f"{table}.refs").select("name", "type"),
        "versions and rows": sql(f"SELECT operation, id FROM {table} JOIN {table}.snapshots"),
    }
    frames["snapshots"].createOrReplaceTempView("kept_snapshots")
    frames["view"] = sql("SELECT count(*) FROM kept_snapshots")
    for change in (
        "INSERT INTO {} VALUES (1, 'a'), (2, 'b')", "DELETE FROM {} WHERE v = 'a'", "ALTER TABLE {} CREATE TAG g", "TRUNCATE TABLE {}",
    ):  # fmt: skip
        yield change, lambda change=change: sql(change.format(table)) and None  # type: ignore[misc]
        for name, frame in frames.items():
            yield f"{name} after {change}", lambda frame=frame: frame.select("*")  # type: ignore[misc]
        yield f"counted after {change}", lambda: (frames["files"].count(), frames["snapshots"].count())


def _first(spark: Any, table: str) -> int:
    return int(spark.sql(f"SELECT snapshot_id FROM {table}.snapshots ORDER BY committed_at LIMIT 1").collect()[0][0])


def _in_memory(spark: Any, table: str) -> Iterator[tuple[str, Step]]:
    sql = spark.sql
    sql(f"CREATE TABLE {table} (id bigint, v string) USING iceberg")
    sql(f"INSERT INTO {table} VALUES (1, 'a')")
    kept = spark.table(table).cache()
    part = kept.where("id > 1").cache()
    for change in ("INSERT INTO {} VALUES (2, 'b'), (3, 'c')", "DELETE FROM {} WHERE id = 1", "UPDATE {} SET v = 'x' WHERE id = 2"):
        yield f"kept before {change}", lambda: (kept.count(), part.count())
        yield change, lambda change=change: sql(change.format(table)) and None  # type: ignore[misc]
        yield f"kept after {change}", lambda: kept.select("id", "v")
        yield f"part kept after {change}", lambda: part.select("v")
        yield f"read after {change}", lambda: spark.table(table)
    yield "no longer kept", lambda: (kept.unpersist().count(), part.unpersist().count())
    yield "cache", lambda: sql(f"CACHE TABLE {table}")
    yield "is cached", lambda: spark.catalog.isCached(table)
    yield "insert", lambda: sql(f"INSERT INTO {table} VALUES (5, 'e')") and None
    yield "is cached still", lambda: spark.catalog.isCached(table)
    yield "cached rows", lambda: sql(f"SELECT * FROM {table} WHERE id > 2")
    yield "refresh", lambda: sql(f"REFRESH TABLE {table}")
    yield "refreshed", lambda: (spark.catalog.isCached(table), spark.table(table).count())
    yield "truncate", lambda: sql(f"TRUNCATE TABLE {table}") and None
    yield "truncated", lambda: (spark.catalog.isCached(table), spark.table(table).count())
    yield "uncache", lambda: sql(f"UNCACHE TABLE {table}")
    yield "is cached no more", lambda: spark.catalog.isCached(table)
