"""Sketches of a large table by a Spark job; each task sketches some files, and the driver unites what they send."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import SparkSession

from icesql.spark.workers.shipping import ship
from icesql.table.maintenance.rewrite_plan import pack
from icesql.table.maintenance.table_statistics import Compute, Sketches, SketchJob, merged, sketch_in_threads
from icesql.table.scan.tasks import FileScanTask

DRIVER_BYTES = 256 << 20
TASK_BYTES = 128 << 20


def sketches_by(spark: SparkSession) -> Compute:
    """How to sketch: in threads here where there is little to read."""

    def compute(job: SketchJob, tasks: Sequence[FileScanTask]) -> Sketches:
        if sum(task.data_file.file_size_in_bytes for task in tasks) <= DRIVER_BYTES:
            return sketch_in_threads(job, tasks)
        ship(spark)
        parts = pack(tasks, lambda task: task.data_file.file_size_in_bytes, TASK_BYTES, len(tasks))
        return merged(job, spark.sparkContext.parallelize(parts, len(parts)).map(job.sketch).collect())

    return compute
