"""The JVM's thread that waits for a statement of Python's, and the jobs that it starts for it."""

from __future__ import annotations

import uuid

from pyspark.sql import SparkSession

from icesql.spark.jvm.bridge import bridge_of


class WaitingThread:
    """The thread of the JVM that has called this thread: its jobs are tagged from now on, until ``end``."""

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        self._thread = bridge_of(spark).java_class("java.lang.Thread").currentThread()
        self._tag = f"icesql-{uuid.uuid4().hex}"
        self._context.addJobTag(self._tag)

    def is_interrupted(self) -> bool:
        """Servers interrupt it to cancel its statement."""
        return bool(self._thread.isInterrupted())

    def cancel_jobs(self) -> None:
        self._context.cancelJobsWithTag(self._tag)

    def end(self) -> None:
        self._context.removeJobTag(self._tag)
