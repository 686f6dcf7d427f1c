"""One streaming query, run by whoever has the Spark session: icesql's, or in the oracle process the runtime's."""

from __future__ import annotations

from typing import Any


def run(spark: Any, source: str, sink: str, checkpoint: str, options: dict[str, str], mode: str = "append") -> list[dict[str, Any]]:
    """Append what is new in one table to another, or count the rows of each ``name`` in mode ``complete``. Returns the progress of each
    micro-batch that had rows."""
    rows = spark.readStream.format("iceberg").options(**options).load(source)
    if mode == "complete":
        rows = rows.groupBy("name").count()
    query = rows.writeStream.format("iceberg").outputMode(mode).option("checkpointLocation", checkpoint).toTable(sink)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    return [{"rows": progress["numInputRows"]} for progress in query.recentProgress if progress["numInputRows"]]


def refusal(spark: Any, source: str, sink: str, checkpoint: str, options: dict[str, str], mode: str = "append") -> str:
    """Why the query fails."""
    try:
        run(spark, source, sink, checkpoint, options, mode)
    except Exception as error:
        return str(error)
    return ""
