"""Random histories of a table against a plain model of its rows: the fast kind of differential test, without the runtime.

More by command: ``python -m tests.sql.histories.more FIRST LAST [STEPS]``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from icesql.table.scan import never_null
from tests.sql.histories.running import run_history

SEQUENCES, A_TEST, STEPS = 200, 10, 4


@pytest.fixture(scope="module")
def session(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    import icesql

    warehouse: Path = tmp_path_factory.mktemp("histories")
    session = icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE IF NOT EXISTS local.histories")
    return session


@pytest.mark.spark
@pytest.mark.parametrize("first", range(0, SEQUENCES, A_TEST))
def test_histories(session: Any, first: int, monkeypatch: pytest.MonkeyPatch):
    if first % (2 * A_TEST):
        monkeypatch.setattr(never_null, "FEWEST_ROWS", 0)  # every other test reads its tables as large ones are read
    for seed in range(first, first + A_TEST):
        run_history(session, seed, "local.histories", STEPS)
