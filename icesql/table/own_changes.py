"""Changes that this process made to tables: what was loaded before one may be out of date."""

from __future__ import annotations

import itertools
import weakref
from typing import Protocol

from icesql.table.after_commit import after_commit


class Listener(Protocol):
    def table_changed(self, location: str) -> None:
        """The table at this location was committed to; without a location, a name was dropped, renamed or made."""


_numbers = itertools.count(1)
_last = 0
_listeners: weakref.WeakSet[Listener] = weakref.WeakSet()


def note_change(location: str | None = None) -> None:
    """Tell the listeners that the table at this location was committed to; without one, that a name was dropped, renamed or made.

    An error in a listener becomes a notice: the change stands.
    """
    global _last
    _last = next(_numbers)
    if location is None:
        return
    for listener in list(_listeners):
        with after_commit(f"read anew what is kept in memory of the table at {location}"):
            listener.table_changed(location)


def changes_so_far() -> int:
    """A number that changes with each change."""
    return _last


def listen(listener: Listener) -> None:
    """Call the listener for each change, in the thread that made it, as long as somebody else holds a reference to it."""
    _listeners.add(listener)
