"""Fixtures every tier shares. One Spark session serves the whole run; the oracle (Iceberg's runtime) lives in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.effort import examples

settings.register_profile("icesql", examples(100))  # machines under load are slow, not wrong
settings.load_profile("icesql")

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
# Every JVM of the tests runs many short jobs: in a short run the optimising compiler and parallel collection cost half the processor time.
# Without the optimising compiler Java keeps 48 MB of compiled code only and compiles what it dropped again: it is given its usual room.
LIGHT_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
ARCHIVE = Path(__file__).resolve().parents[1] / ".venv" / "spark-classes.jsa"  # ./dev test makes it: classes are loaded from there at once
if ARCHIVE.exists() and " " not in str(ARCHIVE):
    LIGHT_JAVA += f" -XX:SharedArchiveFile={ARCHIVE} -Xlog:disable"
os.environ.setdefault("SPARK_SUBMIT_OPTS", LIGHT_JAVA)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

SPARK_CONF = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The one Spark session of the run: stock PySpark, two cores, no JAR."""
    from pyspark.sql import SparkSession

    scratch = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.master("local[2]").appName("icesql-tests")
    for key, value in SPARK_CONF.items():
        builder = builder.config(key, value)
    builder = builder.config("spark.sql.warehouse.dir", str(scratch / "spark-warehouse"))
    builder = builder.config("spark.driver.extraJavaOptions", f"-Dderby.system.home={scratch}")
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module", autouse=True)
def no_views_are_left() -> Iterator[None]:
    """A module's temporary views end with it: the next one shares its Spark session."""
    yield
    sql = sys.modules.get("pyspark.sql")
    session = None if sql is None else sql.SparkSession.getActiveSession()
    if session is not None:
        views = session._jsparkSession.sessionState().catalog().listLocalTempViews("*")
        for number in range(views.size()):
            session.catalog.dropTempView(views.apply(number).table())


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Stock Spark with Iceberg's own runtime in a process of its own; its hadoop catalog ``local`` is at ``oracle.warehouse``."""
    from tests.oracle.client import Oracle

    with Oracle(str(tmp_path_factory.mktemp("oracle")), SPARK_CONF) as running:
        yield running
