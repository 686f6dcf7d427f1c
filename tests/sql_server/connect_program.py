"""What a Spark Connect client does in the test, in a process of its own. Argument: the port. Prints JSON."""

from __future__ import annotations

import json
import sys

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").getOrCreate()
answers: dict[str, object] = {}
spark.sql("CREATE NAMESPACE IF NOT EXISTS local.remote")
spark.sql("CREATE TABLE local.remote.t (id INT, p STRING)")
spark.sql("USE local.remote")
inserted = spark.sql("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
inserted.collect()
inserted.collect()
answers["rows"] = [list(row) for row in spark.sql("SELECT * FROM t ORDER BY id").collect()]
answers["filtered"] = [list(row) for row in spark.sql("SELECT * FROM t WHERE id > 0").where("id = 2").collect()]
answers["named"] = spark.sql("SELECT p FROM t WHERE id = :id", args={"id": 2}).collect()[0][0]
spark.sql("INSERT INTO t VALUES (:id, 'c')", args={"id": 3}).collect()
answers["snapshots"] = spark.sql("SELECT count(*) FROM local.remote.t.snapshots").collect()[0][0]
answers["explained"] = spark.sql("EXPLAIN DELETE FROM t").collect()[0][0].splitlines()[0]
answers["count"] = spark.sql("SELECT count(*) FROM t").collect()[0][0]
try:
    spark.sql("SELECT * FROM nothing_here").collect()
except AnalysisException as error:
    answers["error"] = [error.getCondition(), error.getSqlState(), "py4j" in str(error)]
spark.stop()
print(json.dumps(answers))
