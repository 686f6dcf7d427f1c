"""icesql's own code for executors: one zip, added to the Spark context at its first write or second-path read."""

from __future__ import annotations

import hashlib
import struct
import tempfile
import threading
import weakref
import zipfile
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_shipped: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()
_HEADER_BYTES = 16  # of a compiled module: the version's number, flags, and the source's time and length or its hash (PEP 552)
_HASHED_UNCHECKED = 1
_ROOMS = ("spec", "expr", "io", "table", "spark")


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
    modules = sorted({*root.glob("*.py"), *(file for room in _ROOMS for file in (root / room).rglob("*.py"))})
    files = {Path("icesql") / file.relative_to(root): file for file in modules}
    sources = {path: file.read_bytes() for path, file in files.items()}
    name = hashlib.sha256(b"".join(sources.values())).hexdigest()[:16]
    target = Path(tempfile.mkdtemp(prefix="icesql-")) / f"icesql-{name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sources.items():
            archive.writestr(str(path), content)
            compiled = _compiled(files[path], content)
            if compiled is not None:
                archive.writestr(str(path.with_suffix(".pyc")), compiled)
    return target


def _compiled(file: Path, content: bytes) -> bytes | None:
    """What this interpreter keeps of the file, in the form that needs no file beside it; ``None`` if it keeps none of this very file.

    Workers of another version of Python find another number at its start and take the source.
    """
    try:
        kept = Path(cache_from_source(str(file))).read_bytes()
    except (OSError, NotImplementedError):
        return None
    stamp = int(file.stat().st_mtime) & 0xFFFFFFFF, len(content) & 0xFFFFFFFF
    if kept[:_HEADER_BYTES] != MAGIC_NUMBER + struct.pack("<III", 0, *stamp):
        return None
    return MAGIC_NUMBER + struct.pack("<I", _HASHED_UNCHECKED) + source_hash(content) + kept[_HEADER_BYTES:]
