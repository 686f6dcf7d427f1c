"""Requests to S3 that are signed by someone else, who has the keys: what is asked for, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

REMOTE_SIGNING_ENABLED = "s3.remote-signing-enabled"


@dataclass(frozen=True, slots=True)
class UnsignedRequest:
    """``body`` only where the signer has to see it: of a request that deletes many objects."""

    verb: str
    url: str
    region: str
    headers: Mapping[str, str]
    body: str | None = None


@dataclass(frozen=True, slots=True)
class SignedRequest:
    url: str
    headers: Mapping[str, str] = field(repr=False)


class RequestSigner(Protocol):
    """Thread safe and picklable. Equal ones may share connections."""

    def signed(self, request: UnsignedRequest, *, anew: bool = False) -> SignedRequest:
        """``anew``: not one from memory. Raises ServiceError if it is refused."""
