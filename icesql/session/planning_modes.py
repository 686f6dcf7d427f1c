"""Where files are planned: ``auto``, ``local`` and ``distributed`` are one thing here, which the driver does; other names are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from icesql.errors import InvalidArgumentError
from icesql.spec.properties import DATA_PLANNING_MODE, DELETE_PLANNING_MODE

if TYPE_CHECKING:
    from icesql.session.session import Session

_MODES = ("auto", "local", "distributed")


def check_planning_modes(session: Session, properties: Mapping[str, str]) -> None:
    """Raises InvalidArgumentError for a mode, of the session's settings or else of the table's properties, that Iceberg does not know."""
    for key in (DATA_PLANNING_MODE, DELETE_PLANNING_MODE):
        mode = session.conf(f"spark.sql.iceberg.{key.removeprefix('read.')}") or properties.get(key, "auto")
        if mode.lower() not in _MODES:
            raise InvalidArgumentError(f"Unknown planning mode: {mode}", mode=mode)
