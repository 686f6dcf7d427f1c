"""After a swap whose outcome is unknown: look again, as ``commit.status-check.*`` says, and tell the caller what is certain."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from icesql.errors import CommitFailedError, CommitStateUnknownError

_PREFIX = "commit.status-check."


def settle(was_committed: Callable[[], bool], properties: Mapping[str, str], name: str, cause: Exception) -> None:
    """Return if the swap happened. Raises CommitFailedError if it certainly did not, CommitStateUnknownError if no check could be made.

    ``was_committed`` raises while it cannot tell; it is asked ``commit.status-check.num-retries`` times more, with growing waits.
    """
    deadline = time.monotonic() + _number(properties, "total-timeout-ms", 1_800_000) / 1000
    wait_ms = _number(properties, "min-wait-ms", 1_000)
    for attempt in range(_number(properties, "num-retries", 3) + 1):
        if attempt:
            if time.monotonic() + wait_ms / 1000 > deadline:
                break
            time.sleep(wait_ms / 1000)
            wait_ms = min(wait_ms * 2, _number(properties, "max-wait-ms", 60_000))
        try:
            happened = was_committed()
        except Exception:  # whatever it is, the outcome stays unknown
            continue
        if happened:
            return
        raise CommitFailedError(f"Cannot commit {name}: the catalog failed and kept the old version: {cause}") from cause
    raise CommitStateUnknownError(
        f"Cannot commit {name}: the outcome is unknown, the catalog does not answer: {cause}. Check the table before writing again"
    ) from cause


def _number(properties: Mapping[str, str], key: str, default: int) -> int:
    """The default, too, for what is no number: an error here would hide that the outcome is unknown."""
    try:
        return int(properties.get(_PREFIX + key, default))
    except ValueError:
        return default
