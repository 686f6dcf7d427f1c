"""Spark's JVM as a process that is started here, not by PySpark, with the command that Spark's scripts would run."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from icesql.errors import IcesqlError
from icesql.spark.jvm.classes import LAUNCHER, SPARK_SUBMIT

_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"


def has_gateway() -> bool:
    """Whether PySpark has a JVM already, or the environment names one."""
    from pyspark import SparkContext

    return SparkContext._gateway is not None or _PORT in os.environ


def start_jvm(
    java: str, submitted: Sequence[str], environment: Mapping[str, str], *, without: Sequence[str] = (), **popen: Any
) -> subprocess.Popen[bytes]:
    """Start the JVM and let PySpark connect to it. It ends when its standard input is closed. Raises IcesqlError when it does not start.

    ``submitted``: what ``spark-submit`` would be given, ``pyspark-shell`` the last. ``without``: words of the command to leave out.
    """
    from pyspark import SparkContext
    from pyspark.serializers import UTF8Deserializer, read_int

    with tempfile.TemporaryDirectory(prefix="icesql-gateway-") as folder:
        told = Path(folder) / "connection"
        environment = {**environment, "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)}
        command = [word for word in _command(java, submitted, environment) if word.strip('"') not in without]
        jvm = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, **popen)
        while not told.is_file():
            if jvm.poll() is not None:
                raise IcesqlError(f"Cannot start Spark: its JVM ended with exit code {jvm.returncode}: {java}")
            time.sleep(0.02)
        with told.open("rb") as connection:
            port, secret = read_int(connection), UTF8Deserializer().loads(connection)
    os.environ.update({_PORT: str(port), _SECRET: secret})
    try:
        SparkContext._ensure_initialized()
    finally:
        del os.environ[_PORT], os.environ[_SECRET]
    return jvm


def _command(java: str, submitted: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    from pyspark.find_spark_home import _find_spark_home

    spark_home = _find_spark_home()
    asked = [java, "-Xmx128m", "-cp", str(Path(spark_home) / "jars" / "*"), LAUNCHER, SPARK_SUBMIT, *submitted]
    versions = {"SPARK_HOME": spark_home, "SPARK_SCALA_VERSION": _scala_version(spark_home)}  # what Spark's scripts tell it
    done = subprocess.run(asked, capture_output=True, check=False, env={**versions, **environment})
    if done.returncode != 0:
        raise IcesqlError(f"Cannot start Spark: its launcher failed: {done.stderr.decode(errors='replace').strip()}")
    if os.name == "nt":  # one command line
        return shlex.split(done.stdout.decode().strip(), posix=False)
    return done.stdout.decode().lstrip("\0\r\n").rstrip("\0").split("\0")  # words, each ended by a zero byte; an empty line is before them


def _scala_version(spark_home: str) -> str:
    """``2.13``, by the library that Spark brings."""
    library = next((Path(spark_home) / "jars").glob("scala-library-*.jar"))
    return ".".join(library.stem.removeprefix("scala-library-").split(".")[:2])
