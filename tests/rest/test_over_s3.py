"""Iceberg's own server with its tables in S3: SQL cases, and credentials that end while rows are read and written, in tasks too."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import icesql
from icesql.catalog.rest.vended_io import VendedFileIO
from tests.catalog.tables import SCHEMA, rows
from tests.rest.conftest import open_catalog
from tests.rest.proxy import FaultProxy
from tests.rest.reference_server import ReferenceServer, start_server
from tests.rest.test_cases import is_by_nature
from tests.sql.case_files import Case
from tests.sql.engines import icesql_engine, kept_conf
from tests.sql.running import differences, run_case
from tests.sql.test_recorded_cases import CASES, expected
from tests.stores.proxy import Proxy, proxy
from tests.stores.s3_server import REGION, S3Server, s3_server
from tests.stores.signer import Signer

pytestmark = pytest.mark.slow
SAMPLE = CASES if os.environ.get("ICESQL_ALL_STORE_CASES") else CASES[7::40]
LOCATION = "s3://lake/wh"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        server.new_bucket("lake")
        yield server


@pytest.fixture(scope="module")
def server(s3: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferenceServer]:
    settings = {"warehouse": LOCATION, "io-impl": "org.apache.iceberg.aws.s3.S3FileIO", "client.region": REGION, **s3.properties()}
    running = start_server(tmp_path_factory.mktemp("over-s3") / "server", settings)
    yield running
    running.stop()


# -- SQL ---------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def session(spark: Any, s3: S3Server, server: ReferenceServer) -> Any:
    return icesql.connect(spark, catalogs={"local": {"type": "rest", "uri": server.uri, "warehouse": LOCATION, **s3.properties()}})


@pytest.mark.spark
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.key)
def test_case(case: Case, session: Any, spark: Any, s3: S3Server) -> None:
    with kept_conf(spark):
        found = run_case(case, icesql_engine(session), s3.folder / "data" / "lake" / "wh", LOCATION)
    problems = [problem for problem in differences(expected(case.file)[case.name], found) if not is_by_nature(problem)]
    assert not problems, "\n".join(problems)


# -- credentials that end ------------------------------------------------------------------------------------------------
@dataclass
class Vending(FaultProxy):
    """Gives keys to the store with each table, whose session token says when it ends. ``asked``: how often new ones were asked for."""

    keys: dict[str, str] = field(default_factory=dict)
    lifetime_s: float = 3.0
    asked: int = 0

    def answer(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        place = path.partition("?")[0]
        if place.endswith("/credentials"):
            self.asked += 1
            return 200, {"Content-Type": "application/json"}, json.dumps({"storage-credentials": [self.credential()]}).encode()
        answered = super().answer(verb, path, headers, body)
        if answered is None or answered[0] != 200:
            return answered
        node = json.loads(answered[2]) if answered[2] else {}
        if place == "/v1/config":
            node.setdefault("endpoints", []).append("GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials")
        elif "metadata" in node and "/tables" in place:
            node["storage-credentials"] = [self.credential()]
        return 200, answered[1], json.dumps(node).encode()

    def credential(self) -> dict[str, Any]:
        ends_ms = int((time.time() + self.lifetime_s) * 1000)
        config = {**self.keys, "s3.session-token": f"until-{ends_ms}", "s3.session-token-expires-at-ms": str(ends_ms)}
        return {"prefix": "s3://lake", "config": config}


def is_good(token: str) -> bool:
    return token.startswith("until-") and int(token.partition("-")[2]) > time.time() * 1000


@pytest.fixture
def store(s3: S3Server) -> Iterator[Proxy]:
    """The store, which refuses session tokens that have ended."""
    with proxy(s3.port) as running:
        running.admits, running.resigns = is_good, True
        yield running


@pytest.fixture
def vending(s3: S3Server, server: ReferenceServer, store: Proxy) -> Iterator[Vending]:
    running = Vending(server.uri, keys=s3.properties(store.endpoint))
    yield running
    running.stop()


def test_a_scan_outlives_its_credentials(vending: Vending, store: Proxy) -> None:
    catalog = open_catalog(vending.uri)
    table = catalog.create_table("vended.scan", SCHEMA)
    assert isinstance(table.io, VendedFileIO)
    for number in range(6):
        table.append(rows(number))
    store.latency_s, vending.asked = 0.6, 0
    found = [batch["id"].to_pylist() for batch in catalog.load_table("vended.scan").scan().to_batches()]
    assert sorted(i for ids in found for i in ids) == list(range(6))
    assert vending.asked >= 1 and store.expired == 0


def test_the_same_scan_without_new_credentials_fails(vending: Vending, store: Proxy) -> None:
    """That the store means it."""
    catalog = open_catalog(vending.uri)
    table = catalog.create_table("vended.fails", SCHEMA)
    table.append(rows(1))
    io = catalog.load_table("vended.fails").io
    io._renewal = None
    time.sleep(vending.lifetime_s + 0.2)
    with pytest.raises(OSError, match="the token has expired"):
        table = catalog.load_table("vended.fails")
        io.read(str(table.metadata_location))


@pytest.mark.spark
def test_tasks_outlive_their_credentials(vending: Vending, store: Proxy, spark: Any) -> None:
    """CREATE TABLE AS with files that are written late, and a SELECT whose one task reads for longer than its credentials are good."""
    session = icesql.connect(spark, catalogs={"vended": {"type": "rest", "uri": vending.uri}})
    session.sql("CREATE NAMESPACE vended.sql")
    slow = "CREATE TABLE vended.sql.t PARTITIONED BY (id) AS SELECT id, uuid() AS name FROM range(5)"
    store.latency_s = 0.7
    session.sql(slow)
    vending.asked = 0
    spark.conf.set("spark.sql.files.openCostInBytes", str(1 << 30))
    try:
        assert session.sql("SELECT count(*), sum(id), count(name) FROM vended.sql.t").collect()[0][:2] == (5, 10)
    finally:
        spark.conf.unset("spark.sql.files.openCostInBytes")
    assert vending.asked >= 1 and store.expired == 0
    store.latency_s = 0.0
    plan = session.sql("SELECT * FROM vended.sql.t")._jdf.queryExecution().toString()
    assert "until-" not in plan and vending.keys["s3.secret-access-key"] not in plan


# -- requests that the catalog signs -----------------------------------------------------------------------------------------
@dataclass
class Signing(FaultProxy):
    """Says with each table that its requests are to be signed, and by whom."""

    settings: dict[str, str] = field(default_factory=dict)

    def answer(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        answered = super().answer(verb, path, headers, body)
        if answered is None or answered[0] != 200 or "/tables" not in path or not answered[2]:
            return answered
        node = json.loads(answered[2])
        if "metadata" in node:
            node.setdefault("config", {}).update(self.settings)
        return 200, answered[1], json.dumps(node).encode()


@pytest.mark.spark
def test_requests_that_the_catalog_signs(s3: S3Server, server: ReferenceServer, spark: Any) -> None:
    """Nobody here has a key: not the driver, not a task."""
    signer, kept = Signer(), {key: value for key, value in s3.properties().items() if "key" not in key}
    place, _, endpoint = signer.address.rpartition("/")
    signing = Signing(
        server.uri, settings={**kept, "s3.remote-signing-enabled": "true", "signer.uri": f"{place}/", "signer.endpoint": endpoint}
    )
    table = "signed.db.t"
    try:
        session = icesql.connect(spark, catalogs={"signed": {"type": "rest", "uri": signing.uri}})
        session.sql(f"CREATE NAMESPACE {table[:-2]}")
        session.sql(f"CREATE TABLE {table} AS SELECT id, id % 2 AS p FROM range(50)")
        assert session.sql(f"SELECT count(*), sum(id) FROM {table} WHERE id > 9").collect()[0][:] == (40, 1180)
        session.sql(f"DELETE FROM {table} WHERE id = 20")
        assert session.sql(f"SELECT count(*) FROM {table}").collect()[0][0] == 49
        shown = "".join(str(row) for row in session.sql(f"EXPLAIN PRUNING SELECT * FROM {table}").collect())
        assert "read with Arrow" in shown
        assert {"PUT", "GET"} <= {node["method"] for node in signer.seen}
    finally:
        signing.stop()
        signer.stop()
