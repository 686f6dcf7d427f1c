"""Changes that this process has made to tables: what was loaded before one may be older than the process's own work."""

from __future__ import annotations

import itertools
import weakref
from typing import Protocol

from icesql.table.after_commit import after_commit


class Listener(Protocol):
    def table_changed(self, location: str) -> None:
        """A commit to the table at this location is done."""


_numbers = itertools.count(1)
_last = 0
_listeners: weakref.WeakSet[Listener] = weakref.WeakSet()


def note_change(location: str | None = None) -> None:
    """A commit to the table at this location is done; without one, a name leads elsewhere, or nowhere, now.

    What goes wrong in a listener becomes a notice: the change stands.
    """
    global _last
    _last = next(_numbers)
    if location is None:
        return
    for listener in list(_listeners):
        with after_commit(f"read anew what is kept in memory of the table at {location}"):
            listener.table_changed(location)


def changes_so_far() -> int:
    """A number that is another after each change."""
    return _last


def listen(listener: Listener) -> None:
    """Tell of each change, in the thread that made it, for as long as someone else holds the listener."""
    _listeners.add(listener)
