"""A real Google Cloud Storage server for the tests: fake-gcs-server in memory, on a free port, stopped afterwards.

It reads by Google's XML API, which the client library speaks, and writes by the JSON API only. So a door stands before it that passes on
what reads and puts what writes into JSON requests; conditions, generations and listings are the server's own.
``scripts/fetch_gcs_server.sh`` builds it. Nothing is skipped: without it, starting fails and says so.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

from tests.stores.s3_server import answers, free_port

PROGRAM = Path(__file__).resolve().parents[2] / ".oracle" / "bin" / "fake-gcs-server-v1.56.1"
TOKEN = "a token of the tests"
_START_SECONDS = 30
_CODES = {400: b"InvalidArgument", 403: b"AccessDenied", 404: b"NoSuchKey", 412: b"PreconditionFailed", 416: b"InvalidRange"}
_NO_BUCKET = b"NoSuchBucket"


class GcsServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, target: int) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.target = target
        self.uploads: dict[str, dict[int, str]] = {}
        """Unfinished uploads: the objects that hold their parts, by number."""

    @property
    def properties(self) -> dict[str, str]:
        """Iceberg's keys that reach it."""
        return {"gcs.service.host": f"http://127.0.0.1:{self.server_address[1]}", "gcs.oauth2.token": TOKEN}

    def new_bucket(self, name: str) -> None:
        status, _, _ = self.ask("POST", "/storage/v1/b", json.dumps({"name": name}).encode(), {"Content-Type": "application/json"})
        assert status == 200

    def ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.target, timeout=60)
        connection.request(method, path, body, {**headers, "Host": f"127.0.0.1:{self.target}"})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, answer.getheaders(), data

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that clients have closed are no news."""


class _Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: GcsServer

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urlsplit(self.path)
        bucket, _, name = unquote(url.path.lstrip("/")).partition("/")
        query = parse_qs(url.query, keep_blank_values=True)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer(403, [], b"")
        elif self.command in ("GET", "HEAD"):
            headers = {key: value for key, value in self.headers.items() if key.lower() == "range"}
            status, given, data = self.server.ask(self.command, self.path, b"", headers)
            is_empty = ("Content-Range", "bytes 0--1/0") in given  # of an empty object the server gives a range, Google none
            self._answer(416 if is_empty else status, [] if is_empty else given, data, bucket)
        elif self.command == "DELETE":
            self._delete(bucket, name, query)
        elif "uploads" in query:
            number = uuid.uuid4().hex
            self.server.uploads[number] = {}
            self._xml("InitiateMultipartUploadResult", Bucket=bucket, Key=name, UploadId=number)
        elif "partNumber" in query:
            part = f".parts/{query['uploadId'][0]}/{query['partNumber'][0]}"
            status, made = self._put(bucket, part, body, {})
            if status == 200:
                self.server.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = part
            self._written(status, made, bucket)
        elif "uploadId" in query:
            self._complete(bucket, name, query["uploadId"][0], body)
        else:
            self._written(*self._put(bucket, name, body, self.headers), bucket)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _any

    def _put(self, bucket: str, name: str, body: bytes, headers: Any) -> tuple[int, dict[str, Any]]:
        """One object, under the request's condition and with its own metadata."""
        wanted = headers.get("x-goog-if-generation-match")
        condition = "" if wanted is None else f"&ifGenerationMatch={wanted}"
        own = {key[12:].lower(): value for key, value in headers.items() if key.lower().startswith("x-goog-meta-")}
        described = json.dumps({"name": name, "metadata": own}).encode()
        parts = [b"--cut\r\nContent-Type: %s\r\n\r\n%s\r\n" % pair for pair in ((b"application/json", described), (b"a/b", body))]
        status, _, data = self.server.ask(
            "POST",
            f"/upload/storage/v1/b/{bucket}/o?uploadType=multipart{condition}",
            b"".join(parts) + b"--cut--\r\n",
            {"Content-Type": "multipart/related; boundary=cut"},
        )
        return status, json.loads(data) if status == 200 else {}

    def _delete(self, bucket: str, name: str, query: dict[str, list[str]]) -> None:
        if "uploadId" in query:
            for part in self.server.uploads.pop(query["uploadId"][0]).values():
                self._remove(bucket, part)
            self._answer(204, [], b"")
            return
        status, data = self._remove(bucket, name)
        self._answer(204 if status < 300 else status, [], data, bucket)

    def _remove(self, bucket: str, name: str) -> tuple[int, bytes]:
        status, _, data = self.server.ask("DELETE", f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}", b"", {})
        return status, data

    def _complete(self, bucket: str, name: str, number: str, body: bytes) -> None:
        """Put the parts that are named together, which the server's ``compose`` does; then they go."""
        parts = self.server.uploads[number]
        named = [int(found) for found in re.findall(rb"<PartNumber>(\d+)</PartNumber>", body)]
        request = {"sourceObjects": [{"name": parts[part]} for part in named], "destination": {}}
        path = f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}/compose"
        status, _, data = self.server.ask("POST", path, json.dumps(request).encode(), {"Content-Type": "application/json"})
        if status != 200:
            self._answer(status, [], data, bucket)
            return
        for part in self.server.uploads.pop(number).values():
            self._remove(bucket, part)
        self._xml("CompleteMultipartUploadResult", Bucket=bucket, Key=name, ETag=json.loads(data)["etag"])

    def _written(self, status: int, made: dict[str, Any], bucket: str) -> None:
        headers = [("ETag", f'"{made["etag"]}"'), ("x-goog-generation", str(made["generation"]))] if made else []
        self._answer(status, headers, b"", bucket)

    def _xml(self, root: str, **fields: str) -> None:
        inside = "".join(f"<{name}>{value}</{name}>" for name, value in fields.items())
        self._answer(200, [], f"<?xml version='1.0'?><{root}>{inside}</{root}>".encode())

    def _answer(self, status: int, headers: list[tuple[str, str]], data: bytes, bucket: str = "") -> None:
        if status >= 400:  # Google's XML API says what is wrong in XML
            code = _CODES.get(status, b"InternalError")
            if status == 404 and bucket and self.server.ask("GET", f"/storage/v1/b/{bucket}", b"", {})[0] == 404:
                code = _NO_BUCKET
            data = b"<?xml version='1.0'?><Error><Code>%s</Code><Message>refused</Message></Error>" % code
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        length = next((value for name, value in headers if name.lower() == "content-length"), None) if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing."""


@contextmanager
def gcs_server() -> Iterator[GcsServer]:
    if not PROGRAM.exists():
        raise RuntimeError("Cannot start the Google Cloud Storage server: it is not built: run scripts/fetch_gcs_server.sh")
    port = free_port()
    options = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-public-host", f"127.0.0.1:{port}", "-backend", "memory"]
    process = subprocess.Popen([str(PROGRAM), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers(port):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        server = GcsServer(port)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()
    finally:
        process.terminate()
        process.wait(timeout=30)
