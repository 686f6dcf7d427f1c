"""``python -m tests.sql.histories.more FIRST LAST [STEPS]``: as many histories as wanted, each failure printed with its statements."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time


def main(first: int, last: int, steps: int) -> int:
    """The number of histories that went wrong."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    import icesql
    from tests.conftest import SPARK_CONF
    from tests.sql.histories.running import run_history

    logging.disable(logging.CRITICAL)
    builder = SparkSession.builder.master("local[2]").appName("histories")
    for key, value in SPARK_CONF.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    wrong, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as warehouse:
        session = icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": warehouse}})
        session.sql("CREATE NAMESPACE local.histories")
        for seed in range(first, last):
            try:
                run_history(session, seed, "local.histories", steps)
            except AssertionError as error:
                wrong += 1
                print(error, end="\n\n", flush=True)
    print(f"{wrong} of {last - first} wrong, {time.monotonic() - began:.0f} s")
    spark.stop()
    return wrong


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(1 if main(numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 6) else 0)
