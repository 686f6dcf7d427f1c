"""File locations as Hadoop names them, and which it can open. Metadata holds a *location*, never percent-decoded; ``Path`` takes its
characters as they are."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge

_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:")
_LOCAL = re.compile(r"^file:/*")


def hadoop_path(location: str) -> str:
    """The text for ``new Path(...)``: a location without a scheme is a local file, whatever ``fs.defaultFS`` says."""
    return location if _SCHEME.match(location) else "file:" + location


def location_key(location: str) -> str:
    """One spelling for each file: ``/x``, ``file:/x`` and ``file:///x`` are the same."""
    local = _LOCAL.match(location)
    return "/" + location[local.end() :] if local else location


def jvm_serves(bridge: Bridge, scheme: str) -> bool:
    """Whether a file system of that scheme is on Spark's class path. Remembered for the session's JVM."""
    return bool(bridge.once(("file system of a scheme", scheme), lambda: _serves(bridge, scheme)))


def _serves(bridge: Bridge, scheme: str) -> bool:
    try:
        bridge.java_class(classes.FILE_SYSTEM).getFileSystemClass(scheme, bridge.state.newHadoopConf())
    except Py4JJavaError:
        return False
    return True


def split_bytes(bridge: Bridge) -> tuple[int, int]:
    """(most, least) bytes of a task: ``spark.sql.files.maxPartitionBytes`` and ``openCostInBytes``."""
    conf = bridge.state.conf()
    return int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes())
