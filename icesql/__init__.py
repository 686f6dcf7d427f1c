"""Iceberg's SQL on stock PySpark: ``pip install icesql``, no JAR.

Everything public is imported on first use, so ``import icesql`` costs next to nothing and never starts Spark.
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
_PUBLIC = {
    "connect": "icesql.session",
    "connect_catalog": "icesql.session.light",
    "commit_files": "icesql.catalog.commit_files",
    "enable": "icesql.session.dataframe_api.enable",
    "disable": "icesql.session.dataframe_api.enable",
    "Session": "icesql.session",
    "load_ipython_extension": "icesql.magic",
    "unload_ipython_extension": "icesql.magic",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'icesql' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
