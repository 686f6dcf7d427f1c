"""Two readings of one table for stock Spark with Iceberg's runtime and, after ``icesql.enable(spark)``, for icesql: each has columns of its
own, found by the table's name and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from tests.sql.frame_steps import answered

Joined: TypeAlias = Callable[[Any, Any], Any]
"""Of two readings."""


def answers(spark: Any, namespace: str) -> list[tuple[str, Any]]:
    """Each question's name, and its answer or ``"refused"``."""
    table = f"{namespace}.t"
    spark.sql(f"CREATE TABLE {table} (id INT, s STRING, parent INT) USING iceberg")
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a', 2), (2, 'b', 3), (3, 'c', 1)")
    found = [(name, answered(partial(step, read(), read()))) for name, read, step in _joins(spark, table)]
    return found + [(name, answered(step)) for name, step in _names(spark, table)]


def _joins(spark: Any, table: str) -> Iterator[tuple[str, Callable[[], Any], Joined]]:
    readings: dict[str, Callable[[], Any]] = {
        "tables": lambda: spark.table(table),
        "queries": lambda: spark.sql(f"SELECT * FROM {table} WHERE id < 5"),
        "readers": lambda: spark.read.option("split-size", "100").table(table),
        "versions": lambda: spark.read.option("versionAsOf", "main").table(table),
        "columns": lambda: spark.table(table).select("id", "s", "parent"),
    }
    for name, read in readings.items():
        yield f"{name} by parents", read, lambda a, b: a.join(b, a.id == b.parent).select(a.id, b.s)
        yield f"{name} by order", read, lambda a, b: a.join(b, a.id < b.id, "left").where(b.id.isNull()).select(a.s)
        yield f"{name} crossed", read, lambda a, b: a.crossJoin(b).drop(b.id).select("id", b.s)
        yield f"{name} by name", read, lambda a, b: a.join(b, "id").select("id", a.s, b.parent)
        yield f"{name} in one", read, lambda a, b: a.select(b.id)
    files: Callable[[], Any] = lambda: spark.table(f"{table}.files")  # noqa: E731
    yield "files", files, lambda a, b: a.join(b, a.file_path == b.file_path).select(a.content, b.spec_id)


def _names(spark: Any, table: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name in ("t", table.partition(".")[2], table):
        yield f"columns of {name}", partial(lambda name: spark.table(table).select(f"{name}.id", f"{name}.*"), name)
        yield (
            f"read columns of {name}",
            partial(lambda name: spark.read.option("split-size", "100").table(table).select(f"{name}.id"), name),
        )
    yield "files' columns", lambda: spark.table(f"{table}.files").select("files.content", f"{table}.files.spec_id")
    yield "branch's columns", lambda: spark.table(f"{table}.branch_main").select("branch_main.id", f"{table}.branch_main.s")
    yield "another's columns", lambda: spark.table(table).select("u.id")
    itself = lambda a: a.alias("x").join(a.alias("y"), a.id == a.parent).count()  # noqa: E731
    yield "itself", lambda: itself(spark.table(table))
