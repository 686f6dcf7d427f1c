"""``df.mergeInto`` for stock Spark with Iceberg's runtime and, after ``icesql.enable(spark)``, for icesql: the answers must be equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from tests.sql.frame_steps import Step, answered

Merge: TypeAlias = Callable[[Any, Any, str], Any]
"""(writer, source, the table's name in columns) to the writer with its clauses."""


def answers(spark: Any, namespace: str) -> list[tuple[str, Any]]:
    """Each merge's name, and the rows and operations of the table after it, or ``"refused"``."""
    found = []
    for number, (name, merge) in enumerate(_merges()):
        found += [(name, answered(step)) for step in _steps(spark, f"{namespace}.m{number}", merge)]
    return found + [(name, answered(step)) for name, step in _others(spark, namespace)]


def _steps(spark: Any, table: str, merge: Merge) -> Iterator[Step]:
    from pyspark.sql import functions as F

    alias = table.rpartition(".")[2]
    _make(spark, table)
    source = _source(spark)
    yield lambda: merge(source.mergeInto(table, F.col(f"{table}.id") == F.col("q.id")), source, alias).merge()
    yield lambda: spark.table(table)
    yield lambda: spark.sql(f"SELECT operation FROM {table}.snapshots")


def _make(spark: Any, table: str) -> None:
    spark.sql(f"CREATE TABLE {table} (id INT, s STRING, n STRUCT<a: INT, b: STRING>) USING iceberg")
    rows = "VALUES (1, 'a', named_struct('a', 1, 'b', 'x')), (2, 'b', null), (3, 'c', null)"
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM {rows}")


def _source(spark: Any) -> Any:
    return spark.sql("SELECT 1 AS id, 'A' AS s, named_struct('a', 10, 'b', 'X') AS n UNION ALL SELECT 9, 'Z', null").alias("q")


def _merges() -> Iterator[tuple[str, Merge]]:
    from pyspark.sql import functions as F

    col, lit = F.col, F.lit
    yield "all", lambda w, d, t: w.whenMatched().updateAll().whenNotMatched().insertAll()
    yield "delete", lambda w, d, t: w.whenMatched().delete()
    yield "all kinds", lambda w, d, t: w.whenNotMatchedBySource().delete().whenNotMatched().insertAll().whenMatched().updateAll()
    yield "columns of both", lambda w, d, t: w.whenMatched().update({"s": F.concat(f"{t}.s", "q.s", lit("!"))})
    yield "a column of the frame", lambda w, d, t: w.whenMatched(d.s == "A").update({"s": d["n"]["b"]})
    yield "a lambda", lambda w, d, t: w.whenMatched().update({"s": F.transform(F.array(d.s), lambda x: F.concat(x, x))[0]})
    yield "conditions in turn", lambda w, d, t: w.whenMatched(col("q.s") == "B").delete().whenMatched().update({"s": lit("y")})
    yield "a clause behind all rows", lambda w, d, t: w.whenMatched().delete().whenMatched(d.s == "A").update({"s": lit("y")})
    yield "a condition by name", lambda w, d, t: w.whenNotMatched("nope").insertAll()
    yield "nested keys", lambda w, d, t: w.whenMatched().update({"n.a": col("q.n.a") + 1, "s": col("q.n.b")})
    yield "qualified keys", lambda w, d, t: w.whenMatched().update({f"{t}.s": lit("k")})
    yield "unknown keys", lambda w, d, t: w.whenMatched().update({"nope": lit("k")})
    yield "no keys", lambda w, d, t: w.whenMatched().update({})
    yield "a default", lambda w, d, t: w.whenMatched().update({"s": F.expr("DEFAULT")})
    yield "types that do not fit", lambda w, d, t: w.whenMatched().update({"id": lit("x")})
    yield "some columns", lambda w, d, t: w.whenNotMatched(col("id") == 9).insert({"id": col("id") + 1, "s": F.lower("s")})
    yield "by source", lambda w, d, t: w.whenNotMatchedBySource(col("id") > 2).delete().whenNotMatchedBySource().update({"s": F.upper("s")})
    yield "by source, of the source", lambda w, d, t: w.whenNotMatchedBySource(col("q.id") == 1).delete()
    yield "by source, everything", lambda w, d, t: w.whenNotMatchedBySource().updateAll()
    yield "not matched, of the table", lambda w, d, t: w.whenNotMatched(col(f"{t}.id") == 1).insertAll()
    yield "an ambiguous name", lambda w, d, t: w.whenMatched(col("id") == 1).delete()
    yield "a subquery", lambda w, d, t: w.whenMatched(F.expr("q.id IN (SELECT 1)")).delete()
    yield "a star", lambda w, d, t: w.whenMatched().update({"s": F.to_json(F.struct("*"))})
    yield "chance", lambda w, d, t: w.whenMatched(F.rand() > 2).delete()
    yield "nothing", lambda w, d, t: w


def _others(spark: Any, namespace: str) -> Iterator[tuple[str, Step]]:
    from pyspark.sql import functions as F

    table = f"{namespace}.other"
    wider = spark.sql("SELECT 1 AS id, 'w' AS s, 5 AS extra UNION ALL SELECT 8, 'x', 6").alias("e")
    same_id = F.col("other.id") == F.col("e.id")
    _make(spark, table)
    yield "no evolution", lambda: wider.mergeInto(table, same_id).whenMatched().update({"extra": F.col("e.extra")}).merge()
    yield "evolution", lambda: wider.mergeInto(table, same_id).withSchemaEvolution().whenNotMatched().insertAll().merge()
    yield "evolved", lambda: spark.table(table)
    assigned = spark.sql("SELECT 1 AS id, 7L AS more").alias("e")
    yield (
        "evolution by a key",
        lambda: assigned.mergeInto(table, same_id).withSchemaEvolution().whenMatched().update({"more": F.col("more")}).merge(),
    )
    yield "evolved by a key", lambda: spark.table(table)
    itself = spark.table(table).where("id < 3").select((F.col("id") + 1).alias("k"), F.col("s").alias("v"))
    yield "itself", lambda: itself.mergeInto(table, F.col("other.id") == itself.k).whenMatched().update({"s": itself.v}).merge()
    yield "merged with itself", lambda: spark.table(table)
    left, right = spark.sql("SELECT 1 AS id, 'l' AS s").alias("l"), spark.sql("SELECT 1 AS id, 'r' AS w").alias("r")
    joined = left.join(right, F.col("l.id") == F.col("r.id"))
    value = {"s": F.concat("l.s", "r.w")}
    yield "a join", lambda: joined.mergeInto(table, F.col("other.id") == F.col("r.id")).whenMatched().update(value).merge()
    yield "merged with a join", lambda: spark.table(table)
    twice = wider.union(wider).alias("e")
    yield "twice", lambda: twice.mergeInto(table, same_id).whenMatched().update({"s": F.col("e.s")}).merge()
    yield "into nothing", lambda: wider.mergeInto(f"{namespace}.nope", F.lit(True)).whenMatched().delete().merge()
    yield "branch", lambda: spark.sql(f"ALTER TABLE {table} CREATE BRANCH b")
    on_branch = F.col("branch_b.id") == F.col("e.id")
    yield "into a branch", lambda: wider.mergeInto(f"{table}.branch_b", on_branch).whenMatched().delete().merge()
    yield "merged into a branch", lambda: spark.table(f"{table}.branch_b")
    yield "main stays", lambda: spark.table(table)
