"""What a client of one bucket or container needs to be made: the same for all tables that reach it with the same keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.io.stores.signing import RequestSigner

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Retries:
    """``count`` tries after the first, ``least_ms`` to ``most_ms`` apart (exponential, with jitter), for ``timeout_s`` at most."""

    count: int = 10
    least_ms: int = 100
    most_ms: int = 15_000
    timeout_s: int = 180


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """``kind``: ``s3``, ``gcs`` or ``azure``. ``config`` and ``client`` are the client library's own keys, sorted.

    ``credentials`` says where they come from: ``given``, ``anonymous``, ``environment``, ``profile <name>``, ``role <arn>``,
    ``catalog`` (which signs).
    """

    kind: str
    container: str
    config: tuple[tuple[str, Any], ...] = field(repr=False)
    client: tuple[tuple[str, Any], ...] = ()
    credentials: str = "environment"
    role: tuple[tuple[str, str], ...] = ()
    retries: Retries = Retries()
    part_bytes: int = 16 * MIB
    upload_threads: int = 4
    delete_batch: int = 1000
    storage_class: str | None = None
    tags: tuple[tuple[str, str], ...] = ()
    deletes: bool = True
    refused_writes: str | None = None
    signer: RequestSigner | None = field(default=None, repr=False)


def whole(properties: Mapping[str, str], key: str, default: int, *, least: int = 0) -> int:
    """A property that must be a whole number. Raises InvalidArgumentError."""
    text = properties.get(key)
    if text is None:
        return default
    try:
        number = int(text)
    except ValueError:
        raise InvalidArgumentError(f"Cannot open store: {key} is not a whole number: {text}", key=key) from None
    if number < least:
        raise InvalidArgumentError(f"Cannot open store: {key} must be at least {least}: {text}", key=key)
    return number


def flag(properties: Mapping[str, str], key: str, default: bool) -> bool:
    """A property that must be true or false. Raises InvalidArgumentError."""
    text = properties.get(key)
    if text is None:
        return default
    if text.lower() not in ("true", "false"):
        raise InvalidArgumentError(f"Cannot open store: {key} must be true or false: {text}", key=key)
    return text.lower() == "true"


def first(properties: Mapping[str, str], *keys: str) -> str | None:
    """The value of the first key that is set, ``None`` if none is. An empty text is not set."""
    return next((properties[key] for key in keys if properties.get(key)), None)


def both(properties: Mapping[str, str], *pairs: tuple[str, str]) -> tuple[str, str] | None:
    """The first pair of keys that is set. Raises InvalidArgumentError where only one of a pair is."""
    for one, other in pairs:
        if properties.get(one) and properties.get(other):
            return properties[one], properties[other]
        if properties.get(one) or properties.get(other):
            missing = other if properties.get(one) else one
            raise InvalidArgumentError(f"Cannot open store: {one} and {other} go together; set {missing}", key=missing)
    return None


def sorted_items(config: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((key, value) for key, value in config.items() if value is not None))
