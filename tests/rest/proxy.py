"""A proxy before a REST server that loses replies, sends requests twice, fails, dawdles and lies, as it is told."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Body = bytes | None


@dataclass
class Call:
    """One request, and what the proxy answers. ``forward`` may be called any number of times."""

    verb: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    _send: Callable[[], tuple[int, dict[str, str], bytes]]

    def forward(self) -> tuple[int, dict[str, str], bytes]:
        return self._send()


Fault = Callable[[Call], "tuple[int, dict[str, str], bytes] | None"]
"""What to answer; ``None`` closes the connection without an answer."""


@dataclass
class FaultProxy:
    """``faults`` are taken one after the other by the requests that ``chosen`` picks; all others go through."""

    target: str
    chosen: Callable[[Call], bool] = lambda call: call.verb == "POST"
    faults: list[Fault] = field(default_factory=list)
    seen: list[Call] = field(default_factory=list)
    failures: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                answer = proxy.answer(self.command, self.path, dict(self.headers), body)
                if answer is None:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                status, headers, data = answer
                self.send_response_only(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                if status not in (204, 304):
                    self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD" and status not in (204, 304):
                    self.wfile.write(data)

            do_GET = do_POST = do_HEAD = do_DELETE = handle_any

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients that hang up are part of the tests."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        call = Call(verb, path, headers, body, lambda: self._forward(verb, path, headers, body))
        with self._lock:
            self.seen.append(call)
            fault = self.faults.pop(0) if self.faults and self.chosen(call) else None
            self.failures += fault is not None
        return call.forward() if fault is None else fault(call)

    def _forward(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes]:
        place = urlsplit(self.target)
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
        try:
            kept = {key: value for key, value in headers.items() if key.lower() not in ("host", "connection", "accept-encoding")}
            connection.request(verb, path, body or None, kept)
            reply = connection.getresponse()
            data = reply.read()
            dropped = ("connection", "transfer-encoding", "content-length", "date", "server")
            return reply.status, {key: value for key, value in reply.getheaders() if key.lower() not in dropped}, data
        finally:
            connection.close()


# -- faults ------------------------------------------------------------------------------------------------------------
def lost_reply(call: Call) -> None:
    """Carried out; the connection breaks before the answer."""
    call.forward()


def never_arrives(call: Call) -> None:
    """Not carried out; the connection breaks."""


def sent_twice(call: Call) -> tuple[int, dict[str, str], bytes]:
    """The second answer is the one that comes back."""
    call.forward()
    return call.forward()


def status(code: int, *, after: bool, headers: Mapping[str, str] | None = None, page: bytes = b"<html>upstream failed</html>") -> Fault:
    """An error of a gateway, before or after the request was carried out."""

    def fault(call: Call) -> tuple[int, dict[str, str], bytes]:
        if after:
            call.forward()
        return code, {"Content-Type": "text/html", **(headers or {})}, page

    return fault


def wrong_json(call: Call) -> tuple[int, dict[str, str], bytes]:
    """Carried out; what comes back is half of an answer."""
    code, headers, data = call.forward()
    return code, headers, data[: len(data) // 2]


def not_json(call: Call) -> tuple[int, dict[str, str], bytes]:
    code, headers, _ = call.forward()
    return code, headers, b"<html>welcome to the wireless network of this hotel</html>"


def slow(seconds: float) -> Fault:
    def fault(call: Call) -> tuple[int, dict[str, str], bytes]:
        answer = call.forward()
        time.sleep(seconds)
        return answer

    return fault


def late(seconds: float) -> Fault:
    """The connection breaks now, and the request is carried out later."""

    def fault(call: Call) -> None:
        threading.Timer(seconds, call.forward).start()

    return fault
