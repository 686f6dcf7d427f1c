"""Scan reports are handed to whoever listens: a catalog that sends them on (REST metrics)."""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from icesql.table.scan.planning import PlanContext
    from icesql.table.scan.report import ScanReport

logger = logging.getLogger(__name__)


class PlanListener(Protocol):
    def planned(self, context: PlanContext, report: ScanReport) -> None:
        """A scan was planned, in the thread that did. What is raised is logged."""


_listeners: weakref.WeakSet[PlanListener] = weakref.WeakSet()


def listen(listener: PlanListener) -> None:
    """Tell of each planned scan, for as long as someone else holds the listener."""
    _listeners.add(listener)


def tell_planned(context: PlanContext, report: ScanReport) -> None:
    for listener in list(_listeners):
        try:
            listener.planned(context, report)
        except Exception:
            logger.warning("Cannot report a planned scan of %s", context.table_name, exc_info=True)
