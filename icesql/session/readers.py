"""Which reader (Spark's own or Arrow in tasks) tables at a location get. For the command line, which does not import ``icesql.spark``."""

from __future__ import annotations

from typing import Any

from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.paths import jvm_serves
from icesql.spark.read.readers import ARROW, READER, chosen_reader


def reader_of(spark: Any, scheme: str) -> str:
    """One phrase: Spark's own, or Arrow and why."""
    if scheme != "file" and not jvm_serves(bridge_of(spark), scheme):
        return f"tasks with Arrow: the JVM has no file system for {scheme}"
    return f"tasks with Arrow: {READER} is {ARROW}" if chosen_reader(spark) == ARROW else "Spark's own"
