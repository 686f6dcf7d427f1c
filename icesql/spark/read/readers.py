"""Which of the two readers serves a table: Spark's own, or tasks that read with pyarrow and hand Arrow batches to Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.storage.files import FileIO
from icesql.io.storage.locations import scheme_of
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.paths import jvm_serves
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import OBJECT_STORE_PATH, WRITE_DATA_LOCATION, WRITE_FOLDER_STORAGE_LOCATION

READER = "spark.icesql.read.reader"
AUTO, SPARK, ARROW = "auto", "spark", "arrow"
_DATA_PATHS = (WRITE_DATA_LOCATION, WRITE_FOLDER_STORAGE_LOCATION, OBJECT_STORE_PATH)


def chosen_reader(spark: SparkSession) -> str:
    """The session's ``spark.icesql.read.reader``: ``auto`` (default), ``spark`` or ``arrow``. Raises InvalidArgumentError."""
    value = (spark.conf.get(READER, AUTO) or AUTO).lower()
    if value not in (AUTO, SPARK, ARROW):
        raise InvalidArgumentError(f"Cannot read table: {READER} must be {AUTO}, {SPARK} or {ARROW}: {value}", key=READER)
    return value


def why_arrow(spark: SparkSession, metadata: TableMetadata, io: FileIO) -> str:
    """Why tasks read the table with Arrow: the setting says so, or the JVM has no file system for where its files lie, or not what opens
    them. Else empty.

    Raises UnsupportedError if Spark's reader is asked for and cannot reach them.
    """
    reader = chosen_reader(spark)
    unserved = unserved_scheme(spark, metadata)
    if reader == SPARK and unserved is not None:
        raise UnsupportedError(
            f"Cannot read table with Spark's reader: the JVM has no file system for {unserved}://: {metadata.location}; "
            f"set {READER} to {AUTO}, or put one (hadoop-aws and the like) on Spark's class path"
        )
    if unserved is not None:
        return f"the JVM has no file system for {unserved}"
    if reader == ARROW:
        return f"{READER} is {ARROW}"
    return str(getattr(io, "only_here", "")) if reader == AUTO and not metadata.location.startswith(("/", "file:")) else ""


def unserved_scheme(spark: SparkSession, metadata: TableMetadata) -> str | None:
    """A scheme of the table's location or data folders that the JVM cannot open, ``None`` if it opens all."""
    places = [metadata.location, *(metadata.properties[key] for key in _DATA_PATHS if key in metadata.properties)]
    schemes = {scheme_of(place) for place in places} - {"file"}
    return next((scheme for scheme in sorted(schemes) if not jvm_serves(bridge_of(spark), scheme)), None)
