"""Access to files that the server hands on: only to the table's own objects, and for no more than the principal may."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from icesql.errors import InvalidArgumentError
from icesql.server.access.privileges import Privilege
from icesql.server.delegation.places import TablePlaces
from icesql.server.delegation.s3_requests import ObjectUse, S3Endpoint, deleted_keys, uses_of
from icesql.server.delegation.settings import StaticSettings, StorageSettings, StsSettings
from icesql.server.delegation.vending import Vending, policy
from icesql.server.http.app import application
from icesql.server.problems import Problem
from icesql.server.service import Service
from icesql.server.settings import Settings
from icesql.spec.metadata import TableMetadata
from icesql.table.metadata.create import new_metadata
from tests.server.client import Server
from tests.table.memory import SCHEMA

OWN = S3Endpoint("http://127.0.0.1:9000")
AMAZON = S3Endpoint(None)
PLACES = TablePlaces.of(new_metadata(SCHEMA, location="s3://lake/wh/db/t"))


def uses(method: str, uri: str, *, endpoint: S3Endpoint = OWN, headers: Any = None, body: str | None = None) -> list[ObjectUse]:
    return uses_of(endpoint, method, uri, headers or {}, body)


# -- which objects a request is about ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("method", "uri", "use"),
    [
        ("GET", "http://127.0.0.1:9000/lake/wh/db/t/data/a.parquet", ObjectUse("GET", "s3://lake/wh/db/t/data/a.parquet")),
        ("HEAD", "http://127.0.0.1:9000/lake/a%20b?versionId=1", ObjectUse("GET", "s3://lake/a b")),
        ("PUT", "http://127.0.0.1:9000/lake/a?x-id=PutObject", ObjectUse("PUT", "s3://lake/a", is_new=True)),
        ("PUT", "http://127.0.0.1:9000/lake/a?partNumber=1&uploadId=x", ObjectUse("PUT", "s3://lake/a")),
        ("POST", "http://127.0.0.1:9000/lake/a?uploads=", ObjectUse("PUT", "s3://lake/a", is_new=True)),
        ("POST", "http://127.0.0.1:9000/lake/a?uploadId=x", ObjectUse("PUT", "s3://lake/a")),
        ("DELETE", "http://127.0.0.1:9000/lake/a?uploadId=x", ObjectUse("PUT", "s3://lake/a")),
        ("DELETE", "http://127.0.0.1:9000/lake/a", ObjectUse("DELETE", "s3://lake/a")),
        ("GET", "http://127.0.0.1:9000/lake?list-type=2&prefix=wh%2Fdb%2Ft%2F", ObjectUse("LIST", "s3://lake/wh/db/t/")),
        ("GET", "http://lake.127.0.0.1:9000/a", ObjectUse("GET", "s3://lake/a")),
    ],
)
def test_what_is_understood(method: str, uri: str, use: ObjectUse) -> None:
    assert uses(method, uri) == [use]


@pytest.mark.parametrize(
    "uri", ["https://lake.s3.eu-west-1.amazonaws.com/a", "https://s3.eu-west-1.amazonaws.com/lake/a", "https://lake.s3.amazonaws.com/a"]
)
def test_amazon(uri: str) -> None:
    assert uses("GET", uri, endpoint=AMAZON) == [ObjectUse("GET", "s3://lake/a")]


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        ("GET", "http://127.0.0.1:9000/"),
        ("GET", "http://127.0.0.1:9000/lake"),
        ("GET", "http://127.0.0.1:9000/lake?list-type=2"),
        ("GET", "http://127.0.0.1:9000/lake?list-type=2&prefix=a/&prefix=b/"),
        ("GET", "http://127.0.0.1:9000/lake?policy"),
        ("GET", "http://127.0.0.1:9000/lake/a?acl"),
        ("PUT", "http://127.0.0.1:9000/lake/a?tagging"),
        ("PUT", "http://127.0.0.1:9000/lake"),
        ("DELETE", "http://127.0.0.1:9000/lake"),
        ("DELETE", "http://127.0.0.1:9000/lake/a?versionId=1"),
        ("POST", "http://127.0.0.1:9000/lake/a?select&select-type=2"),
        ("PATCH", "http://127.0.0.1:9000/lake/a"),
        ("GET", "https://127.0.0.1:9000/lake/a"),
        ("GET", "http://127.0.0.1:9001/lake/a"),
        ("GET", "http://evil.example/lake/a"),
        ("GET", "http://127.0.0.1:9000@evil.example/lake/a"),
        ("GET", "http://127.0.0.1:9000/lake/a#x"),
        ("GET", "http://127.0.0.1:9000\\@evil/lake/a"),
        ("GET", "file:///etc/passwd"),
        ("GET", ""),
        ("GET", "http://127.0.0.1:99999999/lake/a"),
        ("GET", "http://[::1/lake/a"),
    ],
)
def test_what_is_refused(method: str, uri: str) -> None:
    with pytest.raises(Problem) as raised:
        uses(method, uri)
    assert raised.value.status in (400, 403)


@pytest.mark.parametrize(
    "uri", ["https://lake.s3.evil.example/a", "http://lake.s3.amazonaws.com/a", "https://s3.amazonaws.com.evil.example/a/b"]
)
def test_what_is_not_amazon(uri: str) -> None:
    with pytest.raises(Problem):
        uses("GET", uri, endpoint=AMAZON)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-amz-copy-source": ["/other/secret"]},
        {"X-Amz-Copy-Source": ["/other/secret"]},
        {"x-amz-acl": ["public-read"]},
        {"x-amz-grant-read": ["everyone"]},
        {"x-amz-website-redirect-location": ["/"]},
        {"x-amz-bypass-governance-retention": ["true"]},
        {"x-amz-meta-a": ["x\r\nHost: evil"]},
    ],
    ids=str,
)
def test_headers_that_would_do_more(headers: Any) -> None:
    with pytest.raises(Problem):
        uses("PUT", "http://127.0.0.1:9000/lake/a", headers=headers)


def test_many_deletes() -> None:
    body = (
        '<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Object><Key>a</Key></Object><Object><Key>b/../c</Key></Object></Delete>'
    )
    found = uses("POST", "http://127.0.0.1:9000/lake?delete", body=body)
    assert found == [ObjectUse("DELETE", "s3://lake/a"), ObjectUse("DELETE", "s3://lake/b/../c")]


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "<Delete>",
        "<Delete></Delete>",
        "<Other><Object><Key>a</Key></Object></Other>",
        "<Delete><Object></Object></Delete>",
        "<Delete><Object><Key/></Object></Delete>",
        "<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>",
        '<!DOCTYPE x [<!ENTITY a "aaaa">]><Delete><Object><Key>&a;</Key></Object></Delete>',
        f"<Delete>{'<Object><Key>a</Key></Object>' * 1001}</Delete>",
    ],
)
def test_deletes_that_are_not_understood(body: str | None) -> None:
    with pytest.raises(Problem):
        deleted_keys(body)


# -- what it takes -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("method", "location", "needed"),
    [
        ("GET", "s3://lake/wh/db/t/data/a.parquet", Privilege.READ),
        ("GET", "s3a://lake/wh/db/t/metadata/v1.json", Privilege.READ),
        ("PUT", "s3://lake/wh/db/t/data/a.parquet", Privilege.INSERT),
        ("PUT", "s3://lake/wh/db/t/metadata/v1.json", Privilege.ADMIN),
        ("DELETE", "s3://lake/wh/db/t/data/a.parquet", Privilege.MODIFY),
        ("DELETE", "s3://lake/wh/db/t/metadata/v1.json", Privilege.ADMIN),
        ("GET", "s3://lake/wh/db/t", None),
        ("GET", "s3://lake/wh/db/t2/data/a.parquet", None),
        ("GET", "s3://lake/wh/db/t/../u/data/a.parquet", None),
        ("GET", "s3://lake/wh/db/t/%2e%2e/u/data/a.parquet", None),
        ("GET", "s3://lake/wh/db/t/%252e%252e/u/a", None),
        ("GET", "s3://lake/wh/db/t/./a", None),
        ("GET", "s3://lake/wh/db/t//a", None),
        ("GET", "s3://lake/WH/db/t/a", None),
        ("GET", "s3://other/wh/db/t/a", None),
        ("GET", "gs://lake/wh/db/t/a", None),
        ("PUT", "s3://lake/wh/db/t/metadata%2fv1.json", Privilege.ADMIN),
    ],
)
def test_what_it_takes(method: str, location: str, needed: Privilege | None) -> None:
    assert PLACES.needed(method, location) is needed


@pytest.mark.parametrize(
    ("prefix", "is_own"),
    [
        ("s3://lake/wh/db/t/", True),
        ("s3://lake/wh/db/t/data/a", True),
        ("s3://lake/wh/db/t", False),
        ("s3://lake/wh/db/", False),
        ("s3://lake/", False),
        ("s3://lake/wh/db/t/../", False),
    ],
)
def test_what_may_be_listed(prefix: str, is_own: bool) -> None:
    assert PLACES.may_list(prefix) is is_own


def test_a_folder_that_tables_share_is_nobodys() -> None:
    properties = {"write.object-storage.enabled": "true", "write.data.path": "s3://lake/shared"}
    metadata: TableMetadata = new_metadata(SCHEMA, location="s3://lake/wh/db/t", properties=properties)
    assert TablePlaces.of(metadata).needed("GET", "s3://lake/shared/1011/wh/db/t/a.parquet") is None


# -- credentials -------------------------------------------------------------------------------------------------------
def allowed(privilege: Privilege) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for statement in json.loads(policy(list(PLACES.folders), PLACES.metadata, privilege))["Statement"]:
        found.setdefault(statement["Effect"], set()).update(statement["Action"])
        assert all("lake" in resource for resource in statement["Resource"])
    return found


def test_a_session_may_what_its_principal_may() -> None:
    read, insert, modify, admin = (allowed(one)["Allow"] for one in Privilege)
    assert read == {"s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket"}
    assert insert - read == {"s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}
    assert modify - insert == {"s3:DeleteObject"} == admin - insert
    assert "Deny" in allowed(Privilege.MODIFY) and "Deny" not in allowed(Privilege.ADMIN)


def test_patterns_in_a_location_are_names() -> None:
    assert "w${*}h" in policy(["s3://lake/w*h"], "s3://lake/w*h/metadata", Privilege.READ)


STATIC = StaticSettings(config={"s3.access-key-id": "a", "s3.secret-access-key": "hidden"})


def test_static_settings_are_for_those_who_may_all() -> None:
    vending = Vending(StorageSettings(static=STATIC))
    assert vending.credentials(PLACES, Privilege.MODIFY, "m") == ()
    [one] = vending.credentials(PLACES, Privilege.ADMIN, "a")
    assert one.prefix == "s3://lake/wh/db/t" and one.config["s3.secret-access-key"] == "hidden"


def test_settings_that_contradict_each_other(tmp_path: Any) -> None:
    both = StorageSettings(static=STATIC, sts=StsSettings(role_arn="arn"))
    catalogs = {"lake": {"warehouse": str(tmp_path)}}
    with pytest.raises(InvalidArgumentError, match="both sts and static"):
        Service.of(Settings(catalogs=catalogs, storage={"lake": both}), environ={})
    with pytest.raises(InvalidArgumentError, match="not served"):
        Service.of(Settings(catalogs=catalogs, storage={"river": StorageSettings()}), environ={})


# -- answers -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def vending(tmp_path: Any) -> Any:
    lake = {"warehouse": str(tmp_path / "warehouse"), "s3.endpoint": "http://127.0.0.1:9000", "s3.region": "r1", "s3.access-key-id": "own"}
    settings = Settings(
        catalogs={"lake": {**lake, "s3.secret-access-key": "own-hidden", "scan-planning-mode": "server"}},
        storage={"lake": StorageSettings(static=STATIC, remote_signing=True)},
    )
    with TestClient(application(Service.of(settings, environ={})), raise_server_exceptions=False) as client:
        server = Server(client, Service.of(settings, environ={}))
        server.post("/v1/namespaces", {"namespace": ["db"]})
        server.create_table("t")
        yield server


PATH = "/v1/namespaces/db/tables/t"


def wishing(server: Server, wish: str, **headers: str) -> Any:
    return server.get(PATH, headers={"X-Iceberg-Access-Delegation": wish, **headers})


def test_a_client_gets_what_it_wishes_for(vending: Server) -> None:
    plain = vending.get(PATH).json()
    assert plain["config"] == {"scan-planning-mode": "server"} and "storage-credentials" not in plain
    vended = wishing(vending, "vended-credentials,remote-signing").json()
    assert vended["storage-credentials"][0]["config"] == STATIC.config
    assert vended["config"]["client.refresh-credentials-endpoint"] == "v1/lake/namespaces/db/tables/t/credentials"
    signing = wishing(vending, "remote-signing, vended-credentials")
    config = signing.json()["config"]
    assert config["s3.remote-signing-enabled"] == "true" and config["signer.endpoint"] == "v1/lake/namespaces/db/tables/t/sign"
    assert config["s3.endpoint"] == "http://127.0.0.1:9000" and config["client.region"] == "r1"
    assert "hidden" not in signing.text


def test_another_wish_is_another_representation(vending: Server) -> None:
    tag = vending.get(PATH).headers["etag"]
    assert wishing(vending, "vended-credentials", **{"If-None-Match": tag}).status_code == 200
    own = wishing(vending, "vended-credentials").headers["etag"]
    assert wishing(vending, "vended-credentials", **{"If-None-Match": own}).status_code == 304


def test_credentials_are_loaded_anew(vending: Server) -> None:
    answer = vending.get(f"{PATH}/credentials")
    assert answer.json()["storage-credentials"][0]["config"] == STATIC.config and answer.headers["cache-control"] == "no-store"


def test_a_plan_has_credentials(vending: Server) -> None:
    headers = {"X-Iceberg-Access-Delegation": "vended-credentials"}
    assert vending.post(f"{PATH}/plan", {}, headers=headers).json()["storage-credentials"][0]["config"] == STATIC.config
    assert "storage-credentials" not in vending.post(f"{PATH}/plan", {}).json()


def test_it_is_told(vending: Server, server: Server) -> None:
    told = vending.get("/v1/config").json()
    assert told["defaults"]["scan-planning-mode"] == "server"
    assert [one for one in told["endpoints"] if one.endswith(("/sign", "/credentials"))]
    assert not [one for one in server.get("/v1/config").json()["endpoints"] if one.endswith(("/sign", "/credentials"))]


def test_nothing_is_signed_that_is_not_the_tables(vending: Server) -> None:
    request = {"region": "r1", "method": "GET", "uri": "http://127.0.0.1:9000/lake/other/a", "headers": {}}
    assert vending.post(f"{PATH}/sign", request).status_code == 403
    assert vending.post(f"{PATH}/sign", {**request, "provider": "gcs"}).status_code == 400
    assert vending.post(f"{PATH}/sign", {"region": "r1"}).status_code == 400


def test_a_catalog_that_does_not_sign(server: Server, table: Any) -> None:
    request = {"region": "r1", "method": "GET", "uri": "http://127.0.0.1:9000/lake/other/a", "headers": {}}
    assert server.post(f"{PATH}/sign", request).status_code == 406
    assert server.get(f"{PATH}/credentials").json() == {"storage-credentials": []}
