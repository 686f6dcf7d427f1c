"""A table's files under credentials that end: each location by the credential of its longest prefix, renewed ahead of time.

Where it is pickled, for a task, it takes the credentials that are good then, and the task has to finish before they end.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any

from icesql.catalog.rest.credentials import Credential, Renewal
from icesql.io.storage.file_systems import load_file_io
from icesql.io.storage.files import FileIO
from icesql.io.storage.routed_files import RoutedFileIO


class VendedFileIO(RoutedFileIO):
    """Thread safe; implements ``FileIO``."""

    def __init__(self, properties: Mapping[str, str], credentials: tuple[Credential, ...], renewal: Renewal | None = None) -> None:
        self._properties, self._credentials, self._renewal = dict(properties), credentials, renewal
        self._systems: dict[str, FileIO] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"VendedFileIO({', '.join(repr(one.prefix) for one in self._credentials)})"

    def __reduce__(self) -> tuple[Any, ...]:
        self._fresh()
        return (VendedFileIO, (self._properties, self._credentials))

    @property
    def properties(self) -> dict[str, str]:
        """Without the credentials of prefixes."""
        return dict(self._properties)

    def _fresh(self) -> tuple[Credential, ...]:
        """The credentials, asked for anew when one of them nears its end."""
        now_s = time.time()
        if self._renewal is not None and any(one.is_old(now_s) for one in self._credentials):
            with self._lock:
                if any(one.is_old(now_s) for one in self._credentials):
                    self._credentials, self._systems = self._renewal.renewed(self._credentials), {}
        return self._credentials

    def _for(self, location: str) -> FileIO:
        credential = next((one for one in self._fresh() if location.startswith(one.prefix)), None)
        key = "" if credential is None else credential.prefix
        with self._lock:
            system = self._systems.get(key)
            if system is None:
                settings = self._properties if credential is None else {**self._properties, **credential.config}
                system = self._systems[key] = load_file_io(settings)
            return system

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        shares: dict[int, tuple[FileIO, list[str]]] = {}
        for location in locations:
            system = self._for(location)
            shares.setdefault(id(system), (system, []))[1].append(location)
        return [failure for system, share in shares.values() for failure in system.delete_many(share)]
