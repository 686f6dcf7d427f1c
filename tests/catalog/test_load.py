"""Many processes, and many threads, on one table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.loading import load_catalog
from tests.catalog.conftest import catalog_properties
from tests.catalog.workload import RETRIES, SCHEMA, TABLE, batch, check_load, check_with_pyiceberg, run_load


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres", "hadoop"])
def test_sixteen_processes_lose_and_double_nothing(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    properties = catalog_properties(kind, tmp_path, request)
    journal = run_load(properties, tmp_path, writers=16, commits=3)
    table = check_load(load_catalog("test", properties), journal)
    check_with_pyiceberg(table, at_most=5)


def test_threads_share_one_catalog_and_one_table(catalog: Catalog) -> None:
    shared = catalog.create_table(TABLE, SCHEMA, properties=RETRIES)

    def work(number: int) -> None:
        for step in range(3):
            (shared if step % 2 else catalog.load_table(TABLE)).append(batch(number * 10 + step))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    table = catalog.load_table(TABLE)
    journal = [{"kind": "append", "added": number * 10 + step, "note": ""} for number in range(8) for step in range(3)]
    check_load(catalog, journal)
    assert shared.refresh().metadata_location == table.metadata_location
