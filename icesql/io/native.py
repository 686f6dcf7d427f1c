"""The native module ``_avro_columns``, or ``None`` where it was not built: without a compiler, or in a zip shipped to executors."""

from __future__ import annotations

import importlib
from typing import Any


def _load() -> Any:
    try:
        return importlib.import_module("icesql.io._avro_columns")
    except ImportError:
        return None


native: Any = _load()
