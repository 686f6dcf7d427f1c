"""A Spark Connect client that interrupts its own statements. Arguments: the port, the folder of the table. Prints JSON."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(f"sc://127.0.0.1:{sys.argv[1]}").getOrCreate()
answers: dict[str, object] = {}


def interrupted(name: str, interrupt: Callable[[], object]) -> None:
    def run() -> None:
        spark.addTag("mine")
        try:
            spark.sql("INSERT INTO local.interrupted.t SELECT id FROM range(0, 300000000000, 1, 2)").collect()
        except Exception as error:
            answers[name] = next((word for word in ("OPERATION_CANCELED",) if word in str(error)), str(error))

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive() and not list(Path(sys.argv[2]).rglob("*.parquet")):
        time.sleep(0.05)
    interrupt()
    thread.join()
    while list(Path(sys.argv[2]).rglob("*.parquet")):
        time.sleep(0.05)


interrupted("all", spark.interruptAll)
interrupted("tag", lambda: spark.interruptTag("mine"))
answers["rows"] = spark.sql("SELECT count(*) FROM local.interrupted.t").collect()[0][0]
answers["snapshots"] = spark.sql("SELECT count(*) FROM local.interrupted.t.snapshots").collect()[0][0]
spark.stop()
print(json.dumps(answers))
