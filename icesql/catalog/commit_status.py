"""After a swap whose reply is missing: look until the outcome is known (``commit.status-check.*``), and tell the caller what is certain.

What a look says follows the rule of ``icesql.table.outcomes``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from icesql.errors import CommitFailedError, CommitStateUnknownError
from icesql.table.outcomes import Outcome

_PREFIX = "commit.status-check."


def settle(look: Callable[[], Outcome], properties: Mapping[str, str], doing: str, cause: Exception) -> None:
    """Return if the swap happened. Raises CommitFailedError if that it did not is proven, CommitStateUnknownError otherwise.

    ``doing`` says what was tried, for the message: ``commit db.t``. ``look`` raises while it cannot tell yet; it is asked
    ``commit.status-check.num-retries`` times more, with growing waits.
    """
    outcome = _outcome(look, properties)
    if outcome is Outcome.COMMITTED:
        return
    if outcome is Outcome.FAILED:
        raise CommitFailedError(f"Cannot {doing}: the catalog failed and kept the old version: {cause}") from cause
    why = f"the outcome is unknown, the catalog failed: {cause}"
    raise CommitStateUnknownError(f"Cannot {doing}: {why}. Nothing was removed. Check before trying again") from cause


def _outcome(look: Callable[[], Outcome], properties: Mapping[str, str]) -> Outcome:
    deadline = time.monotonic() + _number(properties, "total-timeout-ms", 1_800_000) / 1000
    wait_ms = _number(properties, "min-wait-ms", 1_000)
    for attempt in range(_number(properties, "num-retries", 3) + 1):
        if attempt:
            if time.monotonic() + wait_ms / 1000 > deadline:
                break
            time.sleep(wait_ms / 1000)
            wait_ms = min(wait_ms * 2, _number(properties, "max-wait-ms", 60_000))
        try:
            return look()
        except Exception:  # whatever it is, the outcome stays unknown
            continue
    return Outcome.UNKNOWN


def _number(properties: Mapping[str, str], key: str, default: int) -> int:
    """The default, too, for what is no number: an error here would hide that the outcome is unknown."""
    try:
        return int(properties.get(_PREFIX + key, default))
    except ValueError:
        return default
