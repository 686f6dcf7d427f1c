"""The recorded SQL cases in a bucket of a real S3 server: what Iceberg's runtime answered on local disk is what tables there answer.

Every fourth case runs each time, all of them with ``ICESQL_ALL_STORE_CASES`` set (``./dev test-stores``).
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import icesql
from tests.sql.case_files import Case, read_cases
from tests.sql.engines import icesql_engine, kept_conf
from tests.sql.running import differences, run_case
from tests.stores.s3_server import S3Server

HERE = Path(__file__).resolve().parents[1] / "sql"
ALL = [case for path in sorted((HERE / "cases").glob("*.sql")) for case in read_cases(path)]
CASES = ALL if os.environ.get("ICESQL_ALL_STORE_CASES") else ALL[::4]


@cache
def expected(file: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((HERE / "expected" / f"{file}.json").read_text())
    return answers


@pytest.fixture(scope="module")
def lake(spark: Any, s3: S3Server) -> tuple[Any, Path, str]:
    """The session, the warehouse's folder below the server, and its location."""
    location = s3.new_bucket("cases") + "/wh"
    catalog = {"type": "hadoop", "warehouse": location, **s3.properties()}
    return icesql.connect(spark, catalogs={"local": catalog}), s3.folder / "data" / "cases" / "wh", location


@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_case(case: Case, lake: tuple[Any, Path, str], spark: Any) -> None:
    session, folder, location = lake
    with kept_conf(spark):
        found = run_case(case, icesql_engine(session), folder, location)
    problems = differences(expected(case.file)[case.name], found)
    assert not problems, "\n".join(problems)


def test_the_sample_is_large_enough() -> None:
    assert len(CASES) >= 40
