"""Iceberg's SQL on stock PySpark: ``pip install icesql``, no JAR.

Everything public is imported on first use, so ``import icesql`` costs next to nothing and never starts Spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the types that an editor shows; at run time __getattr__ imports each name on first use
    from icesql.catalog.commit_files import commit_files as commit_files
    from icesql.magic import load_ipython_extension as load_ipython_extension
    from icesql.magic import unload_ipython_extension as unload_ipython_extension
    from icesql.session import Session as Session
    from icesql.session import connect as connect
    from icesql.session.dataframe_api.enable import disable as disable
    from icesql.session.dataframe_api.enable import enable as enable
    from icesql.session.light import connect_catalog as connect_catalog

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
