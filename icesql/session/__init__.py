"""One SQL statement in, one DataFrame out. Names are imported on first use: ``icesql.session.light`` works without pyspark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icesql.session.connecting import connect
    from icesql.session.session import Session

_MODULES = {"connect": "icesql.session.connecting", "Session": "icesql.session.session"}
__all__ = ["Session", "connect"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'icesql.session' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(_MODULES[name]), name)
