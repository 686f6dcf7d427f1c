"""How many requests a client may send: a bucket that fills at a steady rate and holds one second's worth, at least one."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from icesql.server.problems import Problem

_MOST_CLIENTS = 10_000


class RateLimit:
    """``per_second`` of 0 is no limit. For one thread, the event loop's."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._most, self._clock = per_second, max(1.0, per_second), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Raises Problem 429 that says when to come again."""
        if not self._rate:
            return
        now = self._clock()
        held, seen = self._buckets.pop(client, (self._most, now))
        held = min(self._most, held + (now - seen) * self._rate)
        self._buckets[client] = (max(held - 1, 0) if held >= 1 else held, now)
        while len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if held < 1:
            wait = math.ceil((1 - held) / self._rate)
            raise Problem(429, "TooManyRequestsException", "Too many requests", {"Retry-After": str(wait)})
