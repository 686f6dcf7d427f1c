"""Iceberg's SQL on stock PySpark: ``pip install icesql``, no JAR.

Everything public is imported on first use, so ``import icesql`` costs next to nothing and never starts Spark. ``__init__.pyi`` tells type
checkers and editors what each name is.
"""

from __future__ import annotations

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
__all__ = [
    "Session",
    "__version__",
    "commit_files",
    "connect",
    "connect_catalog",
    "disable",
    "enable",
    "load_ipython_extension",
    "unload_ipython_extension",
]


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'icesql' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
