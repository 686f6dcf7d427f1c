"""Reports of scans and commits to the server (``rest-metrics-reporting-enabled``). Spec: ``ReportMetricsRequest``.

They are sent beside the work, in order, and are dropped rather than waited for: a report never fails or delays a statement.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.catalog.names import Identifier
from icesql.catalog.rest import keys
from icesql.catalog.rest.loads import Loads
from icesql.catalog.rest.routes import Route
from icesql.catalog.rest.server import Server
from icesql.errors import IcesqlError
from icesql.expr.expr_json import expression_to_json
from icesql.expr.rewrite import map_leaves, without_patterns
from icesql.expr.tree import BoundReference, Expression, Predicate, Reference
from icesql.spec.snapshots import Snapshot

if TYPE_CHECKING:
    from icesql.table.scan.planning import PlanContext
    from icesql.table.scan.report import ScanReport

logger = logging.getLogger(__name__)

_MOST_WAITING = 100
_IDLE_S = 5.0
_COUNTERS = {
    "result-data-files": "files_planned", "result-delete-files": "delete_files_planned", "total-data-manifests": "manifests_total",
    "total-delete-manifests": "delete_manifests_total", "scanned-data-manifests": "manifests_scanned",
    "skipped-data-manifests": "manifests_skipped_count", "scanned-delete-manifests": "delete_manifests_scanned",
    "skipped-data-files": "files_skipped_count", "equality-delete-files": "equality_delete_files",
    "positional-delete-files": "position_delete_files", "dvs": "deletion_vectors",
}  # fmt: skip
_COMMIT_COUNTERS = {
    "added-data-files": "added-data-files", "removed-data-files": "deleted-data-files", "total-data-files": "total-data-files",
    "added-delete-files": "added-delete-files", "removed-delete-files": "removed-delete-files", "total-delete-files": "total-delete-files",
    "added-records": "added-records", "removed-records": "deleted-records", "total-records": "total-records",
}  # fmt: skip


class Metrics:
    """Thread safe; the thread that sends ends when there has been nothing to send for a while."""

    def __init__(self, server: Server, loads: Loads) -> None:
        self._server, self._loads = server, loads
        self._names: dict[str, Identifier] = {}
        self._waiting: deque[tuple[Identifier, dict[str, Any]]] = deque(maxlen=_MOST_WAITING)
        self._condition = threading.Condition()
        self._sender: threading.Thread | None = None
        self._is_sending = False

    def is_on(self) -> bool:
        """Whether the server takes reports, and the user lets it have them."""
        offer = self._server.offer
        return offer.has(Route.REPORT_METRICS) and keys.flag(offer.properties, keys.METRICS_ENABLED, default=True)

    def know(self, full_name: str, identifier: Identifier) -> None:
        """Scans of the table are reported from now on."""
        self._names[full_name] = identifier

    def planned(self, context: PlanContext, report: ScanReport) -> None:
        identifier = self._names.get(report.table_name)
        held = None if identifier is None else self._loads.held(identifier)
        if identifier is None or held is None or held.version.metadata.table_uuid != context.metadata.table_uuid:
            return  # a table of another catalog of this name
        if report.snapshot_id is None or not self.is_on():
            return
        fields = context.schema.fields
        self._put(identifier, {
            "report-type": "scan-report",
            "table-name": report.table_name,
            "snapshot-id": report.snapshot_id,
            "filter": expression_to_json(without_patterns(without_values(context.filter))),
            "schema-id": context.schema.schema_id,
            "projected-field-ids": [field.id for field in fields],
            "projected-field-names": [field.name for field in fields],
            "metrics": {
                "total-planning-duration": _timer(report.planning_ms),
                "total-file-size-in-bytes": _counter(report.bytes_planned, "bytes"),
                **{key: _counter(getattr(report, name)) for key, name in _COUNTERS.items()},
            },
        })  # fmt: skip

    def committed(self, full_name: str, identifier: Identifier, snapshot: Snapshot, took_ms: float) -> None:
        if not self.is_on():
            return
        summary: Mapping[str, str] = snapshot.summary
        counts = {key: summary[name] for key, name in _COMMIT_COUNTERS.items() if summary.get(name, "").isdecimal()}
        self._put(identifier, {
            "report-type": "commit-report",
            "table-name": full_name,
            "snapshot-id": snapshot.snapshot_id,
            "sequence-number": snapshot.sequence_number,
            "operation": summary.get("operation", "append"),
            "metrics": {"total-duration": _timer(took_ms), "attempts": _counter(1), **{k: _counter(int(v)) for k, v in counts.items()}},
        })  # fmt: skip

    def _put(self, identifier: Identifier, report: dict[str, Any]) -> None:
        with self._condition:
            self._waiting.append((identifier, report))
            if self._sender is None:
                self._sender = threading.Thread(target=self._send_all, name="icesql-metrics", daemon=True)
                self._sender.start()
            self._condition.notify_all()

    def _send_all(self) -> None:
        while True:
            with self._condition:
                if not self._waiting and not self._condition.wait_for(lambda: bool(self._waiting), _IDLE_S):
                    self._sender = None
                    return
                identifier, report = self._waiting.popleft()
                self._is_sending = True
            try:
                self._send(identifier, report)
            finally:
                with self._condition:
                    self._is_sending = False
                    self._condition.notify_all()

    def _send(self, identifier: Identifier, report: dict[str, Any]) -> None:
        try:
            parts = {"namespace": identifier[:-1], "names": {"table": identifier[-1]}, "body": report}
            self._server.ask(Route.REPORT_METRICS, "report metrics", **parts)
        except IcesqlError as error:
            logger.info("Cannot report metrics: %s", error)
        except Exception:
            logger.warning("Cannot report metrics", exc_info=True)

    def flush(self, timeout_s: float = 5.0) -> None:
        """Wait until what waits is sent."""
        with self._condition:
            self._condition.wait_for(lambda: not self._waiting and not self._is_sending, timeout_s)


def _counter(value: int | None, unit: str = "count") -> dict[str, Any]:
    return {"unit": unit, "value": value or 0}


def _timer(milliseconds: float) -> dict[str, Any]:
    return {"count": 1, "time-unit": "nanoseconds", "total-duration": int(milliseconds * 1_000_000)}


def without_values(expression: Expression) -> Expression:
    """The shape of a filter: columns and operators, and of each value only its type. Values may be what nobody should read in a report."""

    def hidden(leaf: Predicate) -> Expression:
        term = Reference(leaf.term.name, leaf.term.transform)
        kind = str(leaf.term.type) if isinstance(leaf.term, BoundReference) else "value"
        return Predicate(leaf.op, term, tuple(f"({kind})" for _ in leaf.literals))

    return map_leaves(expression, hidden)
