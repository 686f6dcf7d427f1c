"""The recorded SQL cases through JDBC and through Spark Connect: each answers as Iceberg's runtime did, but for what ``shown`` lists.

A fixed sample runs each time, all of them with ``ICESQL_ALL_CLIENT_CASES`` set (``./dev test-all``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sql.case_files import Case
from tests.sql.running import Record, differences, run_case
from tests.sql.test_recorded_cases import CASES as EVERY
from tests.sql.test_recorded_cases import expected
from tests.sql_server.case_engines import Answer, ConnectEngine, JdbcEngine
from tests.sql_server.effort import ALL
from tests.sql_server.serving import Serving, serving
from tests.sql_server.shown import Text, is_nested, jdbc_type, lossy

CASES = EVERY if ALL else EVERY[::5]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client_cases")


@pytest.fixture(scope="module")
def server(warehouse: Path) -> Iterator[Serving]:
    conf = {"spark.sql.session.timeZone": "UTC", "spark.sql.ansi.enabled": "true", "spark.sql.shuffle.partitions": "4"}
    with serving(warehouse, {**conf, "spark.sql.catalog.local.type": "hadoop"}) as running:
        yield running


@pytest.fixture(scope="module")
def connect(server: Serving) -> Iterator[ConnectEngine]:
    with ConnectEngine(server) as engine:
        yield engine


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_jdbc(case: Case, server: Serving, warehouse: Path) -> None:
    engine, recorded = JdbcEngine(server), expected(case.file)[case.name]
    steps = iter(recorded["steps"])

    def run(text: str) -> Answer:
        kinds = [kind for _, kind in next(steps).get("cols", ())]
        columns, rows = engine(text)
        return columns, [_read_back(row, kinds) for row in rows]

    with engine:
        engine(_warehouse_is(warehouse / "jdbc"))
        found = run_case(case, run, warehouse / "jdbc")
    _same(case, as_jdbc_shows(recorded), found, engine.told.faults)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_connect(case: Case, connect: ConnectEngine, warehouse: Path) -> None:
    connect.new_session()
    connect(_warehouse_is(warehouse / "connect"))
    found = run_case(case, connect, warehouse / "connect")
    _same(case, expected(case.file)[case.name], found, connect.told.faults)


def _warehouse_is(folder: Path) -> str:
    """First of all in a session of a client: the kinds of clients are not to see each other's tables."""
    return f"SET spark.sql.catalog.local.warehouse={folder}"


def _same(case: Case, recorded: Record, found: Record, faults: list[str]) -> None:
    assert not faults
    ordered = ["ordered" in step.directives for step in case.steps]
    problems = differences(_in_one_order(recorded, ordered), _in_one_order(found, ordered))
    assert not problems, "\n".join(problems)


def _in_one_order(record: Record, ordered: list[bool]) -> Record:
    """Rows that have no order sorted: what was sorted before had its fields in another order, or other forms."""
    steps = []
    for step, keep in zip(record["steps"], ordered, strict=True):
        rows = step.get("rows")
        steps.append(step if rows is None or keep else {**step, "rows": sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))})
    return {**record, "steps": steps}


def as_jdbc_shows(recorded: Record) -> Record:
    return {**recorded, "steps": [_step_as_jdbc_shows(step) for step in recorded["steps"]]}


def _step_as_jdbc_shows(step: Record) -> Record:
    if "rows" not in step:
        return step
    kinds = [kind for _, kind in step["cols"]]
    rows = []
    for row in step["rows"]:
        values = [lossy(kind, value) for kind, value in zip(kinds, row.values() if isinstance(row, dict) else row, strict=True)]
        rows.append(dict(zip(row, values, strict=True)) if isinstance(row, dict) else values)
    return {**step, "cols": [[name, jdbc_type(kind)] for name, kind in step["cols"]], "rows": rows}


def _read_back(row: Any, kinds: list[str]) -> list[Any]:
    """Nested values from their text, where as many columns came as were recorded."""
    if len(kinds) != len(row):
        return list(row)
    return [Text(v).value(kind) if is_nested(kind) and isinstance(v, str) else v for v, kind in zip(row, kinds, strict=True)]
