"""icesql's own code for executors: one zip, added to the Spark context at its first write or second-path read."""

from __future__ import annotations

import importlib.util
import tempfile
import threading
import weakref
import zipfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_shipped: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()
_ROOMS = ("", "spec", "expr", "io", "table", "spark")


def ship(spark: SparkSession) -> None:
    """Make ``import icesql`` work in Python workers. In ``local`` mode they share the driver's installation already."""
    context = spark.sparkContext
    if _is_local(context.master) and _is_installed():
        return
    with _lock:
        if context in _shipped:
            return
        context.addPyFile(str(_zip()))
        _shipped.add(context)


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _is_installed() -> bool:
    """True if a fresh interpreter finds icesql: it lies among the installed packages. Workers may start without the hooks of an editable install."""
    import icesql

    return Path(icesql.__file__).parents[1].name in ("site-packages", "dist-packages")


def _zip() -> Path:
    """The rooms that tasks import, as ``icesql.zip`` in a folder of its own."""
    spec = importlib.util.find_spec("icesql")
    assert spec is not None and spec.origin is not None
    root = Path(spec.origin).parent
    target = Path(tempfile.mkdtemp(prefix="icesql-")) / "icesql.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for room in _ROOMS:
            for source in sorted((root / room).glob("*.py")):
                archive.write(source, Path("icesql") / room / source.name)
    return target
