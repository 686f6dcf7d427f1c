"""Where files are planned: the session's settings and the table's properties name it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from icesql.table.planning_modes import check_modes

if TYPE_CHECKING:
    from icesql.session.session import Session


def check_planning_modes(session: Session, properties: Mapping[str, str]) -> None:
    """Raises InvalidArgumentError for a mode that Iceberg does not know."""
    check_modes(properties, session.conf)
