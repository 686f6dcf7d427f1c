"""Who may do what, how clients show who they are, and where tables may lie."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy import delete, insert
from starlette.testclient import TestClient

from icesql.catalog.sql_store import SqlStore
from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.server.access.authentication import Authentication, new_token
from icesql.server.access.privileges import Grant, Principal, Privilege, privilege_for
from icesql.server.access.rate import RateLimit
from icesql.server.access.settings import Access, GrantSettings, JwtSettings, TokenSettings
from icesql.server.http.app import application
from icesql.server.problems import Problem
from icesql.server.service import Service
from icesql.server.settings import Limits, Settings, read_settings
from icesql.server.storage import principals
from icesql.server.storage.tables import GRANTS as GRANTS_TABLE
from icesql.server.storage.tables import TOKENS as TOKENS_TABLE
from tests.server.client import SCHEMA, Server, data_file, error
from tests.server.process import ROOT

TOKENS = {name: f"token-of-{name}-{'x' * 32}" for name in ("reader", "loader", "writer", "boss", "nobody")}
GRANTS = [("reader", "read", "lake.db"), ("loader", "insert", "lake.db.t"), ("writer", "modify", "lake.db.t"), ("boss", "admin", "*")]


def digest(token: str) -> str:
    import hashlib

    return hashlib.sha256(token.encode()).hexdigest()


def access(**sections: Any) -> Access:
    tokens = [TokenSettings(principal=name, sha256=digest(token)) for name, token in TOKENS.items()]
    grants = [GrantSettings(principal=name, privilege=privilege, on=on) for name, privilege, on in GRANTS]  # type: ignore[arg-type]
    return Access(tokens=tokens, grants=grants, **sections)


@contextlib.contextmanager
def serving(settings: Settings, **sections: Any) -> Iterator[Server]:
    service = Service.of(msgspec.structs.replace(settings, **sections), environ={})
    with TestClient(application(service), raise_server_exceptions=False) as client:
        yield Server(client, service)


@pytest.fixture
def guarded(settings: Settings) -> Iterator[Server]:
    """``lake.db.t`` and ``lake.db.u``, and the principals above."""
    with serving(settings, access=access()) as server:
        act_as(server, "boss")
        server.post("/v1/namespaces", {"namespace": ["db"]})
        server.create_table("t")
        server.create_table("u")
        yield server


def act_as(server: Server, name: str | None) -> None:
    server.client.headers.pop("authorization", None)
    if name is not None:
        server.client.headers["authorization"] = f"Bearer {TOKENS.get(name, name)}"


@pytest.mark.parametrize("header", [None, "Basic abc", "Bearer", "Bearer wrong", "Bearer " + "x" * 10_000])
def test_who_does_not_say_who_he_is(guarded: Server, header: str | None) -> None:
    act_as(guarded, None)
    answer = guarded.get("/v1/config", headers={} if header is None else {"Authorization": header})
    assert error(answer) == (401, "NotAuthorizedException", "Not authorized") and answer.headers["www-authenticate"] == "Bearer"


def test_reading(guarded: Server) -> None:
    act_as(guarded, "reader")
    assert guarded.get("/v1/namespaces").json()["namespaces"] == [["db"]]
    assert guarded.get("/v1/namespaces/db/tables/t").status_code == 200
    for answer in (
        guarded.commit([{"action": "set-properties", "updates": {"a": "1"}}]),
        guarded.produce("append", add_data_files=[]),
        guarded.post("/v1/namespaces", {"namespace": ["x"]}),
        guarded.post("/v1/namespaces/db/tables", {"name": "x", "schema": SCHEMA}),
        guarded.client.delete("/v1/namespaces/db/tables/t"),
    ):
        assert error(answer) == (403, "ForbiddenException", "Forbidden")


def test_nothing_is_told_of_what_may_not_be_seen(guarded: Server) -> None:
    """What is there and what is not are answered alike."""
    for name in ("nobody", "loader"):
        act_as(guarded, name)
        there, not_there = guarded.get("/v1/namespaces/db/tables/u"), guarded.get("/v1/namespaces/db/tables/none")
        assert there.status_code == not_there.status_code == 403 and there.json() == not_there.json()
    act_as(guarded, "loader")
    assert guarded.get("/v1/namespaces/db/tables").json()["identifiers"] == [{"namespace": ["db"], "name": "t"}]
    act_as(guarded, "nobody")
    assert guarded.get("/v1/namespaces").json()["namespaces"] == []
    assert error(guarded.get("/v1/namespaces/db/tables"))[0] == 403


def raw_updates(location: str) -> list[dict[str, Any]]:
    """What only ADMIN may: every other update there is."""
    snapshot = {"snapshot-id": 5, "sequence-number": 9, "timestamp-ms": int(time.time() * 1000) + 10_000,
                "manifest-list": f"{location}/metadata/x.avro", "summary": {"operation": "append"}}  # fmt: skip
    return [
        {"action": "assign-uuid", "uuid": "0" * 8},
        {"action": "upgrade-format-version", "format-version": 3},
        {"action": "add-schema", "schema": SCHEMA},
        {"action": "set-current-schema", "schema-id": 0},
        {"action": "add-spec", "spec": {"fields": []}},
        {"action": "set-default-spec", "spec-id": 0},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": 0},
        {"action": "add-snapshot", "snapshot": snapshot},
        {"action": "set-snapshot-ref", "ref-name": "x", "type": "branch", "snapshot-id": 5},
        {"action": "remove-snapshots", "snapshot-ids": [5]},
        {"action": "remove-snapshot-ref", "ref-name": "main"},
        {"action": "set-location", "location": "/elsewhere"},
        {"action": "set-properties", "updates": {"a": "1"}},
        {"action": "remove-properties", "removals": ["a"]},
        {"action": "remove-statistics", "snapshot-id": 5},
        {"action": "remove-partition-statistics", "snapshot-id": 5},
        {"action": "remove-partition-specs", "spec-ids": [7]},
        {"action": "remove-schemas", "schema-ids": [7]},
        {"action": "remove-encryption-key", "key-id": "x"},
        {"action": "dance"},
    ]


def test_inserting_is_adding_data_files_and_nothing_else(guarded: Server) -> None:
    act_as(guarded, "loader")
    table = guarded.load()
    location = table["metadata"]["location"]
    file = data_file(location)
    assert guarded.produce("append", add_data_files=[file]).status_code == 200
    before = guarded.load()
    append: dict[str, Any] = {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file(location)]}
    delete = data_file(location) | {"content": "position-deletes"}
    refused: list[dict[str, Any]] = [
        {"operation": "overwrite"},
        {"operation": "delete", "remove-data-files": [file]},
        {"remove-data-files": [file]},
        {"add-delete-files": [delete]},
        {"remove-delete-files": [delete]},
        {"delete-row-filter": {"type": "eq", "term": "id", "value": 1}},
        {"delete-row-filter": True},
        {"drop-partitions": [{"spec-id": 0, "partition": []}]},
        {"data-sequence-number": 1},
        {"something-new": 1},
    ]
    for parts in refused:
        assert error(guarded.commit([{**append, **parts}]))[0] == 403, parts
    for update in raw_updates(location):
        assert error(guarded.commit([update]))[0] == 403, update
        assert error(guarded.commit([append, update]))[0] == 403, update  # mixed with what he may
        body = {"table-changes": [{"identifier": {"namespace": ["db"], "name": "t"}, "requirements": [], "updates": [append, update]}]}
        assert error(guarded.post("/v1/transactions/commit", body))[0] == 403, update
    other = {"table-changes": [
        {"identifier": {"namespace": ["db"], "name": name}, "requirements": [], "updates": [append]} for name in ("t", "u")]}  # fmt: skip
    assert error(guarded.post("/v1/transactions/commit", other))[0] == 403  # of a table that is not his
    for path, body in {
        "/v1/namespaces/db/register": {"name": "x", "metadata-location": table["metadata-location"]},
        "/v1/namespaces/db/tables/t/unregister": {},
        "/v1/tables/rename": {
            "source": {"namespace": ["db"], "name": "t"},
            "destination": {"namespace": ["db"], "name": "x"},
        },
        "/v1/namespaces/db/properties": {"updates": {"a": "1"}},
    }.items():
        assert error(guarded.post(path, body))[0] == 403, path
    assert guarded.load() == before


def test_modifying_is_any_snapshot_from_files(guarded: Server) -> None:
    act_as(guarded, "writer")
    location = guarded.load()["metadata"]["location"]
    file = data_file(location)
    assert guarded.produce("append", add_data_files=[file]).status_code == 200
    assert guarded.produce("delete", remove_data_files=[file]).status_code == 200
    for update in raw_updates(location):
        assert error(guarded.commit([update]))[0] == 403, update


def test_grants() -> None:
    principal = Principal("p", (Grant(Privilege.READ, ("lake",)), Grant(Privilege.INSERT, ("lake", "db", "t"))))
    assert principal.may(Privilege.READ, ("lake", "x", "y")) and not principal.may(Privilege.INSERT, ("lake", "db"))
    assert principal.may(Privilege.INSERT, ("lake", "db", "t")) and not principal.may(Privilege.MODIFY, ("lake", "db", "t"))
    assert not principal.may_see(("other",)) and not Principal("q", (Grant(Privilege.READ, ("lake", "d")),)).may_see(("lake", "db"))
    assert privilege_for({"action": "append", "add-data-files": []}) is Privilege.INSERT
    with pytest.raises(InvalidArgumentError):
        GrantSettings(principal="p", privilege="read", on="a..b").grant()
    assert GrantSettings(principal="p", privilege="read", on="lake.`a.b`.t").grant().on == ("lake", "a.b", "t")


# -- JWT -----------------------------------------------------------------------------------------------------------------
class Issuer:
    def __init__(self, folder: Path) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        self.file = folder / "jwks.json"
        self.file.write_text(json.dumps({"keys": [{**public, "kid": "one", "alg": "ES256", "use": "sig"}]}))

    def token(self, *, key: Any = None, algorithm: str = "ES256", key_id: str = "one", **claims: Any) -> str:
        said = {"iss": "https://issuer", "aud": "icesql", "sub": "reader", "exp": int(time.time()) + 60, **claims}
        said = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(said, key or self.key, algorithm=algorithm, headers={"kid": key_id})


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path)


def by_jwt(issuer: Issuer) -> Access:
    settings = JwtSettings(issuer="https://issuer", audience="icesql", jwks_file=str(issuer.file), roles_claim="roles")
    return Access(jwt=settings, grants=[
        GrantSettings(principal="reader", privilege="read"), GrantSettings(principal="role:writers", privilege="modify")])  # fmt: skip


def test_a_token_of_the_issuer(settings: Settings, issuer: Issuer) -> None:
    with serving(settings, access=by_jwt(issuer)) as server:
        act_as(server, issuer.token())
        assert server.get("/v1/namespaces").status_code == 200
        assert error(server.post("/v1/namespaces", {"namespace": ["x"]}))[0] == 403
    principal = Authentication(by_jwt(issuer)).principal(f"Bearer {issuer.token(sub='someone', roles=['writers'])}")
    assert principal.may(Privilege.MODIFY, ("lake",)) and not principal.may(Privilege.ADMIN, ("lake",))


def test_tokens_that_are_refused(issuer: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    authentication = Authentication(by_jwt(issuer))
    tokens = [
        issuer.token(exp=int(time.time()) - 120),
        issuer.token(exp=None),
        issuer.token(iss="https://other"),
        issuer.token(aud="other"),
        issuer.token(sub=None),
        issuer.token(sub="role:writers"),
        issuer.token(key=ec.generate_private_key(ec.SECP256R1())),
        issuer.token(key_id="two"),
        issuer.token(key="s" * 64, algorithm="HS256"),
        jwt.encode({"iss": "https://issuer", "aud": "icesql", "sub": "reader", "exp": time.time() + 60}, "", algorithm="none"),
        "a.b.c",
    ]
    for token in tokens:
        with pytest.raises(Problem) as refused:
            authentication.principal(f"Bearer {token}")
        assert refused.value.status == 401 and refused.value.message == "Not authorized"
        assert token not in caplog.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"jwks_file": None},
        {"jwks_uri": "https://issuer/keys"},
    ],
    ids=str,
)
def test_issuers_that_cannot_be(issuer: Issuer, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"issuer": "i", "audience": "a", "jwks_file": str(issuer.file), **wrong}
    with pytest.raises(InvalidArgumentError):
        Authentication(Access(jwt=JwtSettings(**given)))


@pytest.mark.parametrize("content", [None, "keys", "[1]", "{}", '{"keys": []}'])
def test_a_file_that_holds_no_keys_is_named(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "keys.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidArgumentError, match=f"Cannot read jwks-file {file}: "):
        Authentication(Access(jwt=JwtSettings(issuer="i", audience="a", jwks_file=str(file))))


def test_an_issuer_that_gives_no_keys_is_not_the_clients_fault(issuer: Issuer) -> None:
    """The token may be good: the client must ask again and not sign in anew."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]  # closed below: nobody listens
    settings = JwtSettings(issuer="https://issuer", audience="icesql", jwks_uri=f"http://127.0.0.1:{port}/keys")
    with pytest.raises(Problem) as refused:
        Authentication(Access(jwt=settings)).principal(f"Bearer {issuer.token()}")
    assert refused.value.status == 503 and refused.value.headers["Retry-After"]


