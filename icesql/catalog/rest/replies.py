"""What a server answers, and what an error means: statuses and error types of the protocol as errors of ``icesql.errors``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CorruptMetadataError,
    IcesqlError,
    InvalidArgumentError,
    NotFoundError,
    ServiceError,
    UnsupportedError,
    ValidationError,
)

UNKNOWN_STATUSES = frozenset({500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is whole, and not compressed any more; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def object(self) -> dict[str, Any]:
        """The body, which must be a JSON object. Raises BadReplyError."""
        try:
            node = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadReplyError(f"Cannot read reply of the catalog's server: not JSON: {error}", status=self.status) from None
        if not isinstance(node, dict):
            raise BadReplyError(f"Cannot read reply of the catalog's server: no JSON object: {type(node).__name__}", status=self.status)
        return node


class BadReplyError(ServiceError):
    """The server answered with success, and with something else than the protocol says."""


class NoReplyError(ServiceError):
    """No answer came. ``was_sent``: the server may have got the request, and may have carried it out."""

    def __init__(self, message: str, *, was_sent: bool) -> None:
        super().__init__(message)
        self.was_sent = was_sent


@dataclass(frozen=True, slots=True)
class Fault:
    """The error of a reply: HTTP status, the exception's name where the server tells it, and its text."""

    status: int
    kind: str
    message: str

    @property
    def leaves_doubt(self) -> bool:
        """Whether a change that was answered so may have been made."""
        return self.status >= 500 and self.status != 501


def fault_of(reply: Reply) -> Fault:
    """Whatever the body is: proxies answer with pages of their own."""
    kind, message = "", ""
    try:
        node = reply.object()
    except BadReplyError:
        node = {}
    error = node.get("error")
    if isinstance(error, dict):
        kind, message = str(error.get("type") or ""), str(error.get("message") or "")
    elif isinstance(error, str):  # as OAuth2 servers write it
        kind, message = error, str(node.get("error_description") or "")
    return Fault(reply.status, kind.rpartition(".")[2], " ".join(message.split())[:2000])


def error_for(fault: Fault, doing: str) -> IcesqlError:
    """The error of a request that changed nothing. ``doing`` is a verb and its object: ``load table db.t``."""
    why = fault.message or fault.kind or "no reason was given"
    text = f"Cannot {doing}: {why}"
    match fault.status, fault.kind:
        case 400, "ValidationException" | "ValidationError":
            return ValidationError(text)
        case 400 | 422, _:
            return InvalidArgumentError(text)
        case 401 | 419, _:
            return ServiceError(f"Cannot {doing}: the server does not accept the credentials ({fault.status}): {why}", status=fault.status)
        case 403, _:
            return ServiceError(f"Cannot {doing}: not allowed ({fault.status}): {why}", status=fault.status)
        case 404, "NotFoundException":
            return CorruptMetadataError(f"Cannot {doing}: a file is missing: {why}")
        case 404, _:
            return NotFoundError(text)
        case 406 | 405 | 501, _:
            return UnsupportedError(text)
        case 409, "NamespaceNotEmptyException":
            return ValidationError(text)
        case 409, "CommitFailedException":
            return CommitFailedError(text)
        case 409, _:
            return AlreadyExistsError(text)
        case _:
            return ServiceError(f"Cannot {doing}: the server failed ({fault.status}): {why}", status=fault.status)
