"""Scans that the server plans, where a table's ``scan-planning-mode`` says ``server``: plan, poll, fetch the parts, cancel what is left."""

from __future__ import annotations

import contextlib
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from icesql.catalog.names import Identifier, dotted
from icesql.catalog.rest import keys
from icesql.catalog.rest.credentials import credential_of
from icesql.catalog.rest.replies import BadReplyError
from icesql.catalog.rest.routes import Route
from icesql.errors import CorruptMetadataError, InvalidArgumentError, NotFoundError, ServiceError, UnsupportedError
from icesql.table.after_commit import tell
from icesql.table.remote_scan.plan_request import PlanRequest, plan_request_to_json
from icesql.table.remote_scan.plan_result import PlanResult, PlanStatus, plan_result_from_json
from icesql.table.remote_scan.planned_files import planned_files
from icesql.table.remote_scan.scan_tasks import ScanTasks, scan_tasks_from_json
from icesql.table.scan.planned import tell_planned

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icesql.catalog.rest.loads import Loads
    from icesql.spec.snapshots import Snapshot
    from icesql.table.scan.planning import PlanContext, PlannedFiles
    from icesql.table.scan.tasks import FileScanTask

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 10.0
_POLL_TIMEOUT_MS = 300_000
_THREADS = 4
_LINEAGE_VERSION = 3


def planning_mode(properties: Mapping[str, str], name: str) -> str:
    """``client`` or ``server``. Raises InvalidArgumentError."""
    mode = properties.get(keys.SCAN_PLANNING_MODE, "client").strip().lower()
    if mode not in ("client", "server"):
        raise InvalidArgumentError(f"Cannot plan scans of {name}: {keys.SCAN_PLANNING_MODE} must be client or server: {mode}")
    return mode


@dataclass(slots=True)
class _Plan:
    """What is known of one plan so far."""

    plan_id: str | None = None
    is_over: bool = False


