"""Zstandard: Python's own module since 3.14, its backport before. The same that fastavro uses. Executors may lack it: import it where it is
needed."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
