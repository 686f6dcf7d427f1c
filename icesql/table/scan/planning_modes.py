"""The settings for where files are planned. ``auto``, ``local`` and ``distributed`` all mean the driver here; other names are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from icesql.errors import InvalidArgumentError
from icesql.spec.properties import DATA_PLANNING_MODE, DELETE_PLANNING_MODE

_MODES = ("auto", "local", "distributed")


def check_modes(properties: Mapping[str, str], setting: Callable[[str], str | None]) -> None:
    """Raises InvalidArgumentError for a mode that Iceberg does not know, read from the settings (by key) or else from the properties."""
    for key in (DATA_PLANNING_MODE, DELETE_PLANNING_MODE):
        mode = setting(f"spark.sql.iceberg.{key.removeprefix('read.')}") or properties.get(key, "auto")
        if mode.lower() not in _MODES:
            raise InvalidArgumentError(f"Unknown planning mode: {mode}", mode=mode)
