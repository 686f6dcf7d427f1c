"""Which schemes the JVM has file systems for: those on Spark's class path."""

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
