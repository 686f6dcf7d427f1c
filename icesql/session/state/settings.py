"""Settings of a Spark session, each read at most once a statement."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Settings:
    """What is read stays as it is until ``forget``: a statement sees one value of each setting."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._values: dict[str, str | None] = {}
        self._keys: str | None = None

    def value(self, key: str, default: str | None = None) -> str | None:
        """``default`` where the session does not set it."""
        if key not in self._values:
            self._values[key] = self._spark.conf.get(key, None) if self._may_be_set(key) else None
        value = self._values[key]
        return default if value is None else value

    def forget(self) -> None:
        """Spark's settings may have changed: they are read anew."""
        self._values, self._keys = {}, None

    def below(self, prefix: str) -> dict[str, str]:
        """The settings whose keys begin so, by the rest of their keys."""
        if not self._may_be_set(prefix):
            return {}
        return {key[len(prefix) :]: value for key, value in self.all().items() if key.startswith(prefix)}

    def all(self) -> dict[str, str]:
        """Those of the context and of the session, in one call to the JVM."""
        from icesql.spark.jvm.spark_session import all_settings

        return all_settings(self._spark)

    def _may_be_set(self, part: str) -> bool:
        """Whether a key may have this part: one round trip a statement, where most settings that are asked for are not set."""
        if self._keys is None:
            self._keys = str(self._live_keys.toString())
        return part in self._keys

    @cached_property
    def _live_keys(self) -> Any:
        """A view of the session's own keys that shows what is set later."""
        from icesql.spark.jvm.spark_session import setting_keys

        return setting_keys(self._spark)
