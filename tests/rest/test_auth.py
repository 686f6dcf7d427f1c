"""Every way to say who one is, against a server that checks it; and no trace of a secret in anything that can be read."""

from __future__ import annotations

import logging
import pickle
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from icesql.catalog.rest import oauth2
from icesql.catalog.rest.credentials import Credential, Renewal
from icesql.catalog.rest.keys import unknown_keys
from icesql.catalog.rest.secrets import Secrets
from icesql.errors import InvalidArgumentError, ServiceError, UnsupportedError
from tests.catalog.tables import SCHEMA, rows
from tests.rest.conftest import open_catalog
from tests.rest.guard import CLIENT, SECRET, Guard
from tests.rest.proxy import status
from tests.rest.reference_server import ReferenceServer

pytestmark = pytest.mark.slow
CREDENTIAL = f"{CLIENT}:{SECRET}"


@pytest.fixture
def guard(rest_server: ReferenceServer, warehouse: Path) -> Iterator[Guard]:
    running = Guard(rest_server.uri)
    yield running
    running.stop()


def test_client_credentials(guard: Guard) -> None:
    catalog = open_catalog(guard.uri, credential=CREDENTIAL, scope="PRINCIPAL_ROLE:ALL", audience="lake", resource="urn:x")
    catalog.create_table("db.t", SCHEMA).append(rows(1))
    assert len(guard.requests) == 1, "one token serves many requests"
    assert guard.requests[0] == {
        "grant_type": "client_credentials", "client_id": CLIENT, "client_secret": SECRET, "scope": "PRINCIPAL_ROLE:ALL",
        "audience": "lake", "resource": "urn:x",
    }  # fmt: skip


@pytest.mark.parametrize("address", ["{}/auth/token", "auth/token"])
def test_tokens_come_from_the_server_that_is_named(address: str, guard: Guard) -> None:
    catalog = open_catalog(guard.uri, **{"credential": CREDENTIAL, "oauth2-server-uri": address.format(guard.uri)})
    assert catalog.list_namespaces() == []
    assert guard.requests[0]["scope"] == "catalog"


def test_a_wrong_secret_is_told_and_not_shown(guard: Guard) -> None:
    catalog = open_catalog(guard.uri, credential=f"{CLIENT}:wrong-and-long")
    with pytest.raises(ServiceError, match=r"Cannot get a token from .*: refused \(401\): bad secret \*\*\*") as caught:
        catalog.list_namespaces()
    assert "wrong-and-long" not in "".join(traceback.format_exception(caught.value))


def test_a_token_is_fetched_anew_before_it_ends(guard: Guard) -> None:
    guard.lifetime_s = 1.0
    catalog = open_catalog(guard.uri, credential=CREDENTIAL)
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        catalog.list_namespaces()
        time.sleep(0.05)
    assert len(guard.requests) >= 3
    assert guard.refused == 0, "no request went out with a token that had ended"


