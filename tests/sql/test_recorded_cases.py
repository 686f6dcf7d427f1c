"""SQL cases against what Iceberg's runtime answered to each, recorded in ``expected/`` (``python -m tests.sql.record`` makes it anew)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sql.case_files import Case, read_cases
from tests.sql.engines import icesql_engine, kept_conf
from tests.sql.running import differences, run_case

HERE = Path(__file__).parent
CASES = [case for path in sorted((HERE / "cases").glob("*.sql")) for case in read_cases(path)]


@cache
def expected(file: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((HERE / "expected" / f"{file}.json").read_text())
    return answers


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cases")


@pytest.fixture(scope="module")
def session(spark: Any, warehouse: Path) -> Any:
    import icesql

    return icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(warehouse)}})


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_case(case: Case, session: Any, spark: Any, warehouse: Path):
    with kept_conf(spark):
        found = run_case(case, icesql_engine(session), warehouse)
    problems = differences(expected(case.file)[case.name], found)
    assert not problems, "\n".join(problems)
