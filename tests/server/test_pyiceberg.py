"""PyIceberg's REST client on our server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.exceptions import CommitFailedException, NamespaceAlreadyExistsError, NoSuchTableError, TableAlreadyExistsError
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType

from icesql.catalog.loading import load_catalog
from tests.server.process import ServerProcess

pytestmark = [pytest.mark.interop, pytest.mark.slow]
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "data": ["a", "b", "c"]})


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with ServerProcess(tmp_path_factory.mktemp("served")) as process:
        yield process


@pytest.fixture
def catalog(running: ServerProcess, request: pytest.FixtureRequest) -> Any:
    found = RestCatalog("rest", uri=running.uri)
    found.create_namespace(request.node.name)
    return found


def test_rows_go_round(running: ServerProcess, catalog: Any, request: pytest.FixtureRequest) -> None:
    name = (request.node.name, "t")
    table = catalog.create_table(name, ROWS.schema)
    table.append(ROWS)
    table.append(ROWS)
    table.delete("id = 2")
    table.overwrite(ROWS.slice(0, 1), overwrite_filter="id = 3")
    rows = sorted(catalog.load_table(name).scan().to_arrow().column("id").to_pylist())
    ours = load_catalog("local", {"warehouse": str(running.folder / "warehouse")}).load_table(name)
    assert rows == [1, 1, 1] == sorted(ours.scan().to_arrow().column("id").to_pylist())


def test_metadata_evolves(catalog: Any, request: pytest.FixtureRequest) -> None:
    name = (request.node.name, "t")
    table = catalog.create_table(name, ROWS.schema)
    with table.update_schema() as update:
        update.add_column("more", LongType())
    with table.update_spec() as update:
        update.add_field("id", IdentityTransform(), "by_id")
    with table.transaction() as transaction:
        transaction.set_properties(a="1")
        transaction.append(ROWS.append_column("more", pa.array([1, 2, 3], pa.int64())))
    with table.manage_snapshots() as manage:
        manage.create_tag(table.current_snapshot().snapshot_id, "first")
    held = catalog.load_table(name)
    assert [field.name for field in held.spec().fields] == ["by_id"] and held.properties["a"] == "1"
    assert "first" in held.metadata.refs and held.scan().to_arrow().num_rows == 3


def test_names(catalog: Any, request: pytest.FixtureRequest) -> None:
    namespace = request.node.name
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace(namespace)
    catalog.create_table((namespace, "t"), ROWS.schema)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table((namespace, "t"), ROWS.schema)
    catalog.rename_table((namespace, "t"), (namespace, "u"))
    assert catalog.list_tables(namespace) == [(namespace, "u")] and catalog.table_exists((namespace, "u"))
    location = catalog.load_table((namespace, "u")).metadata_location
    catalog.drop_table((namespace, "u"))
    with pytest.raises(NoSuchTableError):
        catalog.load_table((namespace, "u"))
    assert catalog.register_table((namespace, "v"), location).metadata_location == location
    catalog.purge_table((namespace, "v"))
    assert not Path(location).exists()
    catalog.update_namespace_properties(namespace, updates={"a": "1"})
    assert catalog.load_namespace_properties(namespace)["a"] == "1"
    catalog.drop_namespace(namespace)


def test_who_is_late_loses(catalog: Any, request: pytest.FixtureRequest) -> None:
    name = (request.node.name, "t")
    first = catalog.create_table(name, ROWS.schema)
    second = catalog.load_table(name)
    with first.update_schema() as update:
        update.add_column("a", LongType())
    with pytest.raises(CommitFailedException), second.update_schema() as update:
        update.add_column("b", LongType())


def test_a_create_with_rows_is_one_step(catalog: Any, request: pytest.FixtureRequest) -> None:
    name = (request.node.name, "t")
    with catalog.create_table_transaction(name, ROWS.schema) as transaction:
        transaction.append(ROWS)
        assert not catalog.table_exists(name)
    assert catalog.load_table(name).scan().to_arrow().num_rows == 3


def test_the_server_plans(running: ServerProcess, catalog: Any, request: pytest.FixtureRequest) -> None:
    name = (request.node.name, "t")
    table = catalog.create_table(name, ROWS.schema)
    for start in range(3):
        table.append(ROWS.set_column(0, "id", pa.array([start * 10 + number for number in range(3)], pa.int64())))
    planned = RestCatalog("planned", uri=running.uri, **{"scan-planning-mode": "server"})
    assert planned.supports_server_side_planning()
    before = plans_of(running)
    scan = planned.load_table(name).scan(row_filter="id >= 10 and data != 'a'")
    assert len(list(scan.plan_files())) == 2
    assert sorted(scan.to_arrow().column("id").to_pylist()) == [11, 12, 21, 22]
    assert plans_of(running) > before


def plans_of(running: ServerProcess) -> float:
    """How many scans the server has planned."""
    lines = httpx.get(f"{running.uri}/metrics").text.splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("icesql_requests_total{") and '/plan",' in line)
