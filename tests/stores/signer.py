"""A signer of S3 requests as a REST catalog has one: botocore signs, and nobody else has the keys."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.stores.s3_server import ACCESS_KEY, SECRET_KEY


class HeaderSigner(S3SigV4Auth):  # type: ignore[misc]
    """Of headers and address alone: the content is not here."""

    def payload(self, request: AWSRequest) -> str:
        return "UNSIGNED-PAYLOAD"


@dataclass
class Signer:
    """``seen``: the requests that were to be signed. ``token``: who does not bring it is not let in. ``below``: paths that are signed."""

    token: str | None = None
    is_cacheable: bool = False
    in_address: bool = False
    """Signatures are part of the address, and not headers."""
    below: str = "/"
    seen: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        signer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                node = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, answer = signer.answer(node, self.headers.get("Authorization"))
                data = json.dumps(answer).encode()
                self.send_response_only(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Cache-Control", "private" if signer.is_cacheable else "no-cache")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/sign"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, node: dict[str, Any], authorization: str | None) -> tuple[int, dict[str, Any]]:
        if self.token is not None and authorization != f"Bearer {self.token}":
            return 401, {"error": {"message": f"not let in: {authorization}", "type": "NotAuthorizedException", "code": 401}}
        self.seen.append(node)
        if not urlsplit(node["uri"]).path.startswith(self.below) and "body" not in node:
            return 403, {"error": {"message": "not of this table", "type": "ForbiddenException", "code": 403}}
        if self.in_address:
            request = AWSRequest(node["method"], node["uri"], headers={})
            S3SigV4QueryAuth(Credentials(ACCESS_KEY, SECRET_KEY), "s3", node["region"], expires=60).add_auth(request)
            return 200, {"uri": request.url, "headers": {}}
        headers = {key: values[0] for key, values in node["headers"].items()}
        request = AWSRequest(node["method"], node["uri"], headers=headers)
        HeaderSigner(Credentials(ACCESS_KEY, SECRET_KEY), "s3", node["region"]).add_auth(request)
        return 200, {"uri": node["uri"], "headers": {key: [value] for key, value in request.headers.items()}}
