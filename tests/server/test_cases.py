"""The recorded SQL cases on stock Spark with Iceberg's runtime, through its REST client, on our server. They were recorded over a hadoop
catalog: where the two kinds of catalog differ by nature, ``OTHERWISE`` says how, and the rest of the case must still agree.

Every ``_EACH``th case runs; all of them with ``ICESQL_ALL_CASES=1``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SPARK_CONF
from tests.oracle.client import Oracle
from tests.oracle.server import INTERPRETED
from tests.server.process import ServerProcess
from tests.sql.case_files import Case
from tests.sql.engines import kept_oracle, oracle_engine
from tests.sql.running import Record, differences, run_case
from tests.sql.test_recorded_cases import CASES, expected

pytestmark = [pytest.mark.interop, pytest.mark.slow]
_EACH = 1 if os.environ.get("ICESQL_ALL_CASES") else 16
OTHERWISE = {"Hadoop path-based tables cannot be relocated": "a table of a server has the location that it is given"}


def configure(spark: Any, uri: str) -> None:
    """In the oracle's process: its catalog ``local`` is the server's. Plans are compiled, as when the answers were recorded: interpreted,
    Spark loses bounds of ``timestamp_ntz`` in ``readable_metrics``.
    """
    for key, value in {"type": "rest", "uri": uri}.items():
        spark.conf.set(f"spark.sql.catalog.local.{key}", value)
    for key in INTERPRETED:
        spark.conf.unset(key)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Oracle]:
    folder = tmp_path_factory.mktemp("served")
    with ServerProcess(folder) as process, Oracle(str(folder / "warehouse"), SPARK_CONF) as oracle:
        oracle.call("tests.server.test_cases:configure", process.uri)
        yield oracle


def without_defaults(found: Record) -> Record:
    """A new table of the server has one property that one of a hadoop catalog has not."""
    for table in found["tables"].values():
        table["properties"].pop("write.metadata.delete-after-commit.enabled", None)
    return found


@pytest.mark.parametrize("case", CASES[::_EACH], ids=lambda case: case.key)
def test_case(case: Case, served: Oracle) -> None:
    with kept_oracle(served):
        found = without_defaults(run_case(case, oracle_engine(served), Path(served.warehouse)))
    problems = [problem for problem in differences(expected(case.file)[case.name], found) if not any(why in problem for why in OTHERWISE)]
    assert not problems, "\n".join(problems)
