"""Replies that are lost, doubled, late and wrong: what is acknowledged is there once, what is called failed is not there, nor will be."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from icesql.catalog.rest.catalog import RestCatalog
from icesql.errors import AlreadyExistsError, CommitFailedError, CommitStateUnknownError, IcesqlError
from icesql.spec.types import IntegerType
from tests.catalog.tables import SCHEMA, rows
from tests.rest import proxy as p
from tests.rest.proxy import Call, Fault, FaultProxy
from tests.rest.reference_server import ReferenceServer

pytestmark = pytest.mark.slow

QUICK = {"commit.status-check.min-wait-ms": "50", "commit.status-check.num-retries": "2", "commit.retry.min-wait-ms": "1"}
UNKNOWN = (500, 502, 503, 504)
CARRIED_OUT: dict[str, Fault] = {
    "lost reply": p.lost_reply,
    "wrong json": p.wrong_json,
    "not json": p.not_json,
    "slow": p.slow(5),
    "sent twice": p.sent_twice,
    "late": p.late(0.1),
    **{f"{code} after": p.status(code, after=True) for code in UNKNOWN},
}
NOT_CARRIED_OUT: dict[str, Fault] = {
    "never arrives": p.never_arrives,
    **{f"{code} before": p.status(code, after=False) for code in UNKNOWN},
}


def is_commit(call: Call) -> bool:
    return call.verb == "POST" and call.path.rpartition("/")[0].endswith("/tables")


@pytest.mark.parametrize("name", CARRIED_OUT)
def test_a_commit_that_happened_is_told_by_its_snapshot(name: str, behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = is_commit, [CARRIED_OUT[name]]
    table.append(rows(1))
    assert proxy.failures == 1
    assert catalog.load_table("db.t").to_arrow()["id"].to_pylist() == [1]
    assert len(catalog.load_table("db.t").snapshots) == 1
    table.append(rows(2))
    assert sorted(catalog.load_table("db.t").to_arrow()["id"].to_pylist()) == [1, 2]


@pytest.mark.parametrize("name", NOT_CARRIED_OUT)
def test_a_commit_of_which_nothing_shows_is_unknown(name: str, behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = is_commit, [NOT_CARRIED_OUT[name]]
    before = set(Path(table.location).rglob("*.avro"))
    with pytest.raises(CommitStateUnknownError, match="outcome is unknown"):
        table.append(rows(1))
    assert set(Path(table.location).rglob("*.avro")) > before, "what may be part of the table was removed"
    assert catalog.load_table("db.t").to_arrow().num_rows == 0


@pytest.mark.parametrize("name", [name for name in CARRIED_OUT if name != "sent twice"])
def test_a_change_of_metadata_is_told_by_its_effect(name: str, behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = is_commit, [CARRIED_OUT[name]]
    table.update_schema().add_column("extra", IntegerType()).commit()
    assert "extra" in catalog.load_table("db.t").schema.ids_by_name
    proxy.faults = [CARRIED_OUT[name]]
    table.update_properties().set("k", "v").commit()
    assert catalog.load_table("db.t").properties["k"] == "v"


@pytest.mark.parametrize("name", CARRIED_OUT)
def test_a_staged_create_is_told_by_its_uuid(name: str, behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    transaction = behind.stage_create("db.t", SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = is_commit, [CARRIED_OUT[name]]
    version = transaction.commit()
    assert catalog.load_table("db.t").metadata.table_uuid == version.metadata.table_uuid == transaction.metadata.table_uuid


def test_a_create_that_lost_to_another_says_so(behind: RestCatalog, catalog: RestCatalog) -> None:
    transaction = behind.stage_create("db.t", SCHEMA)
    winner = catalog.create_table("db.t", SCHEMA)
    with pytest.raises(AlreadyExistsError):
        transaction.commit()
    assert catalog.load_table("db.t").metadata.table_uuid == winner.metadata.table_uuid


def test_a_server_that_is_not_there_has_changed_nothing(behind: RestCatalog, proxy: FaultProxy, rest_server: ReferenceServer) -> None:
    table = behind.create_table("db.t", SCHEMA, properties={**QUICK, "commit.retry.num-retries": "0"})
    behind.server._http.settings = type(behind.server._http.settings)(max_retries=1)
    address = proxy.uri
    proxy.stop()
    behind.server.close()
    with pytest.raises(IcesqlError, match=f"Cannot reach the catalog's server: {address}") as caught:
        table.append(rows(1))
    assert not isinstance(caught.value, CommitStateUnknownError)


def test_409_is_retried_on_the_newer_version(behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA, properties=QUICK)
    catalog.load_table("db.t").append(rows(1))
    table.append(rows(2))
    assert sorted(catalog.load_table("db.t").to_arrow()["id"].to_pylist()) == [1, 2]
    statuses = [call for call in proxy.seen if is_commit(call)]
    assert len(statuses) == 2, "one conflict, one success"


def test_a_drop_whose_reply_is_lost_is_unknown_and_removes_nothing(behind: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA)
    table.append(rows(1))
    files = [path for path in Path(table.location).rglob("*") if path.is_file()]
    proxy.chosen, proxy.faults = (lambda call: call.verb == "DELETE"), [p.lost_reply]
    with pytest.raises(CommitStateUnknownError):
        behind.drop_table("db.t", purge=True)
    assert all(path.exists() for path in files)


@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_is_obeyed_where_nothing_is_at_stake(code: int, behind: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA, properties=QUICK)
    proxy.chosen = lambda call: call.verb == "GET"
    proxy.faults = [p.status(code, after=False, headers={"Retry-After": "1"})]
    table.refresh()
    assert proxy.failures == 1


def test_a_commit_that_was_not_let_in_is_sent_again(behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = is_commit, [p.status(429, after=False, headers={"Retry-After": "0"})] * 2
    table.append(rows(1))
    assert catalog.load_table("db.t").to_arrow().num_rows == 1


def test_two_tables_whose_reply_is_lost_are_told_by_their_snapshots(behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    for name in "ab":
        behind.create_table(f"db.{name}", SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = (lambda call: call.path.endswith("/transactions/commit")), [p.lost_reply]
    with behind.transaction() as transaction:
        for name in "ab":
            from icesql.table.write.arrow_write import write_rows

            staged = transaction.table(f"db.{name}")
            append = behind.load_table(f"db.{name}").new_append().append_files(write_rows(staged.io, staged.metadata, rows(1)))
            staged.add(append)
    assert [catalog.load_table(f"db.{name}").to_arrow().num_rows for name in "ab"] == [1, 1]


def test_histories_of_faults_lose_and_double_nothing(behind: RestCatalog, catalog: RestCatalog, proxy: FaultProxy) -> None:
    """200 lost, doubled, late and failed requests, by writers who go on: the rows are those acknowledged, and perhaps those unknown."""
    draw = random.Random(20261123)
    every: list[Callable[[Call], object]] = [*CARRIED_OUT.values(), *NOT_CARRIED_OUT.values()]
    every.remove(CARRIED_OUT["slow"])
    catalog.create_table("db.t", SCHEMA, properties=QUICK)
    tables = [behind.load_table("db.t"), behind.load_table("db.t")]
    proxy.chosen = is_commit
    acknowledged, unknown, failed = set(), set(), set()
    for number in range(200):
        proxy.faults = [draw.choice(every)] if draw.random() < 0.8 else []  # type: ignore[list-item]
        try:
            draw.choice(tables).append(rows(number))
            acknowledged.add(number)
        except CommitStateUnknownError:
            unknown.add(number)
        except CommitFailedError:
            failed.add(number)
    found = catalog.load_table("db.t").to_arrow()["id"].to_pylist()
    assert len(found) == len(set(found)), "rows are doubled"
    assert acknowledged <= set(found) <= acknowledged | unknown
    assert not failed & set(found)
    assert proxy.failures > 100
    history = catalog.load_table("db.t").metadata
    numbers = [snapshot.sequence_number for snapshot in history.snapshots]
    assert numbers == list(range(1, len(numbers) + 1))


def test_requests_say_what_changes_and_what_must_hold(behind: RestCatalog, proxy: FaultProxy) -> None:
    table = behind.create_table("db.t", SCHEMA)
    table.append(rows(1))
    proxy.seen.clear()
    table.append(rows(2))
    (call,) = [call for call in proxy.seen if call.verb == "POST" and is_commit(call)]
    body = json.loads(call.body)
    assert [update["action"] for update in body["updates"]] == ["add-snapshot", "set-snapshot-ref"]
    assert [requirement["type"] for requirement in body["requirements"]] == ["assert-table-uuid", "assert-ref-snapshot-id"]
    assert [call.verb for call in proxy.seen if "/metrics" not in call.path] == ["POST"], "an append of a table in hand is one request"
