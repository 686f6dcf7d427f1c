"""Our client on our own server: writes are sent as intents, keys make requests repeatable, tags spare loads."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from icesql.catalog.rest.catalog import RestCatalog
from icesql.catalog.rest.intents import COMMIT_ID
from icesql.errors import CommitStateUnknownError, IcesqlError, ValidationError
from icesql.expr.tree import TRUE, Op, Predicate, Reference
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.rest import proxy as p
from tests.rest.conftest import open_catalog
from tests.rest.proxy import FaultProxy
from tests.rest.test_commit_outcomes import CARRIED_OUT, NOT_CARRIED_OUT, QUICK, is_commit
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("own")) as running:
        yield running


@pytest.fixture
def proxy(process: ServerProcess) -> Iterator[FaultProxy]:
    running = FaultProxy(process.uri)
    yield running
    running.stop()


@pytest.fixture
def namespace(process: ServerProcess, request: pytest.FixtureRequest) -> str:
    name = "".join(letter for letter in request.node.name if letter.isalnum())
    open_catalog(process.uri).create_namespace(name)
    return name


@pytest.fixture
def behind(proxy: FaultProxy) -> Iterator[RestCatalog]:
    opened = open_catalog(proxy.uri, **{"rest.client.socket-timeout-ms": "4000", "rest.client.max-retries": "3"})
    yield opened
    opened.close()


def test_a_write_sends_files_and_no_manifest(behind: RestCatalog, proxy: FaultProxy, namespace: str) -> None:
    table = behind.create_table((namespace, "t"), SCHEMA, spec=BY_ID)
    table.append(rows(1, 2))
    commits = [json.loads(call.body) for call in proxy.seen if is_commit(call)]
    (update,) = commits[-1]["updates"]
    assert (update["action"], update["operation"]) == ("produce-snapshot", "append")
    assert sum(file["record-count"] for file in update["add-data-files"]) == 2
    assert not [key for key in update if "manifest" in key and key != "merge-manifests"]
    table.delete(Predicate(Op.EQ, Reference("id"), (2,)))
    assert table.to_arrow()["id"].to_pylist() == [1]
    assert COMMIT_ID in table.current_snapshot.summary
    table.update_properties().set("k", "v").commit()
    assert behind.load_table((namespace, "t")).properties["k"] == "v"


def test_what_cannot_be_said_as_files_is_built_here(behind: RestCatalog, proxy: FaultProxy, namespace: str) -> None:
    table = behind.create_table((namespace, "t"), SCHEMA)
    for number in (1, 2):
        table.append(rows(number))
    (task,) = table.scan(Predicate(Op.EQ, Reference("id"), (1,))).plan_files().tasks
    table.new_delete().delete_file(task.data_file.file_path).validate_files_exist().commit()
    assert table.to_arrow()["id"].to_pylist() == [2]
    (update,) = [u for u in json.loads([call.body for call in proxy.seen if is_commit(call)][-1])["updates"] if "snapshot" in u]
    assert update["action"] == "add-snapshot"


def test_validations_are_the_servers(behind: RestCatalog, namespace: str) -> None:
    table = behind.create_table((namespace, "t"), SCHEMA)
    table.append(rows(1))
    stale = behind.load_table((namespace, "t"))
    table.append(rows(2))
    overwrite = stale.new_overwrite().overwrite_by_row_filter(TRUE).validate_from_snapshot(stale.current_snapshot.snapshot_id)
    with pytest.raises(ValidationError, match="conflicting files"):
        overwrite.validate_no_conflicting_data().commit()
    assert sorted(table.refresh().to_arrow()["id"].to_pylist()) == [1, 2]


@pytest.mark.parametrize("name", [*CARRIED_OUT, *NOT_CARRIED_OUT])
def test_a_key_makes_every_fault_one_commit(name: str, behind: RestCatalog, proxy: FaultProxy, namespace: str) -> None:
    """With an Idempotency-Key a request may be sent again: also what never arrived is committed, once."""
    table = behind.create_table((namespace, "t"), SCHEMA, properties=QUICK)
    proxy.chosen, proxy.faults = is_commit, [{**CARRIED_OUT, **NOT_CARRIED_OUT}[name]]
    sent = len(proxy.seen)
    try:
        table.append(rows(1))
    except CommitStateUnknownError:
        assert name in ("500 before", "wrong json", "not json"), "500 is not asked again; the others are"
    keys = {{k.lower(): v for k, v in call.headers.items()}.get("idempotency-key") for call in proxy.seen[sent:] if is_commit(call)}
    assert len(keys) == 1 and None not in keys
    assert behind.load_table((namespace, "t")).to_arrow().num_rows == (0 if name == "500 before" else 1)


def test_histories_of_faults_lose_and_double_nothing(behind: RestCatalog, proxy: FaultProxy, namespace: str) -> None:
    draw = random.Random(20261124)
    every = [fault for name, fault in {**CARRIED_OUT, **NOT_CARRIED_OUT}.items() if name != "slow"]
    behind.create_table((namespace, "t"), SCHEMA, properties=QUICK)
    tables = [behind.load_table((namespace, "t")) for _ in range(2)]
    proxy.chosen = is_commit
    acknowledged, unknown = set(), set()
    for number in range(100):
        proxy.faults = [draw.choice(every)] if draw.random() < 0.8 else []
        try:
            draw.choice(tables).append(rows(number))
            acknowledged.add(number)
        except CommitStateUnknownError:
            unknown.add(number)
        except IcesqlError:
            continue
    found = behind.load_table((namespace, "t")).to_arrow()["id"].to_pylist()
    assert len(found) == len(set(found)) and acknowledged <= set(found) <= acknowledged | unknown
    assert len(acknowledged) > 80


def test_a_table_that_has_not_changed_is_not_sent(behind: RestCatalog, proxy: FaultProxy, namespace: str) -> None:
    behind.create_table((namespace, "t"), SCHEMA)
    statuses: list[int] = []

    def noting(call: p.Call) -> tuple[int, dict[str, str], bytes]:
        answer = call.forward()
        statuses.append(answer[0])
        return answer

    proxy.chosen, proxy.faults = (lambda call: call.verb == "GET"), [noting] * 2
    first = behind.load_table((namespace, "t"))
    assert behind.load_table((namespace, "t")).metadata is first.metadata
    assert 304 in statuses
