"""Errors as the REST protocol sends them: a status, the name of the exception that clients raise, and one sentence.

A commit's answer must say no more than is certain: 4xx means that nothing was changed, and 500, 502, 503 and 504 that nobody knows.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from icesql.catalog.names import Identifier, Namespace, dotted
from icesql.errors import (
    AlreadyExistsError,
    CommitFailedError,
    CommitStateUnknownError,
    CorruptMetadataError,
    IcesqlError,
    InvalidArgumentError,
    NotFoundError,
    ServiceError,
    SqlError,
    UnsupportedError,
    ValidationError,
)
from icesql.spec.json.faults import JsonFault


class Problem(Exception):
    """An answer that is an error. ``type`` is the name of Iceberg's Java exception; ``headers`` go with it."""

    def __init__(self, status: int, type_: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.type, self.message, self.headers = status, type_, message, dict(headers or {})

    def body(self) -> bytes:
        return msgspec.json.encode({"error": {"message": self.message, "type": self.type, "code": self.status}})


def bad_request(message: str) -> Problem:
    return Problem(400, "BadRequestException", message)


def no_such_namespace(namespace: Namespace) -> Problem:
    return Problem(404, "NoSuchNamespaceException", f"Namespace does not exist: {dotted(namespace)}")


def no_such_table(identifier: Identifier) -> Problem:
    return Problem(404, "NoSuchTableException", f"Table does not exist: {dotted(identifier)}")


def no_such_view(identifier: Identifier) -> Problem:
    return Problem(404, "NoSuchViewException", f"View does not exist: {dotted(identifier)}")


def already_exists(message: str) -> Problem:
    return Problem(409, "AlreadyExistsException", message)


_STATUS: tuple[tuple[type[IcesqlError], int, str], ...] = (
    (JsonFault, 400, "BadRequestException"),
    (CommitStateUnknownError, 500, "CommitStateUnknownException"),
    (CommitFailedError, 409, "CommitFailedException"),
    (AlreadyExistsError, 409, "AlreadyExistsException"),
    (ValidationError, 400, "ValidationException"),
    (InvalidArgumentError, 400, "IllegalArgumentException"),
    (SqlError, 400, "IllegalArgumentException"),
    (UnsupportedError, 406, "UnsupportedOperationException"),
    (NotFoundError, 404, "NotFoundException"),
    (ServiceError, 503, "ServiceUnavailableException"),
)


def problem_of(error: Exception, *, commits: bool = False) -> Problem:
    """The answer to an error. ``commits``: the request may have changed something, so what is not understood is an unknown outcome."""
    if isinstance(error, Problem):
        return error
    for kind, status, name in _STATUS:
        if isinstance(error, kind):
            return Problem(status, name, str(error))
    if isinstance(error, CorruptMetadataError):
        return (
            Problem(500, "RuntimeIOException", str(error)) if not _is_missing_file(error) else Problem(404, "NotFoundException", str(error))
        )
    if isinstance(error, RecursionError) and not commits:
        return bad_request("Malformed request: it is nested too deeply")
    if isinstance(error, IcesqlError):
        return Problem(503, "ServiceUnavailableException", str(error)) if not commits else _unknown()
    return _unknown() if commits else Problem(500, "InternalServerError", "The server failed; its log says why under this request's id")


def _is_missing_file(error: CorruptMetadataError) -> bool:
    return isinstance(error.__cause__, NotFoundError)


def _unknown() -> Problem:
    message = "The server failed while it committed, and whether it did is not known; its log says why under this request's id"
    return Problem(500, "CommitStateUnknownException", message)
