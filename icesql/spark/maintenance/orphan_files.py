"""Candidates for orphan removal: a location listed by threads or by a Spark job, or a view that the user made of an inventory."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, TimestampType

from icesql.errors import InvalidArgumentError
from icesql.io.storage.files import FileInfo, FileIO
from icesql.spark.workers.shipping import ship
from icesql.table.maintenance.orphan_files import list_in_threads, units_of

MANY_FOLDERS = 256


def listed_files(spark: SparkSession, io: FileIO, location: str) -> list[FileInfo]:
    """All files below a location; a job lists it where it has very many folders."""
    files, folders = units_of(io, location)
    if len(folders) <= MANY_FOLDERS:
        return files + list_in_threads(io, folders)
    ship(spark)
    slices = min(len(folders), max(spark.sparkContext.defaultParallelism, len(folders) // 32))
    others: Sequence[FileInfo] = (
        spark.sparkContext.parallelize(folders, slices).flatMap(lambda folder: list(io.list_files(folder))).collect()
    )
    return [*files, *others]


def files_of_view(spark: SparkSession, view: str, location: str, older_than_ms: int) -> list[str]:
    """Paths in a view (``file_path string, last_modified timestamp``) below the location and older than a time.

    Raises InvalidArgumentError for columns of other types.
    """
    frame = spark.table(view)
    types = {field.name: field.dataType for field in frame.schema.fields}
    for name, wanted, noun in (("file_path", StringType(), "string"), ("last_modified", TimestampType(), "timestamp")):
        if name not in types:
            raise InvalidArgumentError(f"{name} field does not exist in view {view}", view=view)
        if types[name] != wanted:
            raise InvalidArgumentError(f"Invalid {name} column: {type(types[name]).__name__} is not a {noun}", view=view)
    limit = datetime.datetime.fromtimestamp(older_than_ms / 1000, datetime.timezone.utc)
    chosen = frame.where(F.col("file_path").startswith(location) & (F.col("last_modified") < F.lit(limit)))
    return [row[0] for row in chosen.select("file_path").collect()]
