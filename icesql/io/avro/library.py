"""fastavro. Executors that lack it get its Python sources beside icesql's, from the driver (``icesql.spark.workers.shipping``)."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import icesql

SHIPPED = "libraries"
"""The folder of the sources in the archive that executors get, behind all else on the import path."""


def fastavro() -> Any:
    """The package. Raises ImportError."""
    try:
        return importlib.import_module("fastavro")
    except ImportError:
        folder = str(Path(icesql.__file__).parents[1] / SHIPPED)
        if folder in sys.path:
            raise
        sys.path.append(folder)
        return importlib.import_module("fastavro")
