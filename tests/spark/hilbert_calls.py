"""What the oracle process runs for the test of the Hilbert curve."""

from __future__ import annotations

from typing import Any


def hilbert_indexes(spark: Any, points: list[list[int]]) -> list[bytes]:
    """The place of each point as Iceberg's runtime has it, from axes of 64 bits."""
    gateway, jvm = spark.sparkContext._gateway, spark._jvm
    found = []
    for point in points:
        axes = gateway.new_array(gateway.jvm.byte, len(point), 8)
        for place, number in enumerate(point):
            axes[place] = number.to_bytes(8, "big")
        found.append(bytes(jvm.org.apache.iceberg.util.HilbertByteUtils.hilbertIndex(axes, 64)))
    return found
