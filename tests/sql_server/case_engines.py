"""Clients of a server as engines of the recorded cases."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

from tests.sql_server.serving import ROOT, Serving

Answer = tuple[list[tuple[str, str]], list[Any]]
TRACE = re.compile(r"py4j|Traceback|\bself\._|proxy\d", re.IGNORECASE)


NO_COLUMNS = [("Result", "STRING_TYPE")]  # what Spark's Thrift server shows of a statement that gives none


class ClientError(Exception):
    """What a client was told."""


class Told:
    """The errors that clients were told; ``faults``: those without SQLSTATE, or with Python's inside in them."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def error(self, message: str, state: str | None) -> ClientError:
        if not state or TRACE.search(message):
            self.faults.append(f"SQLSTATE {state}: {message}")
        return ClientError(message)


class JdbcEngine:
    """One connection."""

    def __init__(self, server: Serving) -> None:
        self.told = Told()
        self._client = server.client()

    def __call__(self, text: str) -> Answer:
        from pyhive.exc import OperationalError

        cursor = self._client.cursor()
        try:
            cursor.execute(text)
            columns = [(column[0], column[1]) for column in cursor.description or ()]
            return ([], []) if columns == NO_COLUMNS else (columns, list(cursor.fetchall()))
        except OperationalError as error:
            status = error.args[0].status
            raise self.told.error(status.errorMessage, status.sqlState) from None
        finally:
            cursor.close()

    def __enter__(self) -> JdbcEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


class ConnectEngine:
    """A client's process; ``new_session`` comes first."""

    def __init__(self, server: Serving) -> None:
        self.told = Told()
        command = [sys.executable, "-m", "tests.sql_server.connect_client", str(server.connect)]
        environment = {**os.environ, "TZ": "UTC"}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)

    def new_session(self) -> None:
        self.told = Told()
        self._ask(None)

    def __call__(self, text: str) -> Answer:
        answer = self._ask(text)
        if "error" in answer:
            raise self.told.error(answer["error"], answer["state"])
        return [(name, kind) for name, kind in answer["columns"]], answer["rows"]

    def _ask(self, text: str | None) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the client's process ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> ConnectEngine:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
