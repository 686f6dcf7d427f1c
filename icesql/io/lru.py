"""The one cache: bounded by its number of entries or by what they weigh; the least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Thread safe. ``None`` cannot be a value: ``find`` returns it for a missing key.

    ``bound`` is a number of entries or, with ``weigh`` (the bytes a value holds), of bytes. A value heavier than a quarter of a bound in
    bytes is not kept.
    """

    def __init__(self, bound: int, weigh: Callable[[V], int] | None = None) -> None:
        self._bound, self._weigh = bound, weigh
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._weight, self._lock = 0, threading.Lock()

    def __contains__(self, key: K) -> bool:
        """Does not count as a use."""
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> list[V]:
        with self._lock:
            return [value for value, _ in self._entries.values()]

    def find(self, key: K) -> V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V) -> V:
        weight = 1 if self._weigh is None else self._weigh(value)
        with self._lock:
            return self._put(key, value, weight)

    def find_or_make(self, key: K, make: Callable[[], V]) -> V:
        """``make`` runs outside the lock: threads that ask at the same time may each make the value; all get the first one."""
        value = self.find(key)
        if value is not None:
            return value
        made = make()
        weight = 1 if self._weigh is None else self._weigh(made)
        with self._lock:
            entry = self._entries.get(key)
            return self._put(key, made, weight) if entry is None else entry[0]

    def _put(self, key: K, value: V, weight: int) -> V:
        self._drop(key)
        if self._weigh is None or weight * 4 <= self._bound:
            self._entries[key] = (value, weight)
            self._weight += weight
        while self._weight > self._bound:
            self._drop(next(iter(self._entries)))
        return value

    def drop(self, key: K) -> None:
        with self._lock:
            self._drop(key)

    def _drop(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._weight -= entry[1]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._weight = 0
