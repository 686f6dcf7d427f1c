"""Server-side scan planning: plan, ask how far it is, cancel, and fetch further tasks."""

from __future__ import annotations

from concurrent.futures import CancelledError

from starlette.responses import Response

from icesql.server.http.bodies import FetchScanTasks
from icesql.server.http.call import Call, json_answer
from icesql.server.http.delegation import plan_credentials
from icesql.server.http.loading import loaded_version
from icesql.server.http.routing import Route
from icesql.server.problems import problem_of
from icesql.server.scans.part import part_from_text
from icesql.server.scans.planner import PlanBase, TablePlanner
from icesql.server.scans.plans import Plan
from icesql.table.remote_scan.plan_request import plan_request_from_json
from icesql.table.remote_scan.plan_result import PlanFailure, PlanResult, PlanStatus, plan_result_to_json
from icesql.table.remote_scan.scan_tasks import ScanTasks, scan_tasks_to_json


def plan_scan(call: Call) -> Response:
    """The first files at once, or a plan's id where there are more manifests than are planned while the client waits."""
    planner = _planner(call)
    base = planner.base(plan_request_from_json(call.parsed(dict), planner.metadata.schema))
    settings = call.service.settings.planning
    is_submitted = 0 < settings.submit_above_manifests < len(base.data)
    work = (lambda: planner.begin(base)) if is_submitted else None
    scanned = None if is_submitted else planner.begin(base)
    plan_id = call.service.plans.keep(lambda now: _kept(call, base, now), work)
    if scanned is None:
        return json_answer({"status": PlanStatus.SUBMITTED.value, "plan-id": plan_id})
    return _completed(call, planner, base, scanned, plan_id)


def _planner(call: Call) -> TablePlanner:
    metadata = loaded_version(call, call.table).metadata
    return TablePlanner(call.served.io, metadata, call.served.full_name(call.table), call.service.settings.planning.files_per_answer)


def _kept(call: Call, base: PlanBase, now_s: float) -> Plan:
    return Plan(
        table=call.table,
        principal=call.principal.name,
        request=base.request,
        schema_id=base.context.schema.schema_id,
        started_s=now_s,
    )


def _completed(call: Call, planner: TablePlanner, base: PlanBase, scanned: ScanTasks, plan_id: str | None) -> Response:
    credentials = plan_credentials(call, planner.metadata)
    result = PlanResult(status=PlanStatus.COMPLETED, plan_id=plan_id, scanned=scanned, credentials=credentials)
    stats_ids = planner.stats_ids(base.request, base.context.schema)
    return json_answer(plan_result_to_json(result, planner.metadata, stats_ids=stats_ids))


def fetch_plan(call: Call) -> Response:
    """How far a plan is. A completed one is planned again for the answer: manifests do not change."""
    plan = _plan(call)
    if plan.is_cancelled:
        return json_answer({"status": PlanStatus.CANCELLED.value})
    if plan.work is not None and not plan.work.done():
        return json_answer({"status": PlanStatus.SUBMITTED.value})
    planner = _planner(call)
    try:
        base = planner.base(plan.request, plan.schema_id)
        return _completed(call, planner, base, planner.begin(base) if plan.work is None else plan.work.result(), None)
    except CancelledError:
        return json_answer({"status": PlanStatus.CANCELLED.value})
    except Exception as error:
        problem = problem_of(error)
        failure = PlanFailure(message=problem.message, type=problem.type, code=problem.status)
        return json_answer(plan_result_to_json(PlanResult(status=PlanStatus.FAILED, failure=failure), planner.metadata))


def _plan(call: Call) -> Plan:
    return call.service.plans.find(call.path["plan-id"], call.table, call.principal.name)


def cancel_plan(call: Call) -> Response:
    call.service.plans.cancel(_plan(call))
    return Response(status_code=204)


def fetch_tasks(call: Call) -> Response:
    """A further part of a plan. It is planned anew, by whichever process is asked."""
    part = part_from_text(call.parsed(FetchScanTasks).plan_task)
    planner = _planner(call)
    base, scanned = planner.part(part)
    stats_ids = planner.stats_ids(base.request, base.context.schema)
    return json_answer(scan_tasks_to_json(scanned, planner.metadata, stats_ids=stats_ids))


_TABLE = "/v1/{prefix}/namespaces/{namespace}/tables/{table}"
ROUTES = (
    Route(method="POST", path=f"{_TABLE}/plan", function=plan_scan),
    Route(method="GET", path=f"{_TABLE}/plan/{{plan-id}}", function=fetch_plan),
    Route(method="DELETE", path=f"{_TABLE}/plan/{{plan-id}}", function=cancel_plan, status=204),
    Route(method="POST", path=f"{_TABLE}/tasks", function=fetch_tasks),
)
