"""Scans that the server plans: the same files as a client of its own finds, in parts or at once."""

from __future__ import annotations

import base64
import json
import threading
import time
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from icesql.expr.binding import bind
from icesql.expr.tree import And, Op, Predicate, Reference
from icesql.server.http.app import application
from icesql.server.problems import Problem
from icesql.server.scans.part import PlanPart, part_from_text, part_to_text
from icesql.server.scans.plans import Plan, Plans
from icesql.server.service import Service
from icesql.server.settings import Planning, Settings
from icesql.table.remote_scan.plan_request import PlanRequest, plan_request_to_json
from icesql.table.remote_scan.scan_tasks import NO_TASKS, ScanTasks, scan_tasks_from_json
from icesql.table.scan.tasks import FileScanTask
from tests.server.client import BY_ID, Server, data_file, error, written_file
from tests.server.openapi import problems

FILTER = And(Predicate(Op.LT, Reference("id"), (25,)), Predicate(Op.LIKE, Reference("data"), ("row 1%",)))
LOW = {"type": "lt-eq", "term": "id", "value": 20}
PATH = "/v1/namespaces/db/tables/t"


def filled(server: Server, table: Any) -> Server:
    """``db.t`` with six files in three snapshots: ids 0 to 9, 10 to 19, ..."""
    location = table["metadata"]["location"]
    updates = [
        {
            "action": "produce-snapshot",
            "operation": "append",
            "merge-manifests": False,
            "add-data-files": [written_file(location, list(range(start, start + 10)), name=f"f{start}") for start in (first, first + 10)],
        }
        for first in (0, 20, 40)
    ]
    assert server.commit(updates).status_code == 200
    return server


