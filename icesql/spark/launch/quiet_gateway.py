"""Starts Spark's JVM and reads what it prints: known noise is dropped, and the reason of a failed start becomes the error's message."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from contextlib import suppress

from icesql.errors import IcesqlError

_NOISE = re.compile(rb"WARNING: Using incubator modules: jdk\.incubator\.vector\s*$")
_TOLD_LINES = 4


def start_gateway(conf: Mapping[str, str]) -> None:
    """Start the JVM of Spark as PySpark does, configured by ``conf``. Raises IcesqlError, in one sentence, when it does not start.

    What the JVM prints goes to this process's standard error, but for the noise. Nothing happens where PySpark has a JVM already, or the
    environment names one.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    settings = SparkConf(loadDefaults=False)
    for key, value in conf.items():
        settings.set(key, value)
    printed = [_Printed(1), _Printed(2)]  # a JVM that cannot start says so on its standard output
    try:
        gateway = launch_gateway(settings, {"stdout": printed[0].writing, "stderr": printed[1].writing})
    except PySparkRuntimeError:
        told = "; ".join(text for one in printed if (text := one.reason())) or "it printed nothing"
        raise IcesqlError(f"Cannot start Spark: its JVM ended before it was ready: {told}") from None
    except BaseException:
        for one in printed:
            one.close()
        raise
    for one in printed:
        one.pass_on()
    SparkContext._ensure_initialized(gateway=gateway)


class _Printed:
    """What the JVM writes into ``writing``: kept until it is known whether it has started, then passed on to a descriptor as it comes."""

    def __init__(self, descriptor: int) -> None:
        self._reading, self.writing = os.pipe()
        self._descriptor, self._kept, self._passes = descriptor, b"", False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, name="icesql-jvm-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while data := os.read(self._reading, 65536):
            with self._lock:
                if self._passes:
                    with suppress(OSError):  # nobody reads it any more
                        os.write(self._descriptor, data)
                else:
                    self._kept += data
        os.close(self._reading)

    def close(self) -> None:
        """Our end of the pipe: the JVM keeps its own."""
        os.close(self.writing)

    def pass_on(self) -> None:
        self.close()
        with self._lock:
            lines = self._kept.splitlines(keepends=True)
            os.write(self._descriptor, b"".join(line for line in lines if not _NOISE.match(line)))
            self._kept, self._passes = b"", True

    def reason(self) -> str:
        """The last lines, once the JVM has ended."""
        self.close()
        self._thread.join(10)
        lines = [line.decode(errors="replace").strip() for line in self._kept.splitlines() if not _NOISE.match(line)]
        told = [line for line in lines if line and not line.startswith(("at ", "..."))]
        return "; ".join(told[-_TOLD_LINES:])
