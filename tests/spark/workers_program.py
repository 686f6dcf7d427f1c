"""A user's own job, run in an environment of which only PATH is left. Prints JSON.

Arguments: the folder of icesql's sources, a folder to work in, and the interpreters to be tried after that of the environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROWS = 600_000  # more than the driver would write itself


def main(folder: Path, others: list[str]) -> dict[str, Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    spark = builder.config("spark.sql.warehouse.dir", str(folder / "spark")).getOrCreate()
    context = spark.sparkContext

    import icesql
    from icesql.spark import shipping

    session = icesql.connect(spark, {"c": {"type": "hadoop", "warehouse": str(folder / "warehouse")}})
    found: dict[str, Any] = {"asked for": context.pythonExec}
    session.sql(f"CREATE TABLE c.db.t TBLPROPERTIES ('write.format.default'='orc') AS SELECT id, id % 3 AS g FROM range({ROWS})")
    found["rows"] = list(session.sql("SELECT count(*), sum(id), count(DISTINCT g) FROM c.db.t").collect()[0])
    found["used"] = context.pythonExec
    found["shipped"] = any(Path(name).name.startswith("icesql-") for name in context._python_includes)
    found["refused"] = []
    for interpreter in others:
        shipping._shipped.clear()
        context.pythonExec = interpreter
        found["refused"].append(refusal(session))
    shipping._shipped.clear()
    context.pythonExec, context.pythonVer = found["used"], "3.99"
    if others:
        found["refused"].append(refusal(session))
    spark.stop()
    return found


def refusal(session: Any) -> str:
    try:
        session.sql(f"CREATE TABLE c.db.refused AS SELECT id, id % 3 AS g FROM range({ROWS})")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "none"


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(main(Path(sys.argv[2]), sys.argv[3:])))
