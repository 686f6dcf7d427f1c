"""The interface of a metastore: names that point to metadata files, and properties of namespaces.

``icesql.catalog.metastore`` makes a catalog of it; ``memory`` and ``sql_store`` implement it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from icesql.catalog.names import Identifier, Namespace
from icesql.errors import CommitStateUnknownError
from icesql.table.outcomes import Outcome


class PointerKind(str, Enum):
    """What a name points to. Tables and views share one name space."""

    TABLE = "TABLE"
    VIEW = "VIEW"

    @property
    def noun(self) -> str:
        return self.value.capitalize()


@dataclass(frozen=True, slots=True)
class Swap:
    """Move one name from ``previous`` (``None``: the name must be free) to ``location``."""

    identifier: Identifier
    previous: str | None
    location: str


def _no_record() -> Outcome:
    return Outcome.UNKNOWN


class SwapUncertainError(CommitStateUnknownError):
    """The store failed while it made the step final. Operations look again before they report to the caller.

    ``recorded`` asks the store's own record of the transaction: it raises while that is in progress, and gives UNKNOWN without a record.
    """

    def __init__(self, message: str, recorded: Callable[[], Outcome] = _no_record) -> None:
        super().__init__(message)
        self.recorded = recorded


class PointerStore(Protocol):
    """Thread safe; every method is one atomic step."""

    def find(self, kind: PointerKind, identifier: Identifier, *, settled: bool = False) -> str | None:
        """The metadata location, ``None`` if there is none. ``settled`` waits for changes in flight to this name, so that a location is
        final; a create in flight may still take a name that is free."""

    def has_been_led_to(self, kind: PointerKind, location: str) -> bool:
        """Whether any name points to the file, or did so before its last swap."""

    def names(self, kind: PointerKind, namespace: Namespace) -> list[Identifier]: ...

    def pointers(self, kind: PointerKind) -> list[tuple[Identifier, str]]:
        """Every name, in all namespaces, and its metadata location."""

    def files(self) -> list[str]:
        """Locations of files that hold the store itself."""

    def swap(self, kind: PointerKind, swaps: Sequence[Swap]) -> None:
        """All or none. Raises CommitFailedError, AlreadyExistsError (both: certainly not done), SwapUncertainError."""

    def remove(self, kind: PointerKind, identifier: Identifier, location: str | None = None) -> bool:
        """False if it was not there, or points to another file than ``location``. Raises CommitFailedError, SwapUncertainError."""

    def rename(self, kind: PointerKind, source: Identifier, target: Identifier) -> None:
        """Raises NotFoundError, AlreadyExistsError, CommitFailedError, SwapUncertainError."""

    def namespaces(self) -> set[Namespace]:
        """Every namespace created, or implied by a table, a view or a child; never the empty one."""

    def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        """Empty for an implied namespace, or one that is not there."""

    def update_namespace(self, namespace: Namespace, removals: Iterable[str], updates: Mapping[str, str], *, create: bool = False) -> None:
        """Write properties; ``create`` raises AlreadyExistsError where the namespace was created before."""

    def remove_namespace(self, namespace: Namespace) -> None: ...

    def close(self) -> None: ...
