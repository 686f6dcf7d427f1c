"""What Spark keeps in memory of tables (CACHE TABLE, ``cache()``, ``persist()``) and of frames over them."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from icesql.errors import IcesqlError
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.paths import hadoop_path


class KeptFrames:
    def __init__(self, spark: SparkSession) -> None:
        self._bridge = bridge_of(spark)

    @cached_property
    def _manager(self) -> Any:
        return self._bridge.session.sharedState().cacheManager()

    def forget_rows(self, location: str) -> None:
        """The table at this location was changed: what is kept of frames that follow it is read anew when it is asked for next.

        Frames whose columns the table has no more are kept no longer; they say why when they are run.
        """
        if self._manager.isEmpty():
            return
        with suppress(IcesqlError):
            self._manager.recacheByPath(self._bridge.session, hadoop_path(location))