class ServerPlanner:
    """Implements ``ScanPlanner`` for one table."""

    def __init__(self, loads: Loads, identifier: Identifier) -> None:
        self._loads, self._server, self._identifier = loads, loads.server, identifier
        self._parts: dict[str, Any] = {"namespace": identifier[:-1], "names": {"table": identifier[-1]}}
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"ServerPlanner({dotted(self._identifier)})"

    def plan(self, context: PlanContext, snapshot: Snapshot) -> PlannedFiles | None:
        """``None`` where the scan has to be planned here: the server plans none, or does not know the snapshot or what is asked of it.

        Raises ServiceError where the server fails, CorruptMetadataError for an answer that is none.
        """
        if not self._server.offer.has(Route.PLAN):
            self._tell("the server offers no plans")
            return None
        request = self._request(context, snapshot)
        if request is None:
            return None
        started = time.perf_counter()
        try:
            tasks = self._tasks(request, context)
        except (UnsupportedError, InvalidArgumentError) as error:
            self._tell(str(error))
            return None
        if context.metadata.format_version >= _LINEAGE_VERSION and any(task.data_sequence_number <= 0 for task in tasks):
            self._tell("the server leaves out sequence numbers, which rows of format version 3 show")
            return None
        took_ms = (time.perf_counter() - started) * 1000
        planned = planned_files(context, snapshot, tasks, planner=f"the server of catalog {self._server.name}", planning_ms=took_ms)
        tell_planned(context, planned.report)
        return planned

    def _tell(self, why: str) -> None:
        """The table's configuration asked for plans of the server: the user is told once why there is none."""
        if why not in self._told:
            self._told.add(why)
            tell(f"Scans of {dotted(self._identifier)} are planned here, although {keys.SCAN_PLANNING_MODE} is server: {why}")

    def _request(self, context: PlanContext, snapshot: Snapshot) -> PlanRequest | None:
        """``None`` for a snapshot of a transaction that goes on, and for a schema that is neither the table's nor the snapshot's."""
        held = self._loads.held(self._identifier)
        if held is None or snapshot.snapshot_id not in held.version.metadata.snapshots_by_id:
            return None
        schema_id = context.schema.schema_id
        if schema_id not in (context.metadata.current_schema_id, snapshot.schema_id):
            return None
        return PlanRequest(
            snapshot_id=snapshot.snapshot_id,
            filter=context.filter,
            min_rows_requested=context.limit,
            use_snapshot_schema=schema_id != context.metadata.current_schema_id,
        )

    # -- one plan ------------------------------------------------------------------------------------------------------
    def _tasks(self, request: PlanRequest, context: PlanContext) -> list[FileScanTask]:
        """A plan that the server forgot on the way is asked for once more."""
        try:
            return self._once(request, context)
        except NotFoundError:
            return self._once(request, context)

    def _once(self, request: PlanRequest, context: PlanContext) -> list[FileScanTask]:
        plan = _Plan()
        try:
            result = self._completed(self._begin(request, context, plan), context, plan)
            self._adopt(result, context, plan)
            tasks = self._all_parts(result.scanned, context)
            plan.is_over = True
            return tasks
        finally:
            if not plan.is_over:
                self._cancel(plan)

    def _begin(self, request: PlanRequest, context: PlanContext, plan: _Plan) -> PlanResult:
        doing = f"plan scan of {dotted(self._identifier)}"
        reply = self._server.ask(Route.PLAN, doing, body=plan_request_to_json(request), **self._parts)
        result = self._read(reply.object(), context, doing)
        plan.plan_id = result.plan_id
        return result

    def _read(self, node: dict[str, Any], context: PlanContext, doing: str) -> PlanResult:
        try:
            return plan_result_from_json(node, context.metadata, context.schema, filter=context.filter)
        except CorruptMetadataError as error:
            raise BadReplyError(f"Cannot {doing}: the reply of the server is no plan: {error}") from None

    def _completed(self, result: PlanResult, context: PlanContext, plan: _Plan) -> PlanResult:
        """Asks until the plan is made. Raises ServiceError if it fails, is cancelled, or takes too long."""
        doing = f"plan scan of {dotted(self._identifier)}"
        limit_s = keys.number(self._server.offer.properties, keys.PLAN_POLL_TIMEOUT_MS, _POLL_TIMEOUT_MS) / 1000
        deadline, wait_s = time.monotonic() + limit_s, _FIRST_WAIT_S
        while result.status is PlanStatus.SUBMITTED:
            if plan.plan_id is None:
                raise BadReplyError(f"Cannot {doing}: the server gave no plan-id to ask with")
            if time.monotonic() > deadline:
                raise ServiceError(f"Cannot {doing}: the server has not finished after {limit_s:.0f} s ({keys.PLAN_POLL_TIMEOUT_MS})")
            time.sleep(wait_s * random.uniform(0.75, 1.25))
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
            parts = {**self._parts, "names": {**self._parts["names"], "plan_id": plan.plan_id}}
            reply = self._server.ask(Route.FETCH_PLAN, doing, **parts)
            result = replace(self._read(reply.object(), context, doing), plan_id=plan.plan_id)
        if result.status is PlanStatus.COMPLETED:
            return result
        plan.is_over = True
        why = "it was cancelled" if result.failure is None else self._server.secrets.hide(result.failure.message)
        raise ServiceError(f"Cannot {doing}: the server has not made the plan: {why}")

    def _all_parts(self, first: ScanTasks, context: PlanContext) -> list[FileScanTask]:
        """The tasks, with those of all parts that the server has told of, which may tell of further ones."""
        tasks, waiting = list(first.tasks), list(first.plan_tasks)
        seen = set(waiting)
        with ThreadPoolExecutor(_THREADS, "icesql-plan") as pool:
            while waiting:
                parts = list(pool.map(lambda name: self._part(name, context), waiting))
                waiting = []
                for part in parts:
                    tasks += part.tasks
                    waiting += [name for name in part.plan_tasks if name not in seen]
                    seen.update(part.plan_tasks)
        return tasks

    def _part(self, name: str, context: PlanContext) -> ScanTasks:
        doing = f"fetch scan tasks of {dotted(self._identifier)}"
        reply = self._server.ask(Route.FETCH_TASKS, doing, body={"plan-task": name}, **self._parts)
        try:
            return scan_tasks_from_json(reply.object(), context.metadata, context.schema, filter=context.filter)
        except CorruptMetadataError as error:
            raise BadReplyError(f"Cannot {doing}: the reply of the server has no tasks: {error}") from None

    def _adopt(self, result: PlanResult, context: PlanContext, plan: _Plan) -> None:
        """The plan's credentials open its files from now on."""
        adopt = getattr(context.io, "adopt", None)
        if result.credentials and adopt is not None:
            vended = (credential_of(one.prefix, one.config, self._server.secrets) for one in result.credentials)
            adopt(tuple(vended), plan.plan_id)

    def _cancel(self, plan: _Plan) -> None:
        """Best effort: the server forgets plans by itself."""
        if plan.plan_id is None or not self._server.offer.has(Route.CANCEL_PLAN):
            return
        parts = {**self._parts, "names": {**self._parts["names"], "plan_id": plan.plan_id}}
        with contextlib.suppress(Exception):
            self._server.send(Route.CANCEL_PLAN, f"cancel plan of {dotted(self._identifier)}", **parts)
