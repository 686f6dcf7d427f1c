"""A proxy between a client and a store that makes faults: refusals, resets, slow and cut answers, and answers lost after success."""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SLOW_DOWN = "503"
INTERNAL = "500"
REFUSED = "reset before"
LOST = "lost after success"
CUT = "cut in the body"
SLOW = "slow first byte"
FAULTS = (SLOW_DOWN, INTERNAL, REFUSED, LOST, CUT, SLOW)

Fault = Callable[[str, str, int], "str | None"]
"""From method, path with query, and the request's number to a fault, or none."""
_BODY = b'<?xml version="1.0"?><Error><Code>%s</Code><Message>made by the test</Message></Error>'


class Proxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, target: int, fault: Fault) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target, self.fault = target, fault
        self.requests: list[tuple[str, str]] = []
        self.faults: list[tuple[str, str, str]] = []
        self.latency_s = 0.0
        self.admits: Callable[[str], bool] = lambda token: True
        """Whether a session token is still good. Where there are some, requests are signed anew for the store, which knows none."""
        self.resigns = False
        self.expired = 0
        self._lock = threading.Lock()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def seen(self, method: str, path: str) -> str | None:
        with self._lock:
            self.requests.append((method, path))
            made = self.fault(method, path, len(self.requests))
            if made is not None:
                self.faults.append((made, method, path))
            return made

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Connections that clients or faults have closed are no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def _any(self) -> None:
        body = self._body()
        fault = self.server.seen(self.command, self.path)
        if self.server.latency_s:
            time.sleep(self.server.latency_s)
        if not self.server.admits(self.headers.get("x-amz-security-token", "")):
            self.server.expired += 1
            self._refuse(403, b"ExpiredToken")
            return
        if fault in (SLOW_DOWN, INTERNAL):
            self._refuse(int(fault), b"SlowDown" if fault == SLOW_DOWN else b"InternalError")
            return
        if fault == REFUSED:
            self._reset()
            return
        answer, data = self._forward(body)
        if fault == LOST:
            self._reset()
            return
        if fault == SLOW:
            time.sleep(0.5)
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(data))
        self.send_header("Content-Length", length or "0")
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == CUT:
            self.wfile.write(data[: len(data) // 2])
            self.wfile.flush()
            self._reset()
            return
        self.wfile.write(data)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _any

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _forward(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.target, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in (self._signed_anew() if self.server.resigns else self.headers).items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def _signed_anew(self) -> Any:
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        from tests.stores.s3_server import ACCESS_KEY, REGION, SECRET_KEY
        from tests.stores.signer import HeaderSigner

        dropped = ("authorization", "x-amz-security-token", "x-amz-date", "x-amz-content-sha256", "connection", "accept-encoding")
        kept = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        request = AWSRequest(self.command, f"{self.server.endpoint}{self.path}", headers=kept)
        HeaderSigner(Credentials(ACCESS_KEY, SECRET_KEY), "s3", REGION).add_auth(request)
        return request.headers

    def _refuse(self, status: int, code: bytes) -> None:
        data = _BODY % code
        self.send_response_only(status)
        self.send_header("Content-Length", "0" if self.command == "HEAD" else str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing."""


@contextmanager
def proxy(target: int, fault: Fault = lambda method, path, number: None) -> Iterator[Proxy]:
    server = Proxy(target, fault)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
