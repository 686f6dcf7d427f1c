"""What CI has no time for runs behind ``./dev test-all``, which sets ``ICESQL_ALL_CLIENT_CASES``."""

from __future__ import annotations

import os

ALL = bool(os.environ.get("ICESQL_ALL_CLIENT_CASES"))
