"""A streaming query from one table to another, one file of the source a micro-batch, that may kill its own process.

Arguments: the folder, and where to stop: ``before:N`` or ``after:N`` (the Nth commit of this run), or ``end`` (when all is read).
Prints ``batch`` when it has committed one.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def dying(commit: Callable[..., Any], moment: str, at: int) -> Callable[..., Any]:
    """``commit`` for a process that is killed when the call with that number begins or has ended."""
    calls = 0

    def wrapped(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if (moment, calls) == ("before", at):
            os.kill(os.getpid(), signal.SIGKILL)
        result = commit(*arguments)
        if (moment, calls) == ("after", at):
            os.kill(os.getpid(), signal.SIGKILL)
        print("batch", flush=True)
        return result

    return wrapped


def main(folder: Path, moment: str, at: int) -> None:
    import icesql
    from icesql.session.run.dml import micro_batch

    catalogs = {"local": {"type": "hadoop", "warehouse": str(folder / "warehouse")}}
    spark = icesql.connect(conf={"spark.log.level": "OFF"}, master="local[2]").spark
    icesql.enable(spark, catalogs)
    micro_batch.commit = dying(micro_batch.commit, moment, at)
    rows = spark.readStream.option("streaming-max-files-per-micro-batch", 1).table("local.db.source")
    query = rows.writeStream.option("checkpointLocation", str(folder / "checkpoint")).toTable("local.db.sink")
    query.processAllAvailable()
    query.stop()


if __name__ == "__main__":
    moment, _, at = sys.argv[2].partition(":")
    main(Path(sys.argv[1]), moment, int(at or 0))
