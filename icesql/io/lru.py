"""A cache bounded by its number of entries; the least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Thread safe. ``None`` cannot be a value: ``find`` returns it for a missing key."""

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: K) -> bool:
        """Does not count as a use."""
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def values(self) -> list[V]:
        with self._lock:
            return list(self._values.values())

    def find(self, key: K) -> V | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> V:
        with self._lock:
            return self._put(key, value)

    def find_or_make(self, key: K, make: Callable[[], V]) -> V:
        """``make`` runs outside the lock: threads that ask at the same time may each make the value; all get the first one."""
        value = self.find(key)
        if value is not None:
            return value
        made = make()
        with self._lock:
            value = self._values.get(key)
            return self._put(key, made) if value is None else value

    def _put(self, key: K, value: V) -> V:
        self._values[key] = value
        self._values.move_to_end(key)
        while len(self._values) > self._max_entries:
            self._values.popitem(last=False)
        return value

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
