"""Lists in pages. A token holds the last name of the page before, so that a list which changes meanwhile gives no name twice."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence

import msgspec

from icesql.server.problems import bad_request

Name = tuple[str, ...]


def page(names: Sequence[Name], query: Mapping[str, str]) -> tuple[list[Name], str | None]:
    """Those of the page that is asked for, sorted, and the token of the next one. Without ``pageToken`` all are given.

    Raises Problem 400.
    """
    ordered = sorted(names)
    token = query.get("pageToken")
    if token is None:
        return ordered, None
    if token:
        last = _read(token)
        ordered = [name for name in ordered if name > last]
    size = _size(query)
    if size is None or len(ordered) <= size:
        return ordered, None
    return ordered[:size], _write(ordered[size - 1])


def _size(query: Mapping[str, str]) -> int | None:
    text = query.get("pageSize")
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise bad_request(f"Malformed request: pageSize is no number above 0: {text}")
    return int(text)


def _write(name: Name) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(name)).decode().rstrip("=")


def _read(token: str) -> Name:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)), type=tuple[str, ...])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise bad_request(f"Malformed request: no such page token: {token}") from None
