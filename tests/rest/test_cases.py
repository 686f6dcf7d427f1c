"""The recorded SQL cases over Iceberg's own REST server. They were recorded over a hadoop catalog: where the two kinds differ by nature,
``OTHERWISE`` says how, and the rest of the case must still agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import icesql
from tests.rest.reference_server import ReferenceServer, start_server
from tests.sql.case_files import Case
from tests.sql.engines import icesql_engine, kept_conf
from tests.sql.running import differences, run_case
from tests.sql.test_recorded_cases import CASES, expected

pytestmark = [pytest.mark.spark, pytest.mark.slow]
OTHERWISE = {"Hadoop path-based tables cannot be relocated": "a table of a server has the location that it is given"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    running = start_server(tmp_path_factory.mktemp("cases") / "server")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def session(spark: Any, server: ReferenceServer) -> Any:
    return icesql.connect(spark, catalogs={"local": {"type": "rest", "uri": server.uri, "warehouse": str(server.warehouse)}})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_case(case: Case, session: Any, spark: Any, server: ReferenceServer) -> None:
    with kept_conf(spark):
        found = run_case(case, icesql_engine(session), Path(server.warehouse))
    problems = [problem for problem in differences(expected(case.file)[case.name], found) if not is_by_nature(problem)]
    assert not problems, "\n".join(problems)


def is_by_nature(problem: str) -> bool:
    return any(words in problem for words in OTHERWISE)
