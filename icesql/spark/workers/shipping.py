"""icesql's own code for Python workers, and the interpreter that they run: settled before the first job of ours.

In ``local`` mode workers that run the driver's interpreter find what the driver finds. All others get one zip with the first write or
fallback read, and are asked whether they can run it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import struct
import sys
import tempfile
import threading
import weakref
import zipfile
from importlib.metadata import files
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession

from icesql.errors import UnsupportedError
from icesql.io.avro.library import SHIPPED

_shipped: weakref.WeakSet[SparkContext] = weakref.WeakSet()
_lock = threading.Lock()
_HEADER_BYTES = 16  # of a compiled module: the version's number, flags, and the source's time and length or its hash (PEP 552)
_HASHED_UNCHECKED = 1
_ROOMS = ("spec", "expr", "io", "table", "catalog", "spark")


def ship(spark: SparkSession) -> None:
    """Make ``import icesql`` work in Python workers. Raises UnsupportedError where they cannot run tasks of ours."""
    context = spark.sparkContext
    with _lock:
        if context in _shipped:
            return
        _choose_interpreter(context)
        is_drivers = _is_drivers(context.pythonExec)
        if not (_IN_DRIVER.fullmatch(context.master) and is_drivers and _is_installed()):
            if not (_HERE.fullmatch(context.master) and is_drivers):
                _check_workers(context)
            context.addPyFile(str(_zip()))
        _shipped.add(context)


_IN_DRIVER = re.compile(r"local(\[[^]]*\])?")
_HERE = re.compile(r"local(-cluster)?(\[[^]]*\])?")


def _choose_interpreter(context: SparkContext) -> None:
    """The driver's for workers on this machine, unless the user has chosen one: PySpark takes the first ``python3`` of the PATH, which is
    another where the driver's environment is not activated (``venv/bin/python job.py``, the kernel of a notebook)."""
    if "PYSPARK_PYTHON" not in os.environ and context.pythonExec == "python3" and _HERE.fullmatch(context.master) and sys.executable:
        context.pythonExec = sys.executable


def _is_drivers(command: str) -> bool:
    """Whether a command is this very interpreter. Environments link to one file, but each from a folder of its own."""
    program = shutil.which(command)
    if program is None or not sys.executable:
        return False
    ours, theirs = Path(sys.executable).absolute(), Path(program).absolute()
    return ours.parent == theirs.parent and ours.resolve() == theirs.resolve()


def _check_workers(context: SparkContext) -> None:
    """Run a task. Raises UnsupportedError, in one sentence, for workers without pyarrow or with another version of Python, and for none."""

    def has_pyarrow(_: int) -> bool:  # within this function, so that it is sent with its code: the worker has no icesql yet
        from importlib.util import find_spec

        return find_spec("pyarrow") is not None

    try:
        has_arrow = context.parallelize([0], 1).map(has_pyarrow).first()
    except Exception as error:
        refusal = _MISMATCH.search(str(error)) or _NO_PROGRAM.search(str(error))
        if refusal is None:
            raise
        why = f"it is Python {refusal[1]}, the driver's is {refusal[2]}" if refusal.re is _MISMATCH else "it is not there"
        raise _unusable(context, why) from None
    if not has_arrow:
        raise _unusable(context, "it has no pyarrow")


_MISMATCH = re.compile(r"in worker has different version: (\S+) than that in driver: (\d+\.\d+)")
_NO_PROGRAM = re.compile(r"Cannot run program \"([^\"]*)\"")


def _unusable(context: SparkContext, why: str) -> UnsupportedError:
    what = "set PYSPARK_PYTHON to one that can be used before Spark starts"
    return UnsupportedError(f"Cannot run tasks in the workers' interpreter: {why}: {context.pythonExec}; {what}")


def _is_installed() -> bool:
    """True if a fresh interpreter finds icesql: workers may start without the hooks of an editable install."""
    import icesql

    return Path(icesql.__file__).parents[1].name in ("site-packages", "dist-packages")


def _zip() -> Path:
    """The rooms that tasks import and fastavro's sources, as a zip named by its contents: Spark takes one file a name."""
    import icesql

    root = Path(icesql.__file__).parent
    modules = sorted({*root.glob("*.py"), *(file for room in _ROOMS for file in (root / room).rglob("*.py"))})
    places = {Path("icesql") / file.relative_to(root): file for file in modules} | _fastavro_sources()
    sources = {path: file.read_bytes() for path, file in places.items()}
    name = hashlib.sha256(b"".join(sources.values())).hexdigest()[:16]
    target = Path(tempfile.mkdtemp(prefix="icesql-")) / f"icesql-{name}.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sources.items():
            archive.writestr(str(path), content)
            compiled = _compiled(places[path], content) if path.suffix == ".py" else None
            if compiled is not None:
                archive.writestr(str(path.with_suffix(".pyc")), compiled)
    return target


def _fastavro_sources() -> dict[Path, Path]:
    """fastavro's Python modules, which do without its compiled ones, and its licence, by their places in the archive."""
    listed = [file for file in files("fastavro") or [] if file.suffix == ".py" or "LICENSE" in file.name]
    return {Path(SHIPPED) / file: Path(str(file.locate())) for file in listed}


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
