"""Optional libraries (pandas, Polars, DuckDB ...), imported on demand with an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from icesql.errors import UnsupportedError


def optional_module(name: str, method: str) -> Any:
    """Raises UnsupportedError that says how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UnsupportedError(f"Cannot call {method}: {name} is not installed: pip install 'icesql[{name}]'") from None
