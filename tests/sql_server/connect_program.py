"""What a Spark Connect client does in the test, in a process of its own. Argument: the port. Prints JSON."""

from __future__ import annotations

import json
import sys

import pyspark
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
assert not inserted.schema.fields and inserted.count() == 0
answers["rows"] = [list(row) for row in spark.sql("SELECT * FROM t ORDER BY id").collect()]
answers["filtered"] = [list(row) for row in spark.sql("SELECT * FROM t WHERE id > 0").where("id = 2").collect()]
if pyspark.__version__.startswith("4.0."):
    try:
        spark.sql("INSERT INTO t VALUES (:id, 'c')", args={"id": 3}).collect()
    except AnalysisException as error:
        answers["parameters"] = str(error).strip().splitlines()[0]
    spark.sql("INSERT INTO t VALUES (3, 'c')").collect()
else:
    named = spark.sql("SELECT p FROM t WHERE id = :id", args={"id": 2}).collect()[0][0]
    placed = spark.sql("SELECT p FROM t WHERE id = ?", args=[1]).collect()[0][0]
    spark.sql("INSERT INTO t VALUES (:id, 'c')", args={"id": 3}).collect()
    answers["parameters"] = named + placed
answers["snapshots"] = spark.sql("SELECT count(*) FROM local.remote.t.snapshots").collect()[0][0]
answers["explained"] = spark.sql("EXPLAIN DELETE FROM t").collect()[0][0].splitlines()[0]
explained = spark.sql("EXPLAIN EXTENDED INSERT INTO t VALUES (9, 'z')").collect()[0][0]
assert "local.remote.t" in explained, explained
assert spark.sql("CALL local.system.ancestors_of('remote.t')").schema.fieldNames() == ["snapshot_id", "timestamp"]
spark.sql("CREATE TEMPORARY VIEW seen AS SELECT * FROM t WHERE id < 3")
answers["view"] = [list(row) for row in spark.sql("SELECT id FROM seen ORDER BY id").collect()]
answers["table"] = [list(row) for row in spark.table("t").where("id > 1").select("p").orderBy("p").collect()]
answers["read"] = [spark.read.table("local.remote.t").count(), spark.read.table("local.remote.t.snapshots").count()]
try:
    spark.range(1).write.saveAsTable("local.remote.other")
except AnalysisException:
    answers["written"] = "refused"
answers["count"] = spark.sql("SELECT count(*) FROM t").collect()[0][0]
try:
    spark.sql("SELECT * FROM nothing_here").collect()
except AnalysisException as error:
    answers["error"] = [error.getCondition(), error.getSqlState(), "py4j" in str(error)]
spark.stop()
print(json.dumps(answers))
