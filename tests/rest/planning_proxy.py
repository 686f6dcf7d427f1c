"""A proxy that makes plans of scans for a server that makes none: at once or after some polls, whole or in parts, or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from icesql.catalog.loading import load_catalog
from icesql.table.remote_scan.plan_request import plan_request_from_json
from icesql.table.remote_scan.plan_result import PlanFailure, PlanResult, PlanStatus, plan_result_to_json
from icesql.table.remote_scan.scan_tasks import ScanTasks, scan_tasks_to_json
from tests.rest.proxy import FaultProxy

_TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"
ROUTES = [f"POST {_TABLE}/plan", f"GET {_TABLE}/plan/{{plan-id}}", f"DELETE {_TABLE}/plan/{{plan-id}}", f"POST {_TABLE}/tasks"]
Answer = tuple[int, dict[str, str], bytes]


@dataclass
class PlanningProxy(FaultProxy):
    """``polls``: how often a plan is said to be under way. ``parts``: files that each part holds, 0 for whole plans. ``forgets``: how many
    parts are asked for in vain. ``loses``: answers that never arrive. ``drops``: keys left out of each task, as a server does that keeps to
    the specification."""

    mode: str = "server"
    offered: list[str] = field(default_factory=lambda: list(ROUTES))
    polls: int = 0
    parts: int = 0
    forgets: int = 0
    loses: int = 0
    fails: bool = False
    drops: tuple[str, ...] = ()
    credentials: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    _plans: dict[str, tuple[int, Any, Any]] = field(default_factory=dict)
    _held: dict[str, Any] = field(default_factory=dict)

    def answer(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer | None:
        place = path.partition("?")[0]
        if place == "/v1/config":
            return self._changed(super().answer(verb, path, headers, body), self._offer)
        if "/plan" in place or place.endswith("/tasks"):
            with self._lock:
                lost, self.loses = self.loses > 0, self.loses - 1
                planned = self._planning(verb, place, body)
            return None if lost else planned
        answered = super().answer(verb, path, headers, body)
        if "/tables/" in place and verb == "GET":
            return self._changed(answered, lambda node: node.setdefault("config", {}).update({"scan-planning-mode": self.mode}))
        return answered

    @staticmethod
    def _changed(answered: Answer | None, change: Any) -> Answer | None:
        if answered is None or answered[0] != 200:
            return answered
        node = json.loads(answered[2])
        change(node)
        return 200, answered[1], json.dumps(node).encode()

    def _offer(self, node: dict[str, Any]) -> None:
        node["endpoints"] = [*node.get("endpoints", []), *self.offered]

    def _planning(self, verb: str, place: str, body: bytes) -> Answer:
        namespace, table = place.split("/namespaces/")[1].split("/")[0], place.split("/tables/")[1].split("/")[0]
        if verb == "POST" and place.endswith("/plan"):
            return self._plan(f"{namespace}.{table}", json.loads(body))
        if verb == "POST":
            return self._tasks(json.loads(body)["plan-task"])
        plan_id = place.rpartition("/")[2]
        if verb == "DELETE":
            self.cancelled.append(plan_id)
            return 204, {}, b""
        left, result, metadata = self._plans[plan_id]
        self._plans[plan_id] = (left - 1, result, metadata)
        if left > 1:
            result = PlanResult(status=PlanStatus.SUBMITTED, plan_id=plan_id)
        return self._json(self._completed(result, metadata))

    def _plan(self, name: str, node: dict[str, Any]) -> Answer:
        self.requests.append(node)
        plan_id = f"plan-{len(self.requests)}"
        catalog = load_catalog("planner", {"type": "rest", "uri": self.target})
        table = catalog.load_table(name)
        request = plan_request_from_json(node, table.schema)
        tasks = list(table.scan(request.filter, snapshot_id=request.snapshot_id).plan_files().tasks)
        scanned, metadata = ScanTasks(tasks=tuple(tasks)), table.metadata
        if self.parts:
            names = []
            for start in range(0, len(tasks), self.parts):
                names.append(f"{plan_id}/{start}")
                self._held[names[-1]] = (ScanTasks(tasks=tuple(tasks[start : start + self.parts])), metadata)
            scanned = ScanTasks(plan_tasks=tuple(names))
        result = PlanResult(status=PlanStatus.COMPLETED, plan_id=plan_id, scanned=scanned)
        if self.fails:
            result = PlanResult(status=PlanStatus.FAILED, plan_id=plan_id, failure=PlanFailure(message="no room", type="X", code=500))
        self._plans[plan_id] = (self.polls, result, metadata)
        if self.polls:
            result = PlanResult(status=PlanStatus.SUBMITTED, plan_id=plan_id)
        return self._json(self._completed(result, metadata))

    def _completed(self, result: PlanResult, metadata: Any) -> dict[str, Any]:
        node = plan_result_to_json(result, metadata)
        if result.status is PlanStatus.COMPLETED and self.credentials:
            node["storage-credentials"] = list[Any](self.credentials)
        return self._without(node)

    def _without(self, node: dict[str, Any]) -> dict[str, Any]:
        for task in node.get("file-scan-tasks", []):
            for key in self.drops:
                task.pop(key, None)
        return node

    def _tasks(self, name: str) -> Answer:
        if self.forgets > 0:
            self.forgets -= 1
            error = {"error": {"message": f"no such plan task: {name}", "type": "NoSuchPlanTaskException", "code": 404}}
            return 404, {"Content-Type": "application/json"}, json.dumps(error).encode()
        scanned, metadata = self._held[name]
        return self._json(self._without(scan_tasks_to_json(scanned, metadata)))

    @staticmethod
    def _json(node: dict[str, Any]) -> Answer:
        return 200, {"Content-Type": "application/json"}, json.dumps(node).encode()
