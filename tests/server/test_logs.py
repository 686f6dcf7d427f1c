"""What the server logs: entries that are one line each, as text or JSON, and no secret at any level."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path

import httpx
import pytest

from icesql.server.logs import JsonFormatter, printable
from tests.server.client import Server
from tests.server.process import ServerProcess
from tests.server.test_access import TOKENS, act_as, guarded  # noqa: F401 - a fixture


def test_an_entry_is_one_object() -> None:
    record = logging.LogRecord("icesql.x", logging.WARNING, "f", 1, "lost %s\nof %d", ("a", 3), None)
    record.fields = {"request-id": "r"}
    line = JsonFormatter().format(record)
    entry = json.loads(line)
    assert "\n" not in line and entry["message"] == "lost a\nof 3" and entry["level"] == "WARNING" and entry["request-id"] == "r"
    try:
        raise ValueError("why")
    except ValueError as error:
        record.exc_info = (ValueError, error, error.__traceback__)
    assert "ValueError: why" in json.loads(JsonFormatter().format(record))["exception"]


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "\x1b[2J", "\u2028", "\x1f", "\ud800"])
def test_control_characters_are_shown(text: str) -> None:
    assert printable(text).isprintable() and printable("db/t ü") == "db/t ü"


def test_a_path_makes_no_entry_of_its_own(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    server.get("/v1/namespaces/x%0A2026-01-01%20INFO%20forged")
    entries = [record for record in caplog.records if record.name.startswith("icesql.server")]
    assert len(entries) == 1 and "\n" not in entries[0].getMessage() and "forged" in entries[0].getMessage()


def test_no_level_shows_a_secret(guarded: Server, caplog: pytest.LogCaptureFixture) -> None:  # noqa: F811
    """Tokens that are known, unknown, or sent as a password; a query and properties that hold one."""
    caplog.set_level(logging.NOTSET)
    logging.getLogger().setLevel(logging.NOTSET)
    secret = "s3cr3t-of-somebody"
    act_as(guarded, "boss")
    guarded.get("/v1/namespaces", params={"token": secret})
    guarded.post("/v1/namespaces", {"namespace": ["kept"], "properties": {"password": secret}})
    guarded.post("/v1/namespaces/db/tables", {"name": 7, "password": secret})
    guarded.post("/v1/namespaces/db/tables/t", {"requirements": [], "updates": [{"action": "set-properties", "updates": {"key": secret}}]})
    guarded.get("/page/lake/db/t", params={"where": f"data = '{secret}'"})
    for header in (f"Bearer {secret}", f"Basic {base64.b64encode(f'u:{secret}'.encode()).decode()}", secret):
        for path in ("/", "/v1/config", "/metrics"):
            guarded.get(path, headers={"Authorization": header})
    shown = caplog.text + "".join(str(record.__dict__) for record in caplog.records)
    assert "boss" in shown and TOKENS["boss"] not in shown
    ours = "".join(str(record.__dict__) for record in caplog.records if record.name.startswith(("icesql", "uvicorn", "sqlalchemy")))
    assert secret not in ours and base64.b64encode(f"u:{secret}".encode()).decode() not in ours


@pytest.mark.slow
def test_a_server_that_logs_json(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('log-format = "json"\n')
    with ServerProcess(tmp_path, ["--config", "settings.toml"]) as process:
        httpx.get(f"{process.uri}/v1/none", headers={"X-Request-ID": "mine"})
        process.stop()
    entries = [json.loads(line) for line in process.log.splitlines() if line.startswith("{")]
    (entry,) = [one for one in entries if one.get("request-id") == "mine"]
    assert (entry["status"], entry["path"], entry["method"]) == (404, "/v1/none", "GET")
    assert [line for line in process.log.splitlines() if not line.startswith("{")] == [
        f"icesql serves local at http://127.0.0.1:{process.port}"
    ]