# -- tokens, exposure, rate ------------------------------------------------------------------------------------------------
def test_a_new_token_is_known_by_its_digest(tmp_path: Path) -> None:
    token, lines = new_token("me")
    assert token not in lines
    (tmp_path / "settings.toml").write_text(lines)
    assert Authentication(read_settings(tmp_path / "settings.toml").access).principal(f"bearer {token}").name == "me"


def test_a_digest_that_is_none() -> None:
    with pytest.raises(InvalidArgumentError, match="SHA-256"):
        Authentication(Access(tokens=[TokenSettings(principal="p", sha256="secret")]))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_open_server_stays_on_loopback(tmp_path: Path, host: str) -> None:
    command = [sys.executable, "-m", "icesql.cli.main", "serve", "--host", host, "--port", "0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(ROOT), "PATH": ""})
    assert done.returncode == 1 and "anybody who reaches it" in done.stderr and not (tmp_path / "warehouse").exists()


def test_settings_that_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("[access]\ntoken = 1\n")
    command = [sys.executable, "-m", "icesql.cli.main", "serve", "--config", "s.toml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(ROOT), "PATH": ""})
    assert done.returncode == 1 and "s.toml" in done.stderr and "token" in done.stderr and "Traceback" not in done.stderr


def test_no_token_is_in_the_log(guarded: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    act_as(guarded, "reader")
    guarded.get("/v1/namespaces/db/tables/t")
    guarded.get("/v1/namespaces", headers={"Authorization": "Bearer wrong-but-secret"})
    assert "reader" in caplog.text and TOKENS["reader"] not in caplog.text and "wrong-but-secret" not in caplog.text


def test_requests_are_rationed(settings: Settings) -> None:
    with serving(settings, limits=Limits(requests_per_second=2)) as server:
        answers = [server.get("/v1/config") for _ in range(5)]
    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    assert error(answers[-1])[0] == 429 and int(answers[-1].headers["retry-after"]) >= 1


def test_a_bucket_fills_again() -> None:
    now = [0.0]
    limit = RateLimit(2, lambda: now[0])
    limit.take("a")
    limit.take("a")
    with pytest.raises(Problem):
        limit.take("a")
    limit.take("b")
    now[0] = 0.5
    limit.take("a")
    with pytest.raises(Problem):
        limit.take("a")


# -- locations -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "wrong",
    [
        "/elsewhere/t",
        "file:/elsewhere/t",
        "{warehouse}2/t",
        "{warehouse}/../t",
        "{warehouse}/%2e%2e/t",
        "s3://bucket/t",
        "http://169.254.169.254/t",
    ],
)
def test_places_outside_of_the_warehouse(guarded: Server, tmp_path: Path, wrong: str) -> None:
    """What four servers got wrong in 2026: each location is looked at before anything is written there."""
    location = wrong.format(warehouse=tmp_path / "warehouse")
    path = "/v1/namespaces/db/tables"
    bodies: list[dict[str, Any]] = [
        {"location": location},
        {"location": location, "stage-create": True},
        {"properties": {"write.data.path": location}},
        {"properties": {"write.metadata.path": location}},
        {"properties": {"write.object-storage.path": location}},
    ]
    for body in bodies:
        assert error(guarded.post(path, {"name": "x", "schema": SCHEMA, **body}))[0] in (400, 403), body
    table = guarded.load()
    snapshot = {"snapshot-id": 5, "sequence-number": 9, "timestamp-ms": int(time.time() * 1000) + 10_000,
                "manifest-list": f"{location}/x.avro", "summary": {"operation": "append"}, "schema-id": 0}  # fmt: skip
    statistics = {"snapshot-id": 5, "statistics-path": f"{location}/x.puffin", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1,
                  "blob-metadata": []}  # fmt: skip
    for updates in (
        [{"action": "set-location", "location": location}],
        [{"action": "set-properties", "updates": {"write.metadata.path": location}}],
        [{"action": "set-properties", "updates": {"write.data.path": location}}],
        [{"action": "add-snapshot", "snapshot": snapshot}],
        [{"action": "set-statistics", "statistics": statistics}],
    ):
        assert error(guarded.commit(updates))[0] in (400, 403), updates
        changes = [{"identifier": {"namespace": ["db"], "name": "t"}, "requirements": [], "updates": updates}]
        assert error(guarded.post("/v1/transactions/commit", {"table-changes": changes}))[0] in (400, 403), updates
    register = {"name": "x", "metadata-location": f"{location}/v1.metadata.json"}
    assert error(guarded.post("/v1/namespaces/db/register", register))[0] in (400, 403)
    assert guarded.load() == table


def test_what_is_registered_may_not_name_other_places(guarded: Server, tmp_path: Path) -> None:
    table = guarded.load()
    document = {**table["metadata"], "location": "/elsewhere/t"}
    file = Path(table["metadata-location"]).parent / "99999-x.metadata.json"
    file.write_text(json.dumps(document))
    answer = guarded.post("/v1/namespaces/db/register", {"name": "x", "metadata-location": str(file)})
    assert error(answer)[0] == 403


def test_other_places_may_be_allowed(settings: Settings, tmp_path: Path) -> None:
    with serving(settings, access=access(allowed_locations=[str(tmp_path / "more")])) as server:
        act_as(server, "boss")
        server.post("/v1/namespaces", {"namespace": ["db"]})
        assert server.create_table("t", location=str(tmp_path / "more" / "t"))
        assert error(server.post("/v1/namespaces/db/tables", {"name": "x", "schema": SCHEMA, "location": str(tmp_path / "x")}))[0] == 403


# -- principals in the database ----------------------------------------------------------------------------------------
def test_tokens_and_grants_of_a_database(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """They count as soon as they are read again, and no longer once they are gone. A grant that says nothing known gives nothing."""
    monkeypatch.setattr(principals, "KEPT_SECONDS", -1.0)
    with serving(settings, access=Access(principals_in="lake")) as server:
        store = server.service.catalogs["lake"].store
        assert store is not None

        def granted(privilege: str, on: str = "lake.db") -> None:
            row = {"principal": "writer", "granted_on": on, "privilege": privilege}
            store.write(lambda connection: connection.execute(insert(GRANTS_TABLE).values(row)))

        act_as(server, "writer")
        assert server.get("/v1/config").status_code == 401
        row = {"principal": "writer", "sha256": digest(TOKENS["writer"])}
        store.write(lambda connection: connection.execute(insert(TOKENS_TABLE).values(row)))
        assert server.post("/v1/namespaces", {"namespace": ["db"]}).status_code == 403
        granted("owner", "*")
        granted("admin", "lake..t")
        assert server.post("/v1/namespaces", {"namespace": ["db"]}).status_code == 403
        granted("admin", "lake")
        assert server.post("/v1/namespaces", {"namespace": ["db"]}).status_code == 200
        store.write(lambda connection: connection.execute(delete(GRANTS_TABLE)))
        granted("read")
        assert server.post("/v1/namespaces", {"namespace": ["other"]}).status_code == 403
        assert server.get("/v1/namespaces/db").status_code == 200
        store.write(lambda connection: connection.execute(delete(TOKENS_TABLE)))
        assert server.get("/v1/config").status_code == 401


def test_a_database_that_is_away_lets_nobody_in(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(principals, "KEPT_SECONDS", -1.0)
    with serving(settings, access=access(principals_in="lake")) as server:
        act_as(server, "boss")
        assert server.get("/v1/config").status_code == 200

        def away(*_: Any) -> Any:
            raise UnsupportedError("the database is away")

        monkeypatch.setattr(SqlStore, "read", away)
        assert server.get("/v1/config").status_code >= 400


def test_principals_of_a_catalog_without_a_database(tmp_path: Path) -> None:
    catalogs = {"lake": {"type": "hadoop", "warehouse": str(tmp_path)}}
    with pytest.raises(InvalidArgumentError, match="has no database"):
        Service.of(Settings(catalogs=catalogs, access=Access(principals_in="lake")), environ={})
