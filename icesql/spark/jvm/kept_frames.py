"""What Spark keeps in memory of tables (CACHE TABLE, ``cache()``, ``persist()``) and of frames over them."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property

from pyspark.sql import SparkSession

from icesql.errors import IcesqlError
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.paths import hadoop_path


class KeptFrames:
    def __init__(self, spark: SparkSession) -> None:
        self._bridge = bridge_of(spark)

    @cached_property
    def _manager(self) -> JavaObject:
        return self._bridge.session.sharedState().cacheManager()

    def forget_rows(self, location: str) -> None:
        """The table at this location was changed: kept rows of unpinned reads are read anew when they are next asked for.

        Frames with columns that the table lacks now are no longer kept; running them raises.
        """
        if self._manager.isEmpty():
            return
        with suppress(IcesqlError):
            self._manager.recacheByPath(self._bridge.session, hadoop_path(location))
