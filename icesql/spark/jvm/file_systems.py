"""What Spark itself reads files by: the file systems on its class path, and the sizes of its tasks."""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from icesql.spark.jvm.bridge import bridge_of


def jvm_serves(spark: SparkSession, scheme: str) -> bool:
    """Whether Hadoop in the JVM can open locations of a scheme. Remembered for the session's JVM."""
    bridge = bridge_of(spark)
    return bool(bridge.once(("file system of a scheme", scheme), lambda: _serves(spark, scheme)))


def _serves(spark: SparkSession, scheme: str) -> bool:
    context = spark.sparkContext
    try:
        context._jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass(scheme, context._jsc.hadoopConfiguration())
    except Py4JJavaError:
        return False
    return True


def split_bytes(spark: SparkSession) -> tuple[int, int]:
    """(most, least) bytes of a task: ``spark.sql.files.maxPartitionBytes`` and ``openCostInBytes``."""
    conf = bridge_of(spark).session.sessionState().conf()
    return int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes())
