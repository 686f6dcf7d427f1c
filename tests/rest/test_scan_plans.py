"""Scans that a server plans are the scans that are planned here: every way in which a plan comes, and every way in which it does not."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import icesql
from icesql.catalog.rest import scan_plans
from icesql.catalog.rest.catalog import RestCatalog
from icesql.errors import InvalidArgumentError, ServiceError
from icesql.expr.tree import Op, Predicate, Reference
from icesql.table.after_commit import telling
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.rest.conftest import open_catalog
from tests.rest.planning_proxy import ROUTES, PlanningProxy
from tests.rest.reference_server import ReferenceServer

pytestmark = pytest.mark.slow
ID_IS_5 = Predicate(Op.EQ, Reference("id"), (5,))


class Heard:
    """A listener for notices."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def committed(self) -> None:
        """Of no interest."""

    def check_wanted(self) -> None:
        """Of no interest."""


@pytest.fixture
def planner(rest_server: ReferenceServer, warehouse: Path) -> Iterator[PlanningProxy]:
    running = PlanningProxy(rest_server.uri)
    yield running
    running.stop()


@pytest.fixture
def planned(planner: PlanningProxy) -> Iterator[RestCatalog]:
    opened = open_catalog(planner.uri, **{"rest-metrics-reporting-enabled": "false"})
    yield opened
    opened.close()


def filled(catalog: RestCatalog, *, version: int = 2) -> Any:
    """Ten files of four partitions; one row deleted by position, so that a file has deletes."""
    table = catalog.create_table(
        "db.t", SCHEMA, spec=BY_ID, properties={"format-version": str(version), "write.delete.mode": "merge-on-read"}
    )
    for number in range(5):
        table.append(rows(2 * number, 2 * number + 1))
    table.delete(Predicate(Op.EQ, Reference("id"), (3,)))
    return table


def ids(table: Any, where: Any = None) -> list[int]:
    return ids_of(table.scan() if where is None else table.scan(where))


def ids_of(scan: Any) -> list[int]:
    return sorted(scan.to_arrow()["id"].to_pylist())


@pytest.mark.parametrize(("version", "how"), [(1, {"polls": 3}), (2, {}), (2, {"polls": 2, "parts": 1}), (3, {"parts": 2})])
def test_plans_of_the_server_are_those_made_here(
    how: dict[str, int], version: int, planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog
) -> None:
    filled(catalog, version=version)
    for key, value in how.items():
        setattr(planner, key, value)
    table, local = planned.load_table("db.t"), catalog.load_table("db.t")
    for where in (None, ID_IS_5, Predicate(Op.LT, Reference("id"), (4,)), Predicate(Op.EQ, Reference("id"), (99,))):
        there = (table.scan() if where is None else table.scan(where)).plan_files()
        here = (local.scan() if where is None else local.scan(where)).plan_files()
        assert there.report.planner == "the server of catalog test"
        assert sorted(there.paths) == sorted(here.paths) and there.total_rows == here.total_rows
        assert {t.file_path: {d.key for d in t.delete_files} for t in there.tasks} == {
            t.file_path: {d.key for d in t.delete_files} for t in here.tasks
        }
        assert {t.file_path: (t.data_sequence_number, t.residual, t.partition) for t in there.tasks} == {
            t.file_path: (t.data_sequence_number, t.residual, t.partition) for t in here.tasks
        }
    assert ids(table) == [0, 1, 2, 4, 5, 6, 7, 8, 9] and ids(table, ID_IS_5) == [5]
    assert planner.cancelled == []
    assert "planned in" in str(there.report) and "by the server of catalog test" in str(there.report)


