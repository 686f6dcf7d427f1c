"""Credentials that a catalog hands out for prefixes of locations, and hands out anew before they expire.

REST spec: ``LoadTableResult.storage-credentials``: of several entries the one with the longest prefix of a location counts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

_EARLY_MS = 5 * 60 * 1000
_EXPIRIES = ("s3.session-token-expires-at-ms", "gcs.oauth2.token-expires-at")
_SAS_EXPIRY = "adls.sas-token-expires-at-ms."


@dataclass(frozen=True, slots=True)
class StorageCredential:
    """Properties (Iceberg's FileIO keys) for locations that begin with ``prefix``."""

    prefix: str
    config: Mapping[str, str] = field(repr=False)

    @property
    def expires_at_ms(self) -> int | None:
        """When the first of its tokens expires, ``None`` if none says."""
        times = [self.config[key] for key in _EXPIRIES if key in self.config]
        times += [value for key, value in self.config.items() if key.startswith(_SAS_EXPIRY)]
        return min((int(text) for text in times if text.isdigit()), default=None)


Renewal = Callable[[], Sequence[StorageCredential]]
"""Asks the catalog for credentials anew. Picklable where tasks on other machines must outlive the ones they began with."""


class Vended:
    """The credentials of one table. Thread safe; goes to tasks with what it holds at that time."""

    def __init__(self, credentials: Sequence[StorageCredential] = (), renew: Renewal | None = None) -> None:
        self._credentials, self._renew, self._lock = tuple(credentials), renew, threading.Lock()

    def __reduce__(self) -> tuple[object, ...]:
        return Vended, (self._credentials, self._renew)

    def __bool__(self) -> bool:
        return bool(self._credentials)

    def properties_for(self, location: str) -> Mapping[str, str]:
        """What holds for a location: nothing where no prefix is one of it. Renewed first where it expires within five minutes."""
        credential = self._longest(location)
        if credential is None:
            return {}
        if self._renew is not None and _is_old(credential):
            with self._lock:
                credential = self._longest(location) or credential
                if _is_old(credential):
                    self._credentials = tuple(self._renew())
                    credential = self._longest(location) or credential
        return credential.config

    def _longest(self, location: str) -> StorageCredential | None:
        fitting = [credential for credential in self._credentials if location.startswith(credential.prefix)]
        return max(fitting, key=lambda credential: len(credential.prefix), default=None)


def _is_old(credential: StorageCredential) -> bool:
    expiry = credential.expires_at_ms
    return expiry is not None and expiry - _EARLY_MS < time.time() * 1000
