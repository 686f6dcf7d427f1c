"""icesql's own code for executors: one zip, added to the Spark context at its first write or second-path read."""

from __future__ import annotations

import hashlib
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
    """True if a fresh interpreter finds icesql: workers may start without the hooks of an editable install."""
    import icesql

    return Path(icesql.__file__).parents[1].name in ("site-packages", "dist-packages")


def _zip() -> Path:
    """The rooms that tasks import, as a zip named by its contents: Spark takes one file a name."""
    import icesql

    root = Path(icesql.__file__).parent
    sources = {Path("icesql") / room / file.name: file.read_bytes() for room in _ROOMS for file in sorted((root / room).glob("*.py"))}
    name = hashlib.sha256(b"".join(sources.values())).hexdigest()[:16]
    target = Path(tempfile.mkdtemp(prefix="icesql-")) / f"icesql-{name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sources.items():
            archive.writestr(str(path), content)
    return target
