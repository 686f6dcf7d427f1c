"""Keys of requests."""

from __future__ import annotations

import time
import uuid


def key() -> str:
    """A UUID of version 7."""
    text = uuid.uuid4().hex
    return str(uuid.UUID(f"{time.time_ns() // 1_000_000:012x}7{text[13:16]}8{text[17:]}"))
