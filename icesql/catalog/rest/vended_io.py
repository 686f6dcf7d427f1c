"""A table's files under credentials that end: each location by the credential of its longest prefix, renewed ahead of time.

A task takes along the credentials that are good when it is made, and asks for new ones itself when these near their end.
"""

from __future__ import annotations

import logging
import pickle
import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from icesql.catalog.rest.credentials import Credential, Renewal, is_signed, longest_first
from icesql.errors import IcesqlError, UnsupportedError
from icesql.io.storage.file_systems import ArrowFileIO, load_file_io, scheme_of
from icesql.io.storage.files import FileIO
from icesql.io.storage.routed_files import RoutedFileIO
from icesql.io.stores.object_files import OBJECT_SCHEMES, object_input
from icesql.io.stores.signing import RequestSigner

if TYPE_CHECKING:
    from icesql.table.scan.planning import ScanPlanner

logger = logging.getLogger(__name__)


class VendedFileIO(RoutedFileIO):
    """Thread safe; implements ``FileIO``."""

    def __init__(
        self,
        properties: Mapping[str, str],
        credentials: tuple[Credential, ...],
        renewal: Renewal | None = None,
        signer: RequestSigner | None = None,
        scan_planner: ScanPlanner | None = None,
    ) -> None:
        """``scan_planner`` plans the table's scans in our place; tasks have none."""
        self.scan_planner = scan_planner
        self._properties, self._credentials, self._renewal, self._signer = dict(properties), credentials, renewal, signer
        self._systems: dict[str, FileIO] = {}
        self._next_renewal_s = 0.0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"VendedFileIO({', '.join(repr(one.prefix) for one in self._credentials)})"

    def __reduce__(self) -> tuple[Any, ...]:
        self._fresh()
        return (_in_task, (self._properties, self._credentials, _shipped(self._renewal), _shipped(self._signer)))

    @property
    def signer(self) -> RequestSigner | None:
        """Who signs requests, where keys are not what opens the files."""
        return self._signer

    @property
    def only_here(self) -> str:
        """Why nobody else can open the files, the JVM for one: what opens them is in our hands."""
        if self._signer is not None:
            return "the catalog signs the requests"
        return "the catalog gives the credentials" if any("://" in one.prefix for one in self._credentials) else ""

    @property
    def properties(self) -> dict[str, str]:
        """Without the credentials of prefixes."""
        return dict(self._properties)

    def adopt(self, credentials: tuple[Credential, ...], plan_id: str | None) -> None:
        """From now on these open files, before others of the same prefix: a plan came with them."""
        prefixes = {one.prefix for one in credentials}
        with self._lock:
            self._credentials = longest_first([*credentials, *(one for one in self._credentials if one.prefix not in prefixes)])
            self._systems = {}
            if self._renewal is not None:
                self._renewal.plan_id = plan_id

    def _fresh(self) -> tuple[Credential, ...]:
        """The credentials, asked for anew when one of them nears its end."""
        now_s = time.time()
        if self._renewal is not None and self._is_due(now_s):
            with self._lock:
                if self._is_due(now_s):
                    self._credentials, self._systems = self._renewed(self._renewal), {}
                    ends = [one.ends_at_s for one in self._credentials if one.ends_at_s is not None]
                    self._next_renewal_s = now_s + (min(ends, default=now_s) - now_s) / 2
        return self._credentials

    def _is_due(self, now_s: float) -> bool:
        """Credentials that are vended for a few minutes are near their end always: they serve for half of their time."""
        return now_s >= self._next_renewal_s and any(one.is_old(now_s) for one in self._credentials)

    def _renewed(self, renewal: Renewal) -> tuple[Credential, ...]:
        """Old ones that are still good serve while no new ones can be had. Raises ServiceError."""
        try:
            return renewal.renewed(self._credentials)
        except IcesqlError as error:
            if any(one.has_ended(time.time()) for one in self._credentials):
                raise
            logger.warning("Cannot renew storage credentials ahead of their end: %s", error)
            return self._credentials

    def _for(self, location: str) -> FileIO:
        credential = next((one for one in self._fresh() if location.startswith(one.prefix)), None)
        key = "" if credential is None else credential.prefix
        with self._lock:
            system = self._systems.get(key)
            if system is None:
                settings = self._properties if credential is None else {**self._properties, **credential.config}
                system = self._systems[key] = load_file_io(settings, signer=self._signer if is_signed(settings) else None)
            return system

    def open_input(self, location: str) -> BinaryIO:
        """Each request for a part of an object takes the credentials of then."""
        first = self._for(location)
        if scheme_of(location) not in OBJECT_SCHEMES or not isinstance(first, ArrowFileIO):
            return first.open_input(location)
        return object_input(lambda: cast(ArrowFileIO, self._for(location)).objects, location)

    def delete_many(self, locations: Iterable[str]) -> list[tuple[str, str]]:
        shares: dict[int, tuple[FileIO, list[str]]] = {}
        for location in locations:
            system = self._for(location)
            shares.setdefault(id(system), (system, []))[1].append(location)
        return [failure for system, share in shares.values() for failure in system.delete_many(share)]


def _shipped(part: Renewal | RequestSigner | None) -> bytes | None:
    """``None`` for what cannot ask from a task: such a task has to finish before its credentials end."""
    try:
        return None if part is None else pickle.dumps(part)
    except UnsupportedError:
        return None


def _in_task(
    properties: Mapping[str, str], credentials: tuple[Credential, ...], renewal: bytes | None, signer: bytes | None
) -> VendedFileIO:
    parts = [None if part is None else pickle.loads(part) for part in (renewal, signer)]
    return VendedFileIO(properties, credentials, *parts)
