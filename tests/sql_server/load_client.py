"""A client that sends statements of every kind. Arguments: jdbc or connect, the port, its number, how many.

Prints the number of each insert into the common table that was acknowledged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def jdbc(port: int) -> tuple[Callable[[str], list[Any]], Callable[[], None]]:
    from pyhive import hive

    client = hive.connect("127.0.0.1", port, username="load")

    def run(text: str) -> list[Any]:
        cursor = client.cursor()
        cursor.execute(text)
        rows = list(cursor.fetchall()) if cursor.description else []
        cursor.close()
        return rows

    return run, client.close


def connect(port: int) -> tuple[Callable[[str], list[Any]], Callable[[], None]]:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    return lambda text: list(spark.sql(text).collect()), spark.stop


def statements(number: int, n: int) -> tuple[str, str]:
    """The table ``own`` is the client's, in its current namespace."""
    kinds = (
        ("insert", f"INSERT INTO own VALUES ({n}, 'a'), ({n + 1}, 'b')"),
        ("common", f"INSERT INTO local.load.common VALUES ({number}, {n})"),
        ("select", "SELECT count(*), max(id) FROM own WHERE id >= 0"),
        ("merge", f"MERGE INTO own AS t USING (SELECT {n} AS id, 'm' AS s) AS u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = u.s "
         "WHEN NOT MATCHED THEN INSERT *"),
        ("metadata", f"SELECT count(*) FROM local.load_{number}.own.snapshots"),
        ("view", "CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT * FROM own WHERE s = 'm'"),
        ("seen", "SELECT count(*) FROM seen"),
        ("common", f"INSERT INTO local.load.common VALUES ({number}, {n})"),
        ("delete", f"DELETE FROM own WHERE id = {n - 8}"),
        ("call", f"CALL local.system.rewrite_manifests('load_{number}.own')"),
    )  # fmt: skip
    return kinds[n % len(kinds)]


def main(kind: str, port: int, number: int, count: int) -> None:
    run, close = {"jdbc": jdbc, "connect": connect}[kind](port)
    for text in (
        f"CREATE NAMESPACE IF NOT EXISTS local.load_{number}",
        f"USE local.load_{number}",
        "CREATE TABLE IF NOT EXISTS own (id INT, s STRING)",
        "CREATE OR REPLACE TEMPORARY VIEW seen AS SELECT * FROM own",
    ):
        run(text)
    for n in range(count):
        what, text = statements(number, n)
        rows = run(text)
        if what == "common":
            print(n, flush=True)
        elif what == "metadata":
            assert rows[0][0] > 0
    current = run("SHOW CURRENT NAMESPACE")
    assert [list(row) for row in current] == [["local", f"load_{number}"]], current
    close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
