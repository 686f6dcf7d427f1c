"""After a swap whose reply is missing: look until the outcome is known (``commit.status-check.*``), and report what is certain.

The outcome is decided by the rule of ``icesql.table.outcomes``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from icesql.errors import CommitFailedError, CommitStateUnknownError, ValidationError
from icesql.spec.properties import (
    COMMIT_NUM_STATUS_CHECKS,
    COMMIT_STATUS_CHECKS_MAX_WAIT_MS,
    COMMIT_STATUS_CHECKS_MIN_WAIT_MS,
    COMMIT_STATUS_CHECKS_TOTAL_WAIT_MS,
    property_as_int,
)
from icesql.table.outcomes import Outcome


def settle(look: Callable[[], Outcome], properties: Mapping[str, str], doing: str, cause: Exception) -> None:
    """Return if the swap happened. Raises CommitFailedError if it is proven that it did not, CommitStateUnknownError otherwise.

    ``doing`` is what was tried, for the message: ``commit db.t``. ``look`` raises while it cannot tell yet; it is called up to
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
    deadline = time.monotonic() + _number(properties, COMMIT_STATUS_CHECKS_TOTAL_WAIT_MS) / 1000
    wait_ms = _number(properties, COMMIT_STATUS_CHECKS_MIN_WAIT_MS)
    for attempt in range(_number(properties, COMMIT_NUM_STATUS_CHECKS) + 1):
        if attempt:
            if time.monotonic() + wait_ms / 1000 > deadline:
                break
            time.sleep(wait_ms / 1000)
            wait_ms = min(wait_ms * 2, _number(properties, COMMIT_STATUS_CHECKS_MAX_WAIT_MS))
        try:
            return look()
        except Exception:  # whatever it is, the outcome stays unknown
            continue
    return Outcome.UNKNOWN


def _number(properties: Mapping[str, str], key: str) -> int:
    """The default, too, for what is no number: an error here would hide that the outcome is unknown."""
    try:
        return property_as_int(properties, key)
    except ValidationError:
        return property_as_int({}, key)
