"""Parts of the client that need no server: lazy snapshots, credentials, addresses, keys."""

from __future__ import annotations

import pickle
import time
import uuid
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from icesql.catalog.loading import load_catalog
from icesql.catalog.rest.auth import NoAuth
from icesql.catalog.rest.credentials import Credential, credentials_of, expiry_of, file_properties
from icesql.catalog.rest.http import HttpSettings
from icesql.catalog.rest.partial import LazyTableMetadata, with_lazy_snapshots
from icesql.catalog.rest.replies import BadReplyError, Fault, Reply, error_for, fault_of
from icesql.catalog.rest.routes import ASSUMED, VIEWS, Addresses, Route, offered
from icesql.catalog.rest.secrets import Secrets
from icesql.catalog.rest.server import time_ordered_uuid
from icesql.catalog.rest.signing import RemoteSigner
from icesql.catalog.rest.vended_io import VendedFileIO
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    InvalidArgumentError,
    NotFoundError,
    ServiceError,
    UnsupportedError,
    ValidationError,
)
from icesql.spec.metadata import TableMetadata
from icesql.spec.snapshots import Snapshot
from icesql.table.metadata.updates import SetProperties, apply
from tests.catalog.tables import SCHEMA, rows


# -- lazy snapshots ------------------------------------------------------------------------------------------------------
@pytest.fixture
def whole(tmp_path: Path) -> TableMetadata:
    table = load_catalog("test", {"type": "memory", "warehouse": str(tmp_path)}).create_table("db.t", SCHEMA)
    for number in range(5):
        table.append(rows(number))
    return table.metadata


def _number(snapshot: Snapshot) -> int:
    return snapshot.sequence_number


def lazy_of(whole: TableMetadata) -> tuple[TableMetadata, list[int]]:
    fetched: list[int] = []

    def fetch() -> TableMetadata:
        fetched.append(1)
        return whole

    return with_lazy_snapshots(replace(whole, snapshots=(whole.current_snapshot,)), fetch), fetched  # type: ignore[arg-type]


def test_reading_the_newest_version_fetches_nothing(whole: TableMetadata) -> None:
    lazy, fetched = lazy_of(whole)
    assert lazy.current_snapshot == whole.current_snapshot
    assert lazy.head("main") == whole.current_snapshot and lazy.head("nowhere") is None
    assert (lazy.schema, lazy.spec, lazy.properties, lazy.refs) == (whole.schema, whole.spec, whole.properties, whole.refs)
    assert lazy.snapshot(whole.current_snapshot_id or 0) == whole.current_snapshot
    assert not fetched


def test_whoever_asks_for_others_gets_all_once(whole: TableMetadata) -> None:
    lazy, fetched = lazy_of(whole)
    assert [one.snapshot_id for one in lazy.ancestors(lazy.current_snapshot_id)] == [
        one.snapshot_id for one in whole.ancestors(whole.current_snapshot_id)
    ]
    assert sorted(lazy.snapshots, key=_number) == list(whole.snapshots)
    assert lazy == whole
    assert len(fetched) == 1
    with pytest.raises(NotFoundError):
        lazy.snapshot(1)


def test_lazy_metadata_can_be_changed_copied_and_sent(whole: TableMetadata) -> None:
    lazy, _ = lazy_of(whole)
    assert isinstance(lazy, LazyTableMetadata)
    assert sorted(apply(lazy, SetProperties({"k": "v"})).snapshots, key=_number) == list(whole.snapshots)
    assert pickle.loads(pickle.dumps(lazy)) == whole
    assert replace(lazy, location="/elsewhere").snapshots_by_id.keys() == whole.snapshots_by_id.keys()


def test_later_snapshots_are_no_part_of_an_older_version(whole: TableMetadata) -> None:
    older = replace(whole, last_sequence_number=3, snapshots=whole.snapshots[2:3])
    lazy = with_lazy_snapshots(older, lambda: whole)
    assert sorted(map(_number, lazy.snapshots)) == [1, 2, 3]


# -- credentials ---------------------------------------------------------------------------------------------------------
class Renewals:
    def __init__(self, credentials: tuple[Credential, ...]) -> None:
        self.credentials, self.asked = credentials, 0

    def renewed(self, held: tuple[Credential, ...]) -> tuple[Credential, ...]:
        self.asked += 1
        return self.credentials


def test_the_longest_prefix_counts_and_values_are_secrets() -> None:
    secrets = Secrets()
    nodes = [
        {"prefix": "s3://b", "config": {"s3.access-key-id": "wide-key"}},
        {"prefix": "s3://b/t", "config": {"s3.access-key-id": "narrow-key", "s3.session-token-expires-at-ms": "5000"}},
    ]
    found = credentials_of(nodes, secrets)
    assert [one.prefix for one in found] == ["s3://b/t", "s3://b"]
    assert found[0].ends_at_s == 5.0 and found[1].ends_at_s is None
    assert secrets.hide("wide-key narrow-key") == "*** ***"
    assert "narrow-key" not in repr(found)
    with pytest.raises(BadReplyError):
        credentials_of([{"prefix": 1}], secrets)


