"""Files that are written already become part of a table of a REST catalog, with one request to a server that produces snapshots."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from icesql.catalog.names import identifier_of
from icesql.errors import CommitFailedError, CommitStateUnknownError, IcesqlError, NotFoundError, UnsupportedError, ValidationError
from icesql.io.storage.file_systems import load_file_io
from icesql.spec.json.metadata import metadata_from_object
from icesql.table.snapshot.content_file_json import content_file_to_json
from icesql.table.write.arrow_import import imported_files

_ENABLED = "icesql.produce-snapshot-enabled"
_TIMEOUT_SECONDS, _ATTEMPTS = 60, 3
_ERRORS: dict[int, type[IcesqlError]] = {400: ValidationError, 404: NotFoundError, 409: CommitFailedError}


def commit_files(
    uri: str,
    table: str | tuple[str, ...],
    files: Sequence[str | os.PathLike[str]],
    *,
    branch: str = "main",
    summary: Mapping[str, str] | None = None,
    token: str | None = None,
    warehouse: str | None = None,
    io_properties: Mapping[str, str] | None = None,
) -> int:
    """Append files to ``table`` of the REST catalog at ``uri``; the id of the new snapshot.

    Metrics and partition values are read from the files themselves, under the table's current partition spec. A request whose answer is
    lost is sent again with its Idempotency-Key and appends nothing twice. Raises UnsupportedError for a server that does not produce
    snapshots, NotFoundError for a table or a file that is not there, ValidationError for a file that does not fit the table,
    CommitFailedError when nothing was committed, CommitStateUnknownError when nobody knows.
    """
    server = _Server(uri.rstrip("/"), token)
    config = server.ask("GET", f"/v1/config?warehouse={quote(warehouse)}" if warehouse else "/v1/config")
    settings = {**config.get("defaults", {}), **config.get("overrides", {})}
    if settings.get(_ENABLED) != "true":
        raise UnsupportedError(f"Cannot commit files: the server does not produce snapshots: {uri}")
    names = identifier_of(table)
    prefix = f"/{quote(settings['prefix'], safe='')}" if settings.get("prefix") else ""
    path = f"/v1{prefix}/namespaces/{quote(chr(0x1F).join(names[:-1]), safe='')}/tables/{quote(names[-1], safe='')}"
    loaded = server.ask("GET", f"{path}?snapshots=refs")
    metadata = metadata_from_object(loaded["metadata"], loaded["metadata-location"])
    io = load_file_io(dict(io_properties or {}), metadata.location)
    nodes = [content_file_to_json(file, metadata) for file in imported_files(io, metadata, [os.fspath(file) for file in files])]
    update: dict[str, Any] = {"action": "produce-snapshot", "operation": "append", "branch": branch, "add-data-files": nodes}
    if summary:
        update["summary"] = dict(summary)
    requirement = {"type": "assert-table-uuid", "uuid": metadata.table_uuid}
    answer = server.ask("POST", path, {"requirements": [requirement], "updates": [update]})
    return int(answer["produced-snapshots"][0]["snapshot-id"])


class _Server:
    def __init__(self, uri: str, token: str | None) -> None:
        self._uri, self._token = uri, token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON. A commit is sent up to three times, for its key makes that harmless."""
        headers = {"Content-Type": "application/json", "Prefer": "return=minimal"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            headers["Idempotency-Key"] = _new_key()
        request = urllib.request.Request(self._uri + path, None if body is None else json.dumps(body).encode(), headers, method=method)
        for attempt in range(_ATTEMPTS):
            try:
                with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt == _ATTEMPTS - 1:
                    raise self._explained(error, is_commit=body is not None) from None
            except OSError as error:
                if attempt == _ATTEMPTS - 1:
                    kind = CommitStateUnknownError if body is not None else IcesqlError
                    raise kind(f"Cannot reach the REST catalog at {self._uri}: {error}") from error
            time.sleep(0.2 * 2**attempt)
        raise AssertionError("every attempt returns or raises")

    def _explained(self, error: urllib.error.HTTPError, *, is_commit: bool) -> IcesqlError:
        try:
            message = json.load(error)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            message = error.reason
        kind = CommitStateUnknownError if is_commit and error.code >= 500 else _ERRORS.get(error.code, IcesqlError)
        return kind(f"Cannot commit files: {message}")


def _new_key() -> str:
    """A UUID of version 7: its first 48 bits are the time."""
    text = uuid.uuid4().hex
    return str(uuid.UUID(f"{time.time_ns() // 1_000_000:012x}7{text[13:16]}8{text[17:]}"))