def test_an_older_snapshot_is_asked_for_by_its_id(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    table = planned.load_table("db.t")
    first = table.snapshots[0]
    assert ids_of(table.scan(snapshot_id=first.snapshot_id)) == [0, 1]
    assert planner.requests[-1]["snapshot-id"] == first.snapshot_id


def test_writes_find_their_rows_by_plans_of_the_server(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    table = planned.load_table("db.t")
    table.delete(ID_IS_5)
    table.append(rows(20))
    assert planner.requests and ids(table) == [0, 1, 2, 4, 6, 7, 8, 9, 20] == ids(catalog.load_table("db.t"))


def test_a_plan_that_the_server_forgot_is_asked_for_again(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.parts, planner.forgets = 3, 1
    assert ids(planned.load_table("db.t")) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert len(planner.requests) == 2 and planner.cancelled == ["plan-1"]


def test_lost_answers_are_asked_for_again(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.polls, planner.parts, planner.loses = 1, 3, 3
    assert ids(planned.load_table("db.t")) == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_a_plan_that_fails_is_an_error_that_says_why(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.fails = True
    with pytest.raises(ServiceError, match=r"Cannot plan scan of db\.t: the server has not made the plan: no room"):
        planned.load_table("db.t").scan().plan_files()


def test_a_plan_that_takes_too_long_is_given_up_and_cancelled(planner: PlanningProxy, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.polls = 1_000
    hasty = open_catalog(planner.uri, **{"rest-scan-planning.poll-timeout-ms": "300"})
    with pytest.raises(ServiceError, match="has not finished after"):
        hasty.load_table("db.t").scan().plan_files()
    assert planner.cancelled == ["plan-1"]


def test_ctrl_c_cancels_the_plan(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.polls = 1_000
    table = planned.load_table("db.t")
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        table.scan().plan_files()
        time.sleep(2)
    assert planner.cancelled == ["plan-1"]


@pytest.mark.parametrize("offered", [[], ROUTES[:1]])
def test_without_an_offer_scans_are_planned_here_and_the_user_is_told_once(
    offered: list[str], planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog
) -> None:
    filled(catalog)
    planner.offered, planner.parts = offered, 2
    table, heard = planned.load_table("db.t"), Heard()
    with telling(heard):
        assert table.scan().plan_files().count == table.scan().plan_files().count == catalog.load_table("db.t").scan().plan_files().count
    assert len(heard.notices) == 1 and "are planned here, although scan-planning-mode is server" in heard.notices[0]


def test_a_server_that_leaves_out_sequence_numbers(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    """They are ours beside the protocol: without them rows of version 3 would show wrong numbers, so that is planned here."""
    filled(catalog, version=3)
    planner.drops = ("data-sequence-number", "file-sequence-number")
    heard = Heard()
    with telling(heard):
        plan = planned.load_table("db.t").scan().plan_files()
    assert plan.report.planner == "" and "sequence numbers" in heard.notices[0]
    assert all(task.data_sequence_number > 0 for task in plan.tasks)


def test_modes(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.mode = "client"
    assert planned.load_table("db.t").scan().plan_files().report.planner == "" and planner.requests == []
    planner.mode = "both"
    planned.loads.forget(("db", "t"))
    with pytest.raises(InvalidArgumentError, match="scan-planning-mode must be client or server: both"):
        planned.load_table("db.t")


def test_the_plans_credentials_open_its_files(planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    table = filled(catalog)
    planner.credentials = [{"prefix": table.location, "config": {"s3.secret-access-key": "of-the-plan", "s3.access-key-id": "plan"}}]
    ours = planned.load_table("db.t")
    assert len(ids(ours)) == 9
    held = next(one for one in ours.io._credentials if one.prefix == table.location)
    assert held.config["s3.secret-access-key"] == "of-the-plan"
    assert "of-the-plan" not in repr(ours.io) + repr(held) and planned.server.secrets.hide("of-the-plan") == "***"


@pytest.mark.spark
def test_sql_asks_the_server(spark: Any, planner: PlanningProxy, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.polls, planner.parts = 1, 3
    session = icesql.connect(spark, catalogs={"lake": {"type": "rest", "uri": planner.uri}})
    assert [row[0] for row in session.sql("SELECT id FROM lake.db.t WHERE id > 2 ORDER BY id").collect()] == [4, 5, 6, 7, 8, 9]
    assert planner.requests[-1]["filter"]["type"] in ("gt", "and")
    assert {report.planner for report in session.last_report} == {"the server of catalog lake"}
    shown = "\n".join(str(row) for row in session.sql("EXPLAIN PRUNING SELECT id FROM lake.db.t WHERE id = 5").collect())
    assert "by the server of catalog lake" in shown
    session.sql("MERGE INTO lake.db.t USING (SELECT 4L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET data = 'm'")
    assert [row[0] for row in session.sql("SELECT data FROM lake.db.t WHERE id = 4").collect()] == ["m"]
    session.sql("USE spark_catalog")


def test_waits_grow(monkeypatch: pytest.MonkeyPatch, planner: PlanningProxy, planned: RestCatalog, catalog: RestCatalog) -> None:
    filled(catalog)
    planner.polls = 4
    table, waits = planned.load_table("db.t"), list[float]()
    clock = SimpleNamespace(sleep=waits.append, monotonic=time.monotonic, perf_counter=time.perf_counter)
    monkeypatch.setattr(scan_plans, "time", clock)
    table.scan().plan_files()
    assert len(waits) == 4 and waits[3] > 3 * waits[0]
