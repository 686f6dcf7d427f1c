"""A proxy that lets in only who shows what it asks for, with an OAuth2 endpoint of its own."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

from tests.rest.proxy import Call, FaultProxy

CLIENT, SECRET = "the-client", "s3cr3t-of-the-client"


@dataclass
class Guard(FaultProxy):
    """``scheme``: ``bearer`` (tokens it issued, or ``known``), ``basic`` or ``sigv4``. ``requests`` are the forms that asked for tokens."""

    scheme: str = "bearer"
    lifetime_s: float = 3600.0
    tells_lifetime: bool = True
    known: dict[str, float] = field(default_factory=dict)
    requests: list[dict[str, str]] = field(default_factory=list)
    refused: int = 0
    shown: list[Call] = field(default_factory=list)
    """The requests that were let in, with their header ``authorization``."""

    def answer(self, verb: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, str], bytes] | None:
        given = next((value for key, value in headers.items() if key.lower() == "authorization"), "")
        if path.startswith(("/v1/oauth/tokens", "/auth/token")):
            return self._token(body, given)
        if not self._lets_in(given):
            self.refused += 1
            error = {"error": {"message": f"not authorised: {given}", "type": "NotAuthorizedException", "code": 401}}
            return 401, {"Content-Type": "application/json"}, json.dumps(error).encode()
        self.shown.append(Call(verb, path, {key.lower(): value for key, value in headers.items()}, body, lambda: (0, {}, b"")))
        return super().answer(verb, path, {k: v for k, v in headers.items() if k.lower() != "authorization"}, body)

    def _lets_in(self, given: str) -> bool:
        kind, _, value = given.partition(" ")
        match self.scheme:
            case "basic":
                return kind == "Basic" and base64.b64decode(value).decode() == f"{CLIENT}:{SECRET}"
            case "sigv4":
                return kind == "AWS4-HMAC-SHA256" and "Credential=AKIDEXAMPLE/" in value and "/eu-west-1/glue/aws4_request" in value
        return kind == "Bearer" and self.known.get(value, 0) > time.time()

    def _token(self, body: bytes, given: str) -> tuple[int, dict[str, str], bytes]:
        form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
        self.requests.append(form)
        if form["grant_type"] == "client_credentials":
            good = (form.get("client_id"), form["client_secret"]) == (CLIENT, SECRET)
        else:
            good = form["subject_token"] in self.known
        if not good:
            error = {"error": "invalid_client", "error_description": f"bad secret {form.get('client_secret')}"}
            return 401, {"Content-Type": "application/json"}, json.dumps(error).encode()
        token = f"tok-{secrets.token_hex(12)}"
        self.known[token] = time.time() + self.lifetime_s
        node = {"access_token": token, "token_type": "bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        if self.tells_lifetime:
            node["expires_in"] = self.lifetime_s  # type: ignore[assignment]
        return 200, {"Content-Type": "application/json"}, json.dumps(node).encode()
