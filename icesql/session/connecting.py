"""``icesql.connect``: a session over a Spark session of the user's, or over a local one made here."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.session.own_folder import own_folder, own_folder_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from icesql.session.session import Session

LOOPBACK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
DEFAULTS = {
    **LOOPBACK,
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}


def connect(
    spark: SparkSession | None = None,
    catalogs: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    conf: Mapping[str, Any] | None = None,
    master: str | None = None,
    app_name: str = "icesql",
) -> Session:
    """A session that understands Iceberg's SQL.

    ``spark``: a classic PySpark session, used as it is. Without one, a running session is used and takes the settings of ``conf`` that can
    still be set, a warning names the others; else a local one is started with ``conf`` and ``master`` (default ``local[*]``).
    ``catalogs``: configurations by name, beside those in Spark's conf and the environment; with none anywhere there is the embedded
    catalog ``local`` in ``./warehouse``.
    Raises InvalidArgumentError for an option that cannot be had, IcesqlError when Java is missing.
    """
    from icesql.session.session import Session

    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)  # said at each start
    if spark is not None and (conf or master):
        raise InvalidArgumentError("Cannot connect: conf and master belong to a session that is made here, but one was given")
    if spark is None:
        spark = running_session()
        if spark is None:
            spark = start_spark(conf or {}, master=master, app_name=app_name)
        else:
            apply_settings(spark, conf or {}, master=master)
    from icesql.spark.jvm.spark_session import is_classic

    if not is_classic(spark):
        raise UnsupportedError("Cannot connect: icesql needs a classic Spark session, not Spark Connect")
    return Session(spark, catalogs)


def running_session() -> SparkSession | None:
    if "pyspark" not in sys.modules:
        return None
    from pyspark.sql import SparkSession

    session: SparkSession | None = SparkSession.getActiveSession()
    return session


def apply_settings(spark: SparkSession, conf: Mapping[str, Any], *, master: str | None = None) -> None:
    """Set what a running session lets one set. What is fixed since its start, and is not what was asked for, is named in a UserWarning."""
    from pyspark.errors import AnalysisException

    fixed = [] if master in (None, spark.sparkContext.master) else [f"master={master}"]
    for key, value in conf.items():
        wanted = _setting(value)
        if spark.conf.get(key, None) == wanted:
            continue
        if key.startswith("spark.") and not key.startswith("spark.sql."):  # Spark would take some of these, to no effect
            fixed.append(f"{key}={wanted}")
            continue
        try:
            spark.conf.set(key, wanted)
        except AnalysisException:
            fixed.append(f"{key}={wanted}")
    if fixed:
        why = "a Spark session is running already, and these are fixed when it starts"
        warnings.warn(f"Cannot apply settings: {why}: {', '.join(fixed)}. Stop it first: spark.stop()", stacklevel=3)


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _import_ahead() -> threading.Thread:
    """Import in a thread what the first statement needs, while Java starts.

    Starting Java forks, and a module that registers hooks with ``before`` and ``after_in_parent`` in the midst of a fork has the second one
    run without the first: Python then prints "RuntimeError: release unlocked lock". So such modules are imported before the thread starts.
    """
    importlib.import_module("concurrent.futures.thread")
    thread = threading.Thread(target=importlib.import_module, args=("icesql.session.run_text",), daemon=True)
    thread.start()
    return thread


def start_spark(conf: Mapping[str, Any], *, master: str | None = None, app_name: str = "icesql") -> SparkSession:
    """A local Spark session with sensible settings; ``conf`` and SPARK_CONF_DIR override them.

    Raises IcesqlError without Java 17 or newer, of the system or from pip.
    """
    from icesql.spark.launch.java import pip_java

    home = pip_java()
    from pyspark.sql import SparkSession

    _import_ahead()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(app_name)
    settings = {key: _setting(value) for key, value in {**_folders(), **DEFAULTS, **conf}.items()}
    if master is not None or "spark.master" not in conf:
        settings["spark.master"] = master or os.environ.get("MASTER", "local[*]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    quiet_pyspark()
    if home is not None:
        from icesql.spark.launch import pip_gateway

        pip_gateway.start_gateway(home, settings)
    else:
        from icesql.spark.launch import quiet_gateway

        quiet_gateway.start_gateway({"spark.app.name": app_name, **settings})
    session: SparkSession = builder.getOrCreate()
    return session


def quiet_pyspark() -> None:
    """PySpark logs as JSON what it raises as well."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)


def _folders() -> dict[str, str]:
    """Spark's own tables and Derby's log out of the way of the working folder."""
    scratch = own_folder_path()
    with contextlib.suppress(OSError):  # Spark says so itself where it needs the folder
        own_folder()
    options = [f"-Dderby.system.home={scratch / 'derby'}", *quiet_log()]
    return {"spark.sql.warehouse.dir": str(scratch / "spark-warehouse"), "spark.driver.extraJavaOptions": " ".join(options)}


def quiet_log() -> list[str]:
    """Options of Java for a quiet log, unless SPARK_CONF_DIR has settings for it."""
    settings = os.environ.get("SPARK_CONF_DIR")
    if settings is not None and (Path(settings) / "log4j2.properties").exists():
        return []
    return [f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"]
