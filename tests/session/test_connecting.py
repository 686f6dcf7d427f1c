"""``icesql.connect`` beside a session that runs already."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import icesql

pytestmark = pytest.mark.spark


def test_connecting_again_names_the_settings_that_come_too_late(spark: Any) -> None:
    late = {"spark.driver.memory": "3g", "spark.sql.warehouse.dir": "/elsewhere"}
    in_time = {"spark.sql.shuffle.partitions": 4, "spark.sql.catalog.late.type": "hadoop"}
    with pytest.warns(UserWarning, match=r"Cannot apply settings: .*running already") as told:
        icesql.connect(conf={**late, **in_time}, master="local[7]")
    try:
        (message,) = [str(warning.message) for warning in told]
        assert all(text in message for text in ("master=local[7]", *(f"{key}={value}" for key, value in late.items())))
        assert not any(key in message for key in in_time)
        assert spark.conf.get("spark.sql.catalog.late.type") == "hadoop"
    finally:
        spark.conf.unset("spark.sql.catalog.late.type")


_HOOKS_OF_THREADS = """
import os, threading
late = []
def register(**hooks):
    if threading.current_thread() is not threading.main_thread() and hooks.keys() & {"before", "after_in_parent"}:
        late.append(hooks)
    return real(**hooks)
real, os.register_at_fork = os.register_at_fork, register
from icesql.session import connecting
connecting._import_ahead().join()
import sys
assert "icesql.session.run_text" in sys.modules
print(late)
"""


def test_what_is_imported_while_java_starts_registers_no_pair_of_fork_hooks() -> None:
    """Else the hook after a fork may run without the one before it."""
    done = subprocess.run([sys.executable, "-c", _HOOKS_OF_THREADS], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
