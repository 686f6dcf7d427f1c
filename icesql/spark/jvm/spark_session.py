"""A Spark session's own state: its settings, its catalog of views and functions, its file systems."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from icesql.io.lru import LruCache
from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import bridge_of
from icesql.spark.jvm.handles import JavaObject

_REDACTION = ("spark.redaction.regex", "spark.sql.redaction.options.regex")
_redacted: LruCache[tuple[tuple[str, ...], ...], dict[str, str]] = LruCache(256)


def is_classic(spark: object) -> bool:
    """Whether the session has a JVM of its own: one of Spark Connect has none."""
    return hasattr(spark, "_jsparkSession")


def is_stopped(spark: SparkSession) -> bool:
    return spark.sparkContext._jsc is None


def run_sql(spark: SparkSession, text: str) -> DataFrame:
    """``spark.sql(text)`` without the empty map of arguments that PySpark builds in five round trips."""
    return DataFrame(spark._jsparkSession.sql(text), spark)


def check_parses(spark: SparkSession, text: str) -> None:
    """Raises Spark's ParseException for a text that its grammar refuses."""
    _state(spark).sqlParser().parsePlan(text)


# -- settings ----------------------------------------------------------------------------------------------------------
def all_settings(spark: SparkSession) -> dict[str, str]:
    """Those of the context and of the session, in one round trip."""
    entries = _state(spark).conf().getAllConfs().mkString("\0")
    return dict(entry.split(" -> ", 1) for entry in entries.split("\0"))


def setting_keys(spark: SparkSession) -> JavaObject:
    """A JVM set of the keys that the session itself has set; it shows what is set later. ``str`` of it names them all."""
    return _state(spark).conf().settings().keySet()


def system_property(spark: SparkSession, name: str) -> str | None:
    value = bridge_of(spark).java_class("java.lang.System").getProperty(name)
    return None if value is None else str(value)


def redacted(spark: SparkSession, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties as Spark shows them: ``*********(redacted)`` for those whose key or value one of the settings ``_REDACTION`` finds."""
    conf = _state(spark).conf()
    patterns = tuple(str(conf.getConfString(key, "")) for key in _REDACTION)
    return dict(_redacted.find_or_make((patterns, *properties.items()), lambda: _redact(spark, conf, properties)))


def _redact(spark: SparkSession, conf: JavaObject, properties: Mapping[str, str]) -> dict[str, str]:
    if not properties:
        return {}
    shown = conf.redactOptions(bridge_of(spark).scala_map(dict(properties)))
    mark = f"\0{uuid.uuid4().hex}\0"  # occurs in none of them
    return dict(zip(shown.keys().mkString(mark).split(mark), shown.values().mkString(mark).split(mark), strict=True))


# -- the session catalog -----------------------------------------------------------------------------------------------
def session_catalog(spark: SparkSession) -> JavaObject:
    """Spark's ``SessionCatalog``, which keeps temporary views and functions."""
    return _state(spark).catalog()


def has_local_view(catalog: JavaObject, name: str) -> bool:
    """Whether ``session_catalog`` has a local temporary view of that name."""
    return bool(catalog.getTempView(name).isDefined())


def has_temporary_function(spark: SparkSession, name: str) -> bool:
    identifier = bridge_of(spark).java_class(classes.FUNCTION_IDENTIFIER)(name)
    return bool(session_catalog(spark).isTemporaryFunction(identifier))


def has_table(spark: SparkSession, quoted_name: str) -> bool:
    """Whether Spark itself finds a table or view (``global_temp.v`` too) by that name."""
    return bool(spark.catalog._jcatalog.tableExists(quoted_name))


# -- files -------------------------------------------------------------------------------------------------------------
def qualified_path(spark: SparkSession, location: str) -> str:
    """A location with the scheme and authority of the default file system where it has none: ``/data`` -> ``file:/data``."""
    path = bridge_of(spark).java_class(classes.PATH)(location)
    return str(path.getFileSystem(_state(spark).newHadoopConf()).makeQualified(path).toString())


def storage_level(spark: SparkSession, name: str) -> JavaObject:
    """The level of that name, for ``persist``. Raises Spark's error for a name that is no level."""
    return bridge_of(spark).java_class(classes.STORAGE_LEVEL).fromString(name.upper())


def _state(spark: SparkSession) -> JavaObject:
    return spark._jsparkSession.sessionState()


def active_stages(spark: SparkSession) -> JavaObject:
    """A Scala sequence of ``StageData``: what runs now."""
    return spark.sparkContext._jsc.sc().statusStore().activeStages()
