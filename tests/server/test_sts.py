"""Credentials of a role's session: AWS's own client asks a server that speaks the protocol of STS."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest

from icesql.errors import ServiceError
from icesql.server.access.privileges import Privilege
from icesql.server.delegation.places import TablePlaces
from icesql.server.delegation.settings import StorageSettings, StsSettings
from icesql.server.delegation.vending import Vending
from icesql.table.metadata.create import new_metadata
from tests.table.memory import SCHEMA

PLACES = TablePlaces.of(new_metadata(SCHEMA, location="s3://lake/wh/db/t"))


class Sts(ThreadingHTTPServer):
    """Counts sessions and keeps what was asked; ``refuses`` answers as AWS does to a role that may not be assumed."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, str]] = []
        self.lifetime = timedelta(hours=1)
        self.refuses = False

    def answer(self, asked: dict[str, str]) -> tuple[int, str]:
        self.asked.append(asked)
        if self.refuses:
            return 403, "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not authorized</Message></Error></ErrorResponse>"
        ends = (datetime.now(timezone.utc) + self.lifetime).strftime("%Y-%m-%dT%H:%M:%SZ")
        number = len(self.asked)
        parts = {"AccessKeyId": f"key{number}", "SecretAccessKey": f"secret{number}", "SessionToken": f"token{number}"}
        held = "".join(f"<{name}>{value}</{name}>" for name, value in parts.items())
        result = f"<AssumeRoleResult><Credentials>{held}<Expiration>{ends}</Expiration></Credentials></AssumeRoleResult>"
        return 200, f'<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">{result}</AssumeRoleResponse>'


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status, answer = self.server.answer({key: values[0] for key, values in parse_qs(body).items()})
        self.send_response(status)
        self.send_header("Content-Type", "text/xml")
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def sts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sts]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "server")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the server")
    with Sts() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def vending(server: Sts) -> Vending:
    endpoint = f"http://127.0.0.1:{server.server_port}"
    role = StsSettings(role_arn="arn:aws:iam::1:role/lake", external_id="ext", endpoint=endpoint, region="eu-west-1", duration_seconds=900)
    return Vending(StorageSettings(sts=role))


def test_a_session_for_the_folders_of_the_table(sts: Sts) -> None:
    (credential,) = vending(sts).credentials(PLACES, Privilege.READ, "ann of accounts/1")
    asked = sts.asked[0]
    assert (asked["Action"], asked["RoleArn"], asked["ExternalId"]) == ("AssumeRole", "arn:aws:iam::1:role/lake", "ext")
    assert (asked["RoleSessionName"], asked["DurationSeconds"]) == ("ann-of-accounts-1", "900")
    reached = {resource for one in json.loads(asked["Policy"])["Statement"] for resource in one["Resource"]}
    assert reached == {"arn:aws:s3:::lake/wh/db/t/*", "arn:aws:s3:::lake"}
    assert credential.prefix.rstrip("/") == "s3://lake/wh/db/t"
    keys = ("s3.access-key-id", "s3.secret-access-key", "s3.session-token")
    assert [credential.config[key] for key in keys] == ["key1", "secret1", "token1"]
    left_ms = int(credential.config["s3.session-token-expires-at-ms"]) - datetime.now(timezone.utc).timestamp() * 1000
    assert 3_500_000 < left_ms <= 3_600_000
    assert "secret1" not in repr(credential)


def test_sessions_are_kept_for_half_their_lifetime_by_principal_and_privilege(sts: Sts) -> None:
    offered = vending(sts)

    def key(privilege: Privilege, principal: str) -> str:
        return offered.credentials(PLACES, privilege, principal)[0].config["s3.access-key-id"]

    assert [key(Privilege.READ, "ann"), key(Privilege.READ, "ann")] == ["key1", "key1"]
    assert [key(Privilege.MODIFY, "ann"), key(Privilege.READ, "bob")] == ["key2", "key3"]
    sts.lifetime = timedelta(seconds=-1)
    assert [key(Privilege.READ, "eve"), key(Privilege.READ, "eve")] == ["key4", "key5"], "one that has ended is asked for anew"


def test_a_role_that_may_not_be_assumed_is_one_sentence(sts: Sts) -> None:
    sts.refuses = True
    with pytest.raises(ServiceError, match=r"^Cannot vend credentials: the role was not assumed: AccessDenied$"):
        vending(sts).credentials(PLACES, Privilege.READ, "ann")
