"""What must not be seen: values of a configuration and of replies that open something, taken out of whatever text leaves this room."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping

HIDDEN = "***"
_SECRET_KEY = re.compile(
    r"(?i)(^|[.\-_])(token|credential|password|secret|secret-access-key|access-key-id|session-token|authorization|sas-token|account-key|"
    r"client_secret|signature|api-key|cookie)($|[.\-_])"
)
_SHORTEST = 4  # a shorter value would blank words of ordinary text


def is_secret_key(key: str) -> bool:
    """Whether the value of a configuration key, or of an HTTP header, opens something."""
    return _SECRET_KEY.search(key) is not None


class Secrets:
    """The values to hide. Thread safe; grows as tokens are fetched and credentials are vended."""

    def __init__(self) -> None:
        self._values: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)} values)"

    def add(self, *values: str | None) -> None:
        new = {value for value in values if value is not None and len(value) >= _SHORTEST}
        with self._lock:
            self._values |= new

    def add_all(self, properties: Mapping[str, str]) -> None:
        """The secret ones among these properties; of a credential ``id:secret`` both halves."""
        for key, value in properties.items():
            if is_secret_key(key):
                self.add(value, *(value.split(":", 1)[1:] if "credential" in key else ()))

    def hide(self, text: str) -> str:
        """The text without any of the values."""
        for value in sorted(self._values, key=len, reverse=True):
            if value in text:
                text = text.replace(value, HIDDEN)
        return text


def shown(properties: Mapping[str, str], keys: Iterable[str] | None = None) -> dict[str, str]:
    """Properties as they may be shown."""
    chosen = properties if keys is None else keys
    return {key: HIDDEN if is_secret_key(key) else properties[key] for key in chosen}
