"""``python -m tests.server.killed_client URI FOLDER COUNT POINT TIMES``: appends COUNT data files, and kills itself with SIGKILL when it
comes to a named point for the TIMESth time (0: never). Started again it first sends what it had written down and knows no answer to."""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.server.client import data_file
from tests.server.keys import key

POINTS = ("before it is written down", "before it is sent", "before the answer is read", "before the answer is written down")
_TABLE = "/v1/namespaces/db/tables/t"
_SECONDS = 90


class Journal:
    """What was sent under which key, and which of it was acknowledged: a line each."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "journal"

    def write(self, **entry: Any) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def entries(self) -> dict[str, Any]:
        """By key: ``path``, and ``snapshot`` once it is acknowledged."""
        found: dict[str, Any] = {}
        for line in self._file.read_text().splitlines() if self._file.exists() else ():
            entry = json.loads(line)
            found.setdefault(entry.pop("key"), {}).update(entry)
        return found


class KilledClient:
    def __init__(self, uri: str, folder: Path, point: str, times: int) -> None:
        self._address, self._journal, self._point, self._left = urlsplit(uri).netloc, Journal(folder), point, times

    def _at(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def run(self, location: str, count: int) -> None:
        entries = self._journal.entries()
        for name, entry in entries.items():
            if "snapshot" not in entry:
                self._send(name, entry["path"], location)
        for _ in range(count - len(entries)):
            name, path = key(), data_file(location)["file-path"]
            self._at(POINTS[0])
            self._journal.write(key=name, path=path)
            self._send(name, path, location)

    def _send(self, name: str, path: str, location: str) -> None:
        file = {**data_file(location), "file-path": path}
        update = {"action": "produce-snapshot", "operation": "append", "add-data-files": [file]}
        body = json.dumps({"requirements": [], "updates": [update]})
        headers = {"Idempotency-Key": name, "Prefer": "return=minimal", "Content-Type": "application/json"}
        deadline = time.monotonic() + _SECONDS
        while True:
            self._at(POINTS[1])
            connection = http.client.HTTPConnection(self._address, timeout=30)
            try:
                connection.request("POST", _TABLE, body, headers)
                self._at(POINTS[2])
                answer = connection.getresponse()
                held = json.loads(answer.read())
            except (OSError, http.client.HTTPException, ValueError):
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.1)
                continue
            finally:
                connection.close()
            assert answer.status == 200, held
            self._at(POINTS[3])
            self._journal.write(key=name, snapshot=held["produced-snapshots"][0]["snapshot-id"])
            return


def main(uri: str, folder: str, count: str, point: str, times: str) -> None:
    location = json.loads((Path(folder) / "location").read_text())
    KilledClient(uri, Path(folder), point, int(times)).run(location, int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
