"""How many examples the property tests try: ``ICESQL_EXAMPLES`` per cent of what each asks for.

Every run draws other examples, so CI tries a part each time; 100 is a thorough run, 2000 a hunt.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

PER_CENT = int(os.environ.get("ICESQL_EXAMPLES", "40"))
FEWEST = 8  # or what the test asks for, if that is less


def examples(full: int, **more: Any) -> settings:
    """Settings for a part of ``full`` examples; a slow machine is no failure."""
    return settings(max_examples=scaled(full), deadline=None, **more)


def scaled(full: int) -> int:
    return max(min(full, FEWEST), full * PER_CENT // 100)
