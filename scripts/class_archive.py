"""Writes the classes that Spark loads for icesql's SQL to an archive that later JVMs start from (Java's class data sharing).

``python scripts/class_archive.py FILE``. The tests start many JVMs; each spends most of its first seconds on loading and verifying classes.
A JVM that the archive does not fit (another Java, another Spark) leaves it alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

STATEMENTS = """
CREATE NAMESPACE a.db;
CREATE TABLE a.db.t (id BIGINT, s STRING, ts TIMESTAMP) USING iceberg PARTITIONED BY (days(ts));
INSERT INTO a.db.t SELECT id, concat('s', id), timestamp '2024-01-01 00:00:00' + make_interval(0, 0, 0, id % 3) FROM range(10);
MERGE INTO a.db.t USING (SELECT * FROM VALUES (1L, 'x'), (20L, 'y') AS v (id, s)) v ON t.id = v.id
  WHEN MATCHED THEN UPDATE SET s = v.s WHEN NOT MATCHED THEN INSERT (id, s) VALUES (v.id, v.s);
DELETE FROM a.db.t WHERE id = 3;
UPDATE a.db.t SET s = upper(s) WHERE id > 5;
SELECT s, count(*), row_number() OVER (ORDER BY s) FROM a.db.t JOIN range(5) r ON t.id = r.id GROUP BY s ORDER BY 1;
SELECT * FROM a.db.t.files;
SELECT CAST('2024-01-01' AS DATE), array(1, 2), map('a', 1), named_struct('b', 2.5)
"""


def main(archive: Path) -> None:
    os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable -XX:ArchiveClassesAtExit={archive}"
    from pyspark.sql import SparkSession

    import icesql

    with tempfile.TemporaryDirectory() as folder:
        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF").getOrCreate()
        session = icesql.connect(spark, catalogs={"a": {"type": "hadoop", "warehouse": folder}})
        for statement in STATEMENTS.split(";"):
            session.sql(statement).collect()
        java = spark.sparkContext._gateway.proc
        spark.stop()
        java.stdin.close()
        java.wait(120)  # it writes the archive as it ends


if __name__ == "__main__":
    main(Path(sys.argv[1]))
