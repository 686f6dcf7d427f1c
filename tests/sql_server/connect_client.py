"""A Spark Connect client in a process of its own. Argument: the port. Each line of its input is a statement, or null for a new session; it
answers each with a line: columns, types and rows, or the error."""

from __future__ import annotations

import json
import sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.sql.normal_form import plain

spark = None
for line in sys.stdin:
    text = json.loads(line)
    if text is None:
        if spark is not None:
            spark.stop()
        spark = SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").create()
        answer: dict[str, object] = {}
    else:
        assert spark is not None
        try:
            frame = spark.sql(text)
            rows = [[plain(value) for value in row] for row in frame.collect()]
            answer = {"columns": [[field.name, field.dataType.simpleString()] for field in frame.schema.fields], "rows": rows}
        except PySparkException as error:
            answer = {"error": str(error), "condition": error.getCondition(), "state": error.getSqlState()}
    print(json.dumps(answer), flush=True)
