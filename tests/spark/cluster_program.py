"""What the cluster test runs in a process of its own: writes and reads whose tasks run on executors that lack icesql. Prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROWS = 200_000  # more than the driver would write itself


def where_is_icesql(_: int) -> str:
    """Runs in a task: the file icesql was imported from, or what the import said."""
    try:
        import icesql
    except ImportError as error:
        return f"{type(error).__name__}: {error}"
    return str(icesql.__file__)


def absent_modules(_: int) -> list[str]:
    """Runs in a task: which of the driver's other packages it cannot import."""
    import importlib.util

    names = ("icesql", "fastavro", "isal", "backports", "cramjam", "pyroaring", "msgspec", "mmh3", "sqlalchemy", "rich", "typer")
    return [name for name in names if importlib.util.find_spec(name) is None]


def main(warehouse: str) -> dict[str, Any]:
    import icesql

    session = icesql.connect(
        catalogs={"c": {"type": "hadoop", "warehouse": warehouse}},
        master="local-cluster[2,1,1024]",
        conf={
            "spark.driver.memory": "1g",
            "spark.executor.memory": "1g",
            "spark.driver.host": "localhost",
            "spark.sql.shuffle.partitions": 2,
        },
    )
    spark = session.spark

    def on_executors(function: Any) -> Any:
        return spark.sparkContext.parallelize(range(2), 2).map(function).collect()

    found: dict[str, Any] = {"before": on_executors(where_is_icesql), "absent": on_executors(absent_modules)}

    def rows(where: str = "true") -> list[Any]:
        return list(session.sql(f"SELECT count(*), sum(id), sum(v), count(DISTINCT g) FROM c.db.t WHERE {where}").collect()[0])

    session.sql("CREATE NAMESPACE c.db")
    session.sql(
        "CREATE TABLE c.db.t USING iceberg PARTITIONED BY (g) AS "
        f"SELECT id, id % 4 AS g, id * 2 AS v, uuid() AS pad FROM range(0, {ROWS}, 1, 4)"
    )
    found["after"] = on_executors(where_is_icesql)
    found["ctas"] = rows()
    session.sql(f"INSERT INTO c.db.t SELECT id, 4, 1, uuid() FROM range({ROWS}, {2 * ROWS}, 1, 4)")
    found["insert"] = rows()
    session.sql("DELETE FROM c.db.t WHERE g = 1 AND id % 8 = 1")
    found["delete_copy_on_write"] = rows()
    source = f"SELECT id, 7L AS v FROM range({ROWS // 2}, {ROWS * 2 + 1000}, 1, 4)"
    session.sql(
        f"MERGE INTO c.db.t USING ({source}) s ON t.id = s.id WHEN MATCHED AND t.g = 4 THEN UPDATE SET v = s.v "
        "WHEN NOT MATCHED THEN INSERT (id, g, v, pad) VALUES (s.id, 5, s.v, 'new')"
    )
    found["merge_copy_on_write"] = rows()
    modes = ", ".join(f"'write.{verb}.mode' = 'merge-on-read'" for verb in ("delete", "update", "merge"))
    session.sql(f"ALTER TABLE c.db.t SET TBLPROPERTIES ({modes})")
    session.sql("DELETE FROM c.db.t WHERE g = 2 AND id % 16 = 2")
    found["delete_merge_on_read"] = rows()
    session.sql(
        f"MERGE INTO c.db.t USING ({source}) s ON t.id = s.id WHEN MATCHED AND t.g = 5 THEN DELETE "
        "WHEN MATCHED AND t.g = 4 THEN UPDATE SET v = 9"
    )
    found["merge_on_read"] = rows()
    found["deletes"] = session.sql("SELECT count(*) > 0 FROM c.db.t.delete_files").collect()[0][0]
    compacted = session.sql("CALL c.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))").collect()[0]
    found["rewritten"] = [compacted[0] > 0, compacted[1] > 0]
    found["rewrite_data_files"] = rows()
    session.sql("CREATE TABLE c.db.avro (id bigint, g bigint) TBLPROPERTIES ('write.format.default' = 'avro')")
    session.sql(f"INSERT INTO c.db.avro SELECT id, id % 3 FROM range(0, {ROWS * 2}, 1, 4)")
    found["second_path"] = list(session.sql("SELECT count(*), sum(id), sum(g) FROM c.db.avro WHERE id >= 10").collect()[0])
    spark.stop()
    return found


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(sys.argv[1])) + "\n")
    assert Path(sys.argv[1], "db", "t").is_dir()