def test_a_token_alone_is_exchanged_before_it_ends(guard: Guard) -> None:
    guard.known["the-first-token"] = time.time() + 3600
    catalog = open_catalog(guard.uri, **{"token": "the-first-token", "token-expires-in-ms": "1000"})
    catalog.list_namespaces()
    assert guard.requests == []
    catalog.server._auth._held = oauth2._Held("the-first-token", time.monotonic() - 2, time.monotonic() - 1)
    catalog.list_namespaces()
    assert guard.requests[0]["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange"
    assert guard.requests[0]["subject_token"] == "the-first-token"


def test_a_subject_token_is_exchanged_at_the_beginning(guard: Guard) -> None:
    guard.known["an-id-token"] = time.time() + 3600
    kind = "urn:ietf:params:oauth:token-type:id_token"
    catalog = open_catalog(guard.uri, **{"credential": CREDENTIAL, kind: "an-id-token", "rest.auth.type": "oauth2"})
    catalog.list_namespaces()
    assert [form["grant_type"].rpartition(":")[2] for form in guard.requests] == ["client_credentials", "token-exchange"]
    assert guard.requests[1]["subject_token_type"] == kind
    assert guard.requests[1]["actor_token"] in guard.known


def test_a_token_that_ends_in_the_middle_of_a_write_is_replaced(guard: Guard) -> None:
    """The server forgets every token between the files and the commit of a table made with its first rows."""
    catalog = open_catalog(guard.uri, credential=CREDENTIAL)
    transaction = catalog.stage_create("db.t", SCHEMA)
    guard.known.clear()
    transaction.commit()
    guard.known.clear()
    catalog.load_table("db.t").append(rows(1))
    assert guard.refused == 2 and len(guard.requests) == 3
    assert catalog.load_table("db.t").to_arrow().num_rows == 1


def test_an_old_token_serves_while_no_new_one_can_be_had(guard: Guard) -> None:
    catalog = open_catalog(guard.uri, credential=CREDENTIAL)
    catalog.list_namespaces()
    auth = catalog.server._auth
    held = auth._held
    auth._held = oauth2._Held(held.token, time.monotonic() - 100, time.monotonic() + 1)
    auth._settings = oauth2.OAuth2Settings(server=f"{guard.uri}/nowhere", client_secret="x-y-z-0")
    guard.known[held.token] = time.time() + 3600
    assert catalog.list_namespaces() == []


def test_basic_and_bearer_and_headers(guard: Guard) -> None:
    guard.scheme = "basic"
    settings = {"rest.auth.type": "basic", "rest.auth.basic.username": CLIENT, "rest.auth.basic.password": SECRET}
    assert open_catalog(guard.uri, **settings).list_namespaces() == []
    pyiceberg = {"auth.type": "basic", "auth.basic.username": CLIENT, "auth.basic.password": SECRET}
    assert open_catalog(guard.uri, **pyiceberg).list_namespaces() == []
    guard.scheme = "bearer"
    guard.known["a-plain-token"] = time.time() + 3600
    assert open_catalog(guard.uri, token="a-plain-token").list_namespaces() == []
    open_catalog(guard.uri, **{"token": "a-plain-token", "header.X-Tenant": "t1"}).list_namespaces()
    assert {key.lower(): value for key, value in guard.seen[-1].headers.items()}["x-tenant"] == "t1"
    with pytest.raises(ServiceError, match=r"does not accept the credentials \(401\)"):
        open_catalog(guard.uri).list_namespaces()


def test_requests_are_signed_for_aws(guard: Guard) -> None:
    guard.scheme = "sigv4"
    settings = {
        "rest.auth.type": "sigv4", "rest.signing-name": "glue", "rest.signing-region": "eu-west-1", "rest.access-key-id": "AKIDEXAMPLE",
        "rest.secret-access-key": "wJalrXUtnFEMI/K7MDENG",
    }  # fmt: skip
    catalog = open_catalog(guard.uri, **settings)
    catalog.create_table("db.t", SCHEMA).append(rows(1))
    assert guard.refused == 0
    legacy = {key: value for key, value in settings.items() if key != "rest.auth.type"} | {"rest.sigv4-enabled": "true"}
    assert open_catalog(guard.uri, **legacy).list_tables("db") == [("db", "t")]


def test_nothing_that_can_be_read_shows_a_secret(guard: Guard, caplog: pytest.LogCaptureFixture) -> None:
    """Logs of all levels and of all libraries, errors, reprs and pickles of a session with failures of every kind."""
    caplog.set_level(logging.DEBUG)
    for name in ("httpx", "httpcore", "icesql", "botocore"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    told: list[str] = []
    catalog = open_catalog(
        guard.uri, **{"credential": CREDENTIAL, "s3.secret-access-key": "the-s3-secret", "header.X-Api-Key": "the-api-key"}
    )
    table = catalog.create_table("db.t", SCHEMA)
    table.append(rows(1))
    guard.known.clear()
    table.append(rows(2))
    guard.chosen, guard.faults = (lambda call: call.verb == "GET"), [status(500, after=False, page=SECRET.encode() + b" the-api-key")]
    with pytest.raises(ServiceError) as caught:
        catalog.load_table("db.t")
    told.append("".join(traceback.format_exception(caught.value)))
    told += [
        repr(one) for one in (catalog, catalog.server, catalog.server._auth, catalog.server._http, table, catalog.loads.held(("db", "t")))
    ]
    told += [repr(catalog.server._http.settings), repr(catalog.surroundings(("db", "t")))]
    told.append(caplog.text)
    told += [str(record.args) for record in caplog.records]
    assert any("httpx" in record.name for record in caplog.records), "the libraries' logs are among them"
    secrets = [SECRET, CREDENTIAL, "the-api-key", "the-s3-secret", *(token for token in guard.known)]
    for text in told:
        assert not [secret for secret in secrets if secret in text]
    shipped = pickle.dumps(table.io)
    assert not [secret for secret in (SECRET, "the-api-key", *guard.known) if secret.encode() in shipped], "tasks get no key to the catalog"


def test_a_task_that_renews_has_the_token_and_not_the_credential(guard: Guard, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    catalog = open_catalog(guard.uri, credential=CREDENTIAL)
    catalog.create_table("db.t", SCHEMA)
    shipped = pickle.dumps(Renewal.of(catalog.server, ("db", "t")))
    token = next(iter(guard.known))
    assert token.encode() in shipped and SECRET.encode() not in shipped
    there: Renewal = pickle.loads(shipped)
    held = (Credential("s3://x", {"s3.session-token": "old"}),)
    assert there.renewed(held) == held, "the server has none to give"
    guard.known.clear()
    with pytest.raises(ServiceError, match="does not accept the credentials") as caught:
        there.renewed(held)
    told = repr(there) + repr(there._auth()) + caplog.text + "".join(traceback.format_exception(caught.value))
    assert token not in told and SECRET not in told


def test_the_token_of_a_table_serves_for_that_table(guard: Guard) -> None:
    """Spec: ``token`` in the ``config`` of a table."""
    catalog = open_catalog(guard.uri, credential=CREDENTIAL)
    table = catalog.create_table("db.t", SCHEMA)
    guard.known["of-the-table"] = time.time() + 3600
    catalog.server.know_token(("db", "t"), {"token": "of-the-table"})
    table.append(rows(1))
    shown = {call.path.rpartition("/")[2]: call for call in guard.shown if call.verb == "POST"}
    assert shown["t"].headers["authorization"] == "Bearer of-the-table"
    assert catalog.load_table("db.t").to_arrow().num_rows == 1
    catalog.server.know_token(("db", "t"), {})
    assert catalog.server.auth_of(("db", "t")) is catalog.server._auth


def test_settings_that_cannot_be_meant_are_named() -> None:
    for settings, words in [
        ({"rest.auth.type": "basci"}, "Did you mean 'basic'"),
        ({"rest.auth.type": "basic"}, "basic.username"),
        ({"rest.auth.type": "oauth2"}, "needs token or credential"),
        ({"credential": "id:"}, "not written as id:secret"),
        ({"rest.client.max-retries": "many"}, "max-retries is not a number"),
    ]:
        with pytest.raises(InvalidArgumentError, match=words):
            open_catalog("http://127.0.0.1:9", **settings)
    with pytest.raises(UnsupportedError, match="google"):
        open_catalog("http://127.0.0.1:9", **{"rest.auth.type": "google"})
    with pytest.raises(InvalidArgumentError, match=r"set spark\.sql"):
        open_catalog("")
    with pytest.raises(InvalidArgumentError, match="no HTTP address"):
        open_catalog("jdbc:postgresql://user:password@host/db")
    assert unknown_keys({"warehous": "x", "s3.endpoint": "y", "uri": "z"}) == [
        "Catalog setting has no effect: warehous. Did you mean 'warehouse'?"
    ]


def test_longer_secrets_are_hidden_first() -> None:
    secrets = Secrets()
    secrets.add("abcd", "abcdefgh", "no")
    assert secrets.hide("abcdefgh abcd no") == "*** *** no"
