"""Pointers in this process's memory: for tests and notebooks. The tables' files are in the catalog's warehouse."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from icesql.catalog.names import Identifier, Namespace, dotted
from icesql.catalog.pointers import PointerKind, Swap
from icesql.errors import AlreadyExistsError, CommitFailedError, NotFoundError


class MemoryStore:
    """A ``PointerStore`` over dictionaries and one lock. Each change is one step, so that an interrupt leaves no half of it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._pointers: dict[Identifier, tuple[PointerKind, str]] = {}
        self._namespaces: dict[Namespace, dict[str, str]] = {}

    def find(self, kind: PointerKind, identifier: Identifier, *, settled: bool = False) -> str | None:
        with self._lock:
            pointer = self._pointers.get(identifier)
            return pointer[1] if pointer is not None and pointer[0] is kind else None

    def has_been_led_to(self, kind: PointerKind, location: str) -> bool:
        with self._lock:
            return (kind, location) in self._pointers.values()

    def names(self, kind: PointerKind, namespace: Namespace) -> list[Identifier]:
        with self._lock:
            return sorted(name for name, (held, _) in self._pointers.items() if held is kind and name[:-1] == namespace)

    def pointers(self, kind: PointerKind) -> list[tuple[Identifier, str]]:
        with self._lock:
            return [(name, location) for name, (held, location) in self._pointers.items() if held is kind]

    def files(self) -> list[str]:
        return []

    def swap(self, kind: PointerKind, swaps: Sequence[Swap]) -> None:
        with self._lock:
            for one in swaps:
                self._check(kind, one)
            self._pointers.update({one.identifier: (kind, one.location) for one in swaps})

    def _check(self, kind: PointerKind, one: Swap) -> None:
        held = self._pointers.get(one.identifier)
        if one.previous is None:
            if held is not None:
                raise AlreadyExistsError(f"Cannot create {kind.value.lower()}: {held[0].noun} already exists: {dotted(one.identifier)}")
        elif held != (kind, one.previous):
            raise CommitFailedError(f"Cannot commit {dotted(one.identifier)}: another writer changed it first", expected=one.previous)

    def remove(self, kind: PointerKind, identifier: Identifier, location: str | None = None) -> bool:
        with self._lock:
            pointer = self.find(kind, identifier)
            if pointer is None or (location is not None and pointer != location):
                return False
            del self._pointers[identifier]
            return True

    def rename(self, kind: PointerKind, source: Identifier, target: Identifier) -> None:
        with self._lock:
            location = self.find(kind, source)
            if location is None:
                raise NotFoundError(f"Cannot rename {kind.value.lower()}: {kind.noun} does not exist: {dotted(source)}")
            if target in self._pointers:
                raise AlreadyExistsError(
                    f"Cannot rename {dotted(source)} to {dotted(target)}: {self._pointers[target][0].noun} already exists: {dotted(target)}"
                )
            kept = {name: held for name, held in self._pointers.items() if name != source}
            self._pointers = {**kept, target: (kind, location)}

    def namespaces(self) -> set[Namespace]:
        with self._lock:
            named = {*self._namespaces, *(identifier[:-1] for identifier in self._pointers)}
        return {name[:depth] for name in named for depth in range(1, len(name) + 1)}

    def namespace_properties(self, namespace: Namespace) -> dict[str, str]:
        with self._lock:
            return dict(self._namespaces.get(namespace, {}))

    def update_namespace(self, namespace: Namespace, removals: Iterable[str], updates: Mapping[str, str], *, create: bool = False) -> None:
        with self._lock:
            if create and namespace in self._namespaces:
                raise AlreadyExistsError(f"Cannot create namespace: Namespace already exists: {dotted(namespace)}")
            gone = set(removals)
            kept = {key: value for key, value in self._namespaces.get(namespace, {}).items() if key not in gone}
            self._namespaces[namespace] = {**kept, **updates}

    def remove_namespace(self, namespace: Namespace) -> None:
        with self._lock:
            self._namespaces.pop(namespace, None)

    def close(self) -> None:
        """Does nothing: there are no connections."""
