"""How far a long call is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` of ``total`` things named ``what``, and their bytes where they are known."""

    what: str
    done: int
    total: int
    done_bytes: int | None = None
    total_bytes: int | None = None

    @property
    def share(self) -> float:
        """0 to 1; by bytes where they are known, because the things differ in size."""
        if self.done_bytes is not None and self.total_bytes:
            return self.done_bytes / self.total_bytes
        return self.done / self.total if self.total else 1.0


Watcher = Callable[[Progress], None]
