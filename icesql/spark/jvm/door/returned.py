"""Objects of Java's that a callback gives back."""

from __future__ import annotations

import threading
from typing import TypeVar

_Value = TypeVar("_Value")
_last = threading.local()


def kept(value: _Value) -> _Value:
    """What a callback returns. Java finds it by its number once Python has answered; without this Python may have told it to forget the
    object by then. It is kept until the thread, which serves one thread of Java's, returns the next."""
    _last.value = value
    return value
