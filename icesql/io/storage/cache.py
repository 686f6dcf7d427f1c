"""A small cache bounded by the bytes its values hold; least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class ByteBoundedCache(Generic[V]):
    """Thread safe. ``weigh`` gives the bytes a value holds; a value heavier than a quarter of the bound is not kept."""

    def __init__(self, max_bytes: int, weigh: Callable[[V], int]) -> None:
        self._max_bytes, self._weigh = max_bytes, weigh
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._held, self._lock = 0, threading.Lock()

    def find(self, key: Hashable) -> V | None:
        with self._lock:
            entry = self._values.get(key)
            if entry is None:
                return None
            self._values.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: V) -> None:
        weight = self._weigh(value)
        if weight * 4 > self._max_bytes:
            return
        with self._lock:
            self._drop(key)
            self._values[key] = (value, weight)
            self._held += weight
            while self._held > self._max_bytes:
                self._drop(next(iter(self._values)))

    def drop(self, key: Hashable) -> None:
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._held = 0

    def _drop(self, key: Hashable) -> None:
        entry = self._values.pop(key, None)
        if entry is not None:
            self._held -= entry[1]
