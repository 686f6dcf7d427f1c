"""Who may call into the driver process: the JVM of its own gateway, and nobody else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.spark
PROGRAM = Path(__file__).with_name("callbacks_program.py")


@pytest.fixture(scope="module", params=["fresh", "streaming"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """``streaming``: structured streaming has started the callback server before icesql came."""
    folder = tmp_path_factory.mktemp("callbacks")
    done = subprocess.run([sys.executable, str(PROGRAM), request.param, str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return {"kind": request.param, **result}


def test_without_the_secret_nobody_is_answered(found: dict[str, Any]) -> None:
    """Py4J resets the connection, closes it, or says ``!xn``, an error, to a wrong token."""
    asked = {"this user", "wrong token"}
    if os.getuid() == 0:
        asked |= {"another user"} | ({"another user who was connected already"} if found["kind"] == "streaming" else set())
    assert found["refused"].keys() == asked
    assert set(found["refused"].values()) <= {"ConnectionResetError", "BrokenPipeError", "b''", r"b'!xn\n'"}, found["refused"]


def test_with_it_they_are(found: dict[str, Any]) -> None:
    assert found["with the token"] == r"b'!yv\n'"
    if found["kind"] == "streaming":
        assert "Object ID unknown" in found["answered without a token"], "this is what is refused above"


def test_callbacks_go_on(found: dict[str, Any]) -> None:
    assert (found["rows"], found["rows after"], found["rows of the next session"]) == (5, 5, 5)
    assert found["batches after"] == found["batches of the next session"] == found.get("batches before", [10]) == [10]
