"""Plans by their ids, in the memory of one process: what was asked for, and for a submitted plan the work under way."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from icesql.catalog.names import Identifier
from icesql.server.problems import Problem
from icesql.table.remote_scan.plan_request import PlanRequest
from icesql.table.remote_scan.scan_tasks import ScanTasks

_WORKERS = 2


@dataclass(slots=True, kw_only=True)
class Plan:
    """``request`` names its snapshots, so that it can be planned again. ``work``: ``None`` where the answer was given at once."""

    table: Identifier
    principal: str
    request: PlanRequest
    schema_id: int
    started_s: float
    work: Future[ScanTasks] | None = None
    is_cancelled: bool = False


class Plans:
    """The newest ``most`` plans, each for ``lifetime_s``. Thread safe."""

    def __init__(self, most: int, lifetime_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._lifetime_s, self._clock = most, lifetime_s, clock
        self._plans: OrderedDict[str, Plan] = OrderedDict()
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def keep(self, plan_of: Callable[[float], Plan], work: Callable[[], ScanTasks] | None = None) -> str:
        """The new plan's id. Raises Problem 503 while as many plans are being made as may be kept."""
        plan_id, plan = uuid.uuid4().hex, plan_of(self._clock())
        with self._lock:
            self._forget()
            if len(self._plans) >= self._most:
                raise Problem(503, "ServiceUnavailableException", "The server plans too many scans", {"Retry-After": "5"})
            if work is not None:
                if self._pool is None:
                    self._pool = ThreadPoolExecutor(_WORKERS, "icesql-plans")
                plan.work = self._pool.submit(work)
            self._plans[plan_id] = plan
        return plan_id

    def _forget(self) -> None:
        """Old plans, and the oldest that nobody works on while there are too many."""
        now = self._clock()
        for plan_id in [key for key, plan in self._plans.items() if now - plan.started_s > self._lifetime_s]:
            del self._plans[plan_id]
        if len(self._plans) >= self._most:
            done = (key for key, plan in self._plans.items() if plan.work is None or plan.work.done())
            oldest = next(done, None)
            if oldest is not None:
                del self._plans[oldest]

    def find(self, plan_id: str, table: Identifier, principal: str) -> Plan:
        """Raises Problem 404 for a plan that is not kept, or another's."""
        with self._lock:
            plan = self._plans.get(plan_id)
            if plan is None or plan.table != table or plan.principal != principal or self._clock() - plan.started_s > self._lifetime_s:
                raise Problem(404, "NoSuchPlanIdException", f"Plan does not exist: {plan_id[:100]}")
            return plan

    def cancel(self, plan: Plan) -> None:
        """Work that has not begun does not begin; a plan that is cancelled stays so."""
        if plan.work is not None:
            plan.work.cancel()
        plan.is_cancelled = True

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