@pytest.fixture
def served(server: Server, table: Any) -> Server:
    return filled(server, table)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For tests that change nothing."""
    for server in of_size(tmp_path_factory.mktemp("fixed")):
        server.post("/v1/namespaces", {"namespace": ["db"]})
        yield filled(server, server.create_table("t"))


def of_size(tmp_path: Path, **planning: Any) -> Iterator[Server]:
    settings = Settings(catalogs={"lake": {"warehouse": str(tmp_path / "warehouse")}}, planning=Planning(**planning))
    service = Service.of(settings, environ={})
    with TestClient(application(service), raise_server_exceptions=False) as client:
        yield Server(client, service)


@pytest.fixture
def small(tmp_path: Path, served: Server) -> Iterator[Server]:
    """Another server of the same catalog, with two files an answer."""
    yield from of_size(tmp_path, files_per_answer=2)


@pytest.fixture
def submitting(tmp_path: Path, served: Server) -> Iterator[Server]:
    yield from of_size(tmp_path, submit_above_manifests=1)


def plan(server: Server, **request: Any) -> Any:
    answer = server.post(f"{PATH}/plan", {key.replace("_", "-"): value for key, value in request.items()})
    assert answer.status_code == 200, answer.text
    assert not problems("PlanTableScanResult", answer.json())
    return answer.json()


def names(node: Any) -> list[str]:
    return [Path(task["data-file"]["file-path"]).stem for task in node.get("file-scan-tasks", [])]


def all_tasks(server: Server, node: Any) -> list[str]:
    """Those of the plan, and of its parts, which may have further parts."""
    found, parts = names(node), list(node.get("plan-tasks", []))
    while parts:
        answer = server.post(f"{PATH}/tasks", {"plan-task": parts.pop(0)})
        assert answer.status_code == 200, answer.text
        assert not problems("ScanTasks", answer.json())
        found += names(answer.json())
        parts = [*answer.json().get("plan-tasks", []), *parts]
    return found


# -- at once -----------------------------------------------------------------------------------------------------------
def test_all_files(fixed: Server) -> None:
    node = plan(fixed)
    assert node["status"] == "completed" and node["plan-id"]
    assert sorted(names(node)) == ["f0", "f10", "f20", "f30", "f40", "f50"]


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ({"type": "lt", "term": "id", "value": 15}, ["f0", "f10"]),
        ({"type": "in", "term": "id", "values": [5, 55]}, ["f0", "f50"]),
        ({"type": "and", "left": {"type": "gt", "term": "id", "value": 15}, "right": LOW}, ["f10", "f20"]),
        ({"type": "eq", "left": {"type": "reference", "id": 1}, "right": {"type": "literal", "value": 31, "data-type": "long"}}, ["f30"]),
        (False, []),
        (True, ["f0", "f10", "f20", "f30", "f40", "f50"]),
        ({"type": "is-null", "term": "id"}, []),
    ],
    ids=str,
)  # fmt: skip
def test_files_that_may_match(fixed: Server, filter_: Any, expected: list[str]) -> None:
    assert sorted(names(plan(fixed, filter=filter_))) == expected


def test_names_without_regard_to_case(fixed: Server) -> None:
    filter_ = {"type": "eq", "term": "ID", "value": 5}
    assert names(plan(fixed, filter=filter_, select=["DATA"], case_sensitive=False)) == ["f0"]
    assert error(fixed.post(f"{PATH}/plan", {"filter": filter_}))[0] == 400


def test_the_residual_is_what_is_left_to_test(fixed: Server) -> None:
    [task] = plan(fixed, filter={"type": "eq", "term": "id", "value": 5})["file-scan-tasks"]
    assert task["residual-filter"] == {"type": "eq", "term": "id", "value": 5}


def test_a_partition_decides(server: Server, table: Any) -> None:
    partitioned: dict[str, Any] = {"partition-spec": BY_ID}
    node = server.create_table("p", **partitioned)
    files = [data_file(node["metadata"]["location"], partition=[value]) for value in (1, 2)]
    server.produce("append", name="p", add_data_files=files)
    answer = server.post("/v1/namespaces/db/tables/p/plan", {"filter": {"type": "eq", "term": "id", "value": 2}}).json()
    assert [task["data-file"]["partition"] for task in answer["file-scan-tasks"]] == [[2]]
    assert answer["file-scan-tasks"][0]["residual-filter"] is True


def test_metrics_of_the_columns_asked_for(fixed: Server) -> None:
    bare = plan(fixed)["file-scan-tasks"][0]["data-file"]
    assert not {"lower-bounds", "value-counts"} & set(bare)
    file = plan(fixed, stats_fields=["id"])["file-scan-tasks"][0]["data-file"]
    assert file["value-counts"] == {"keys": [1], "values": [10]}
    assert file["lower-bounds"]["keys"] == [1]


def test_a_snapshot_and_its_schema(served: Server) -> None:
    first = served.load()["metadata"]["snapshots"][0]["snapshot-id"]
    schema = served.load()["metadata"]["schemas"][0]
    fields = [{**field, "name": "number" if field["id"] == 1 else field["name"]} for field in schema["fields"]]
    renamed = {**schema, "schema-id": 1, "fields": fields}
    served.commit([{"action": "add-schema", "schema": renamed}, {"action": "set-current-schema", "schema-id": -1}])
    by_old, by_new = ({"type": "eq", "term": name, "value": 5} for name in ("id", "number"))
    assert names(plan(served, snapshot_id=first, filter=by_new)) == ["f0"]
    assert names(plan(served, snapshot_id=first, filter=by_old, use_snapshot_schema=True)) == ["f0"]
    assert error(served.post(f"{PATH}/plan", {"snapshot-id": first, "filter": by_old}))[0] == 400


def test_what_appends_added_between_two_snapshots(fixed: Server) -> None:
    ids = [snapshot["snapshot-id"] for snapshot in fixed.load()["metadata"]["snapshots"]]
    assert sorted(names(plan(fixed, start_snapshot_id=ids[0], end_snapshot_id=ids[2]))) == ["f20", "f30", "f40", "f50"]
    assert sorted(names(plan(fixed, end_snapshot_id=ids[0]))) == ["f0", "f10"]
    answer = fixed.post(f"{PATH}/plan", {"start-snapshot-id": ids[2], "end-snapshot-id": ids[0]})
    assert error(answer)[0] == 400


def test_some_rows_are_enough(fixed: Server) -> None:
    assert len(names(plan(fixed, min_rows_requested=15))) == 2
    assert len(names(plan(fixed, min_rows_requested=0))) <= 1


def test_delete_files_are_named_once(served: Server) -> None:
    location = served.load()["metadata"]["location"]
    delete = data_file(location, name="d", content="equality-deletes", equality_ids=[1])
    assert served.produce("overwrite", add_delete_files=[delete]).status_code == 200
    node = plan(served)
    assert [Path(file["file-path"]).stem for file in node["delete-files"]] == ["d"]
    assert all(task["delete-file-references"] == [0] for task in node["file-scan-tasks"])


def test_an_empty_table(server: Server, table: Any) -> None:
    assert plan(server)["file-scan-tasks"] == []


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"snapshot-id": 7},
        {"select": ["nothing"]},
        {"stats-fields": ["nothing"]},
        {"filter": {"type": "eq", "term": "nothing", "value": 1}},
        {"filter": {"type": "eq", "term": "id", "value": "x"}},
        {"filter": {"type": "dance"}},
        {"start-snapshot-id": 1},
        {"start-snapshot-id": 1, "end-snapshot-id": 2},
        {"min-rows-requested": -1},
    ],
    ids=str,
)
def test_what_cannot_be_planned(fixed: Server, body: Any) -> None:
    assert error(fixed.post(f"{PATH}/plan", body))[0] == 400


@pytest.mark.parametrize("depth", [200, 900, 20_000])
def test_a_deep_filter_is_refused_or_planned(fixed: Server, depth: int) -> None:
    text = '{"type":"not","child":' * depth + '{"type":"eq","term":"id","value":5}' + "}" * depth
    answer = fixed.client.post(f"{PATH}/plan", content=f'{{"filter":{text}}}', headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400), answer.text
    assert depth > 200 or answer.status_code == 200


def test_no_such_table(server: Server, table: Any) -> None:
    for path, body in (("plan", {}), ("tasks", {"plan-task": part_to_text(PlanPart(request=PlanRequest(), schema_id=0, first=0, end=1))})):
        assert error(server.post(f"/v1/namespaces/db/tables/nothing/{path}", body))[:2] == (404, "NoSuchTableException")


def test_it_is_advertised(server: Server) -> None:
    endpoints = server.get("/v1/config").json()["endpoints"]
    for route in ("POST {}/plan", "GET {}/plan/{{plan-id}}", "DELETE {}/plan/{{plan-id}}", "POST {}/tasks"):
        assert route.format("/v1/{prefix}/namespaces/{namespace}/tables/{table}") in endpoints


# -- in parts ----------------------------------------------------------------------------------------------------------
def test_parts_are_the_whole(small: Server) -> None:
    node = plan(small)
    assert len(names(node)) == 2 and len(node["plan-tasks"]) == 2
    assert sorted(all_tasks(small, node)) == ["f0", "f10", "f20", "f30", "f40", "f50"]


def test_a_part_of_one_manifest(small: Server) -> None:
    """A manifest with more files than an answer may have."""
    location = small.load()["metadata"]["location"]
    files = [data_file(location, name=f"g{number}") for number in range(7)]
    small.produce("append", add_data_files=files, merge_manifests=False)
    assert sorted(all_tasks(small, plan(small))) == sorted(["f0", "f10", "f20", "f30", "f40", "f50", *(f"g{n}" for n in range(7))])


def test_parts_are_of_the_snapshot_that_was_planned(small: Server) -> None:
    node = plan(small)
    location = small.load()["metadata"]["location"]
    small.produce("append", add_data_files=[data_file(location, name="late")])
    small.produce("delete", delete_row_filter=True)
    assert sorted(all_tasks(small, node)) == ["f0", "f10", "f20", "f30", "f40", "f50"]


def test_parts_outlive_a_change_of_schema(small: Server) -> None:
    node = plan(small, filter={"type": "not-null", "term": "id"})
    schema = small.load()["metadata"]["schemas"][0]
    renamed = {**schema, "schema-id": 1, "fields": [{**field, "name": f"new_{field['name']}"} for field in schema["fields"]]}
    assert small.commit([{"action": "add-schema", "schema": renamed}, {"action": "set-current-schema", "schema-id": -1}]).status_code == 200
    assert len(all_tasks(small, node)) == 6


def test_another_process_answers(small: Server, tmp_path: Path) -> None:
    node = plan(small)
    for other in of_size(tmp_path, files_per_answer=2):
        assert len(all_tasks(other, node)) == 6


@pytest.mark.parametrize(
    "text", ["", "x", "\u00e9", "eJw", "a" * 100_000, part_to_text(PlanPart(request=PlanRequest(), schema_id=99, first=0, end=1))]
)
def test_what_is_no_part(fixed: Server, text: str) -> None:
    assert error(fixed.post(f"{PATH}/tasks", {"plan-task": text}))[:2] == (404, "NoSuchPlanTaskException")


@pytest.mark.parametrize("numbers", [(0, 0), (2, 1), (0, 99), (5, 6)])
def test_a_part_that_is_not_there(fixed: Server, numbers: tuple[int, int]) -> None:
    part = PlanPart(request=PlanRequest(), schema_id=0, first=numbers[0], end=numbers[1])
    assert error(fixed.post(f"{PATH}/tasks", {"plan-task": part_to_text(part)}))[0] == 404


def test_a_part_that_swells(fixed: Server) -> None:
    """A few bytes that inflate to many."""
    bomb = base64.urlsafe_b64encode(zlib.compress(b"[" * 50_000_000)).decode()
    started = time.perf_counter()
    assert error(fixed.post(f"{PATH}/tasks", {"plan-task": bomb}))[0] == 404
    assert time.perf_counter() - started < 5


def test_a_part_comes_back() -> None:
    part = PlanPart(request=PlanRequest(snapshot_id=5, select=("a",)), schema_id=1, first=2, end=3, skip=4)
    assert part_from_text(part_to_text(part)) == part


# -- submitted ---------------------------------------------------------------------------------------------------------
def finished(server: Server, plan_id: str) -> Any:
    for _ in range(500):
        answer = server.get(f"{PATH}/plan/{plan_id}")
        assert answer.status_code == 200 and not problems("FetchPlanningResult", answer.json())
        if answer.json()["status"] != "submitted":
            return answer.json()
        time.sleep(0.01)
    raise AssertionError("the plan does not end")


def test_a_large_plan_is_submitted(submitting: Server) -> None:
    node = plan(submitting)
    assert node == {"status": "submitted", "plan-id": node["plan-id"]}
    assert len(names(finished(submitting, node["plan-id"]))) == 6
    assert len(names(finished(submitting, node["plan-id"]))) == 6


def test_a_small_one_is_not(submitting: Server) -> None:
    node = plan(submitting, snapshot_id=submitting.load()["metadata"]["snapshots"][0]["snapshot-id"])
    assert node["status"] == "completed"
    assert len(names(finished(submitting, node["plan-id"]))) == 2


def test_a_plan_is_cancelled(submitting: Server) -> None:
    plan_id = plan(submitting)["plan-id"]
    assert submitting.client.delete(f"{PATH}/plan/{plan_id}").status_code == 204
    assert submitting.client.delete(f"{PATH}/plan/{plan_id}").status_code == 204
    assert finished(submitting, plan_id)["status"] == "cancelled"


def test_a_plan_that_fails_says_why(submitting: Server) -> None:
    location = Path(submitting.load()["metadata"]["location"])
    node = plan(submitting)
    finished(submitting, node["plan-id"])
    for manifest in (location / "metadata").glob("*-m*.avro"):
        manifest.write_bytes(b"")
    submitting.get(f"{PATH}")
    again = plan(submitting, select=["id"])
    result = finished(submitting, again["plan-id"])
    assert result["status"] in ("failed", "completed")  # completed: the manifests are known from before


def test_plans_are_of_their_table_and_principal() -> None:
    plans = Plans(2, 60)
    made = plans.keep(lambda now: Plan(table=("db", "t"), principal="a", request=PlanRequest(), schema_id=0, started_s=now))
    assert plans.find(made, ("db", "t"), "a").schema_id == 0
    for table, who in ((("db", "u"), "a"), (("db", "t"), "b")):
        with pytest.raises(Problem, match="does not exist"):
            plans.find(made, table, who)


def test_plans_are_forgotten() -> None:
    now = [0.0]
    plans = Plans(2, 60, clock=lambda: now[0])
    first, *_ = (
        plans.keep(lambda at: Plan(table=("t",), principal="", request=PlanRequest(), schema_id=0, started_s=at)) for _ in range(3)
    )
    with pytest.raises(Problem):
        plans.find(first, ("t",), "")
    last = plans.keep(lambda at: Plan(table=("t",), principal="", request=PlanRequest(), schema_id=0, started_s=at))
    now[0] = 61.0
    with pytest.raises(Problem):
        plans.find(last, ("t",), "")


def test_no_more_plans_than_can_be_made() -> None:
    release = threading.Event()
    plans = Plans(1, 60)

    def work() -> ScanTasks:
        release.wait()
        return NO_TASKS

    def keep() -> str:
        plan = partial(Plan, table=("t",), principal="", request=PlanRequest(), schema_id=0)
        return plans.keep(lambda at: plan(started_s=at), work)

    keep()
    with pytest.raises(Problem) as raised:
        keep()
    assert raised.value.status == 503
    release.set()
    plans.close()


# -- the codec of clients ----------------------------------------------------------------------------------------------
def test_a_client_of_ours_reads_the_same_tasks(fixed: Server) -> None:
    metadata = fixed.service.catalogs["lake"].table(("db", "t")).metadata
    scan = fixed.service.catalogs["lake"].catalog.load_table("db.t").scan(FILTER)
    request = plan_request_to_json(PlanRequest(filter=scan.bound_filter))
    answer = fixed.post(f"{PATH}/plan", json.loads(json.dumps(request))).json()
    read: tuple[FileScanTask, ...] = scan_tasks_from_json(answer, metadata, metadata.schema).tasks
    own = list(scan.plan_files().tasks)
    assert [task.file_path for task in read] == [task.file_path for task in own]
    assert [task.data_sequence_number for task in read] == [task.data_sequence_number for task in own]
    assert bind(metadata.schema, read[0].residual) == read[0].residual