def test_credentials_are_renewed_before_they_end_and_once(tmp_path: Path) -> None:
    soon, later = time.time() + 60, time.time() + 7200
    renewals = Renewals((Credential(str(tmp_path), {"k": "new"}, later),))
    io = VendedFileIO({}, (Credential(str(tmp_path), {"k": "old"}, soon),), renewals)  # type: ignore[arg-type]
    io.write(f"{tmp_path}/f", b"x")
    assert io.read(f"{tmp_path}/f") == b"x" and io.size(f"{tmp_path}/f") == 1
    assert renewals.asked == 1
    shipped: Any = pickle.loads(pickle.dumps(io))
    assert shipped._credentials[0].config == {"k": "new"} and shipped._renewal is not None, "tasks renew them, too"


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({"signer.uri": "http://s/", "signer.endpoint": "a/sign"}, "http://s/a/sign"),
        ({"s3.signer.uri": "http://s", "s3.signer.endpoint": "/a/sign"}, "http://s/a/sign"),
        ({"signer.endpoint": "https://elsewhere/sign"}, "https://elsewhere/sign"),
        ({}, "http://c/api/v1/p/namespaces/db/tables/t/sign"),
    ],
)
def test_who_signs(settings: dict[str, str], address: str) -> None:
    offer = SimpleNamespace(has=lambda route: route is Route.SIGN, addresses=Addresses("http://c/api", "p"))
    server: Any = SimpleNamespace(
        offer=offer, uri="http://c/api", http_settings=HttpSettings(), http_headers={}, auth_of=lambda table: NoAuth(), secrets=Secrets()
    )
    assert repr(RemoteSigner.of(server, ("db", "t"), settings)) == f"RemoteSigner('{address}')"
    offer.has = lambda route: False
    if not settings:
        assert repr(RemoteSigner.of(server, ("db", "t"), {})) == "RemoteSigner('http://c/api/v1/aws/s3/sign')"


def test_only_settings_of_files_go_to_tasks() -> None:
    given = {"s3.endpoint": "e", "credential": "c", "token": "t", "uri": "u", "header.Authorization": "a", "client.region": "r"}
    assert file_properties(given) == {"s3.endpoint": "e", "client.region": "r"}
    assert expiry_of({"gcs.oauth2.token-expires-at": "7000", "adls.sas-token-expires-at-ms.account": "6000"}) == 6.0


# -- addresses and keys --------------------------------------------------------------------------------------------------
def test_names_are_encoded_into_addresses() -> None:
    addresses = Addresses("http://h/api", "a/b")
    place = addresses.namespace(("x y", "z/.é"))
    assert place == "x%20y%1Fz%2F.%C3%A9"
    assert addresses.of(Route.LOAD_TABLE, namespace=place, table="t/1") == f"http://h/api/v1/a/b/namespaces/{place}/tables/t%2F1"
    assert Addresses("http://h").of(Route.LIST_NAMESPACES) == "http://h/v1/namespaces"
    assert Addresses("http://h", separator="%2E").namespace(("a", "b")) == "a%2Eb"
    assert Addresses("http://h", separator="%2E").parent(("a", "b")) == "a.b"


def test_a_server_offers_what_it_lists() -> None:
    assert offered(["GET /v1/{prefix}/namespaces", "GET /v9/unheard-of"]) == {Route.LIST_NAMESPACES}
    assert offered(None) == ASSUMED
    assert offered(None, assumes_views=True) == ASSUMED | VIEWS


def test_keys_are_uuids_of_version_7_in_order_of_time() -> None:
    keys = [time_ordered_uuid() for _ in range(3)]
    assert all(uuid.UUID(key).version == 7 and len(key) == 36 for key in keys)
    time.sleep(0.002)
    assert time_ordered_uuid() > max(keys)


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "BadRequestException", InvalidArgumentError), (400, "ValidationException", ValidationError), (401, "", ServiceError),
        (403, "ForbiddenException", ServiceError), (404, "NoSuchTableException", NotFoundError), (406, "", UnsupportedError),
        (409, "CommitFailedException", CommitFailedError), (409, "AlreadyExistsException", AlreadyExistsError),
        (409, "NamespaceNotEmptyException", ValidationError), (422, "", InvalidArgumentError),
        (500, "", ServiceError), (418, "", ServiceError),
    ],
)  # fmt: skip
def test_errors_of_the_protocol_are_ours(status: int, kind: str, error: type[Exception]) -> None:
    body = f'{{"error": {{"message": "the reason", "type": "org.apache.iceberg.exceptions.{kind}", "code": {status}}}}}'
    fault = fault_of(Reply(status, {}, body.encode()))
    assert fault == Fault(status, kind, "the reason")
    raised = error_for(fault, "load table db.t")
    assert type(raised) is error and "Cannot load table db.t" in str(raised) and "the reason" in str(raised)


def test_pages_of_proxies_are_errors_too() -> None:
    assert fault_of(Reply(502, {}, b"<html>")) == Fault(502, "", "")
    assert fault_of(Reply(400, {}, b'{"error": "invalid_client", "error_description": "no"}')) == Fault(400, "invalid_client", "no")
