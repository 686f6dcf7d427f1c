"""The same SQL on icesql and on stock Spark with Iceberg's runtime, side by side; then each engine reads the tables the other left."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.client import Oracle
from tests.sql.case_files import Case, read_cases
from tests.sql.engines import icesql_engine, kept_conf, kept_oracle, oracle_engine
from tests.sql.running import Record, differences, run_case

HERE = Path(__file__).parent
CASES = [case for path in sorted((HERE / "live").glob("*.sql")) for case in read_cases(path)]


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="session")
def session(spark: Any, warehouse: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Catalogs: ``local``, and ``jdbc``, which stores views too."""
    import icesql

    folder = tmp_path_factory.mktemp("jdbc")
    return icesql.connect(
        spark,
        catalogs={
            "local": {"type": "hadoop", "warehouse": str(warehouse)},
            "jdbc": {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"{folder}/warehouse"},
        },
    )


@pytest.fixture(scope="session")
def runtime(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    """The oracle with a catalog ``jdbc`` of its own."""
    folder = tmp_path_factory.mktemp("oracle-jdbc")
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": f"jdbc:sqlite:{folder}/catalog.db"}
    settings |= {".jdbc.schema-version": "V1", ".warehouse": f"{folder}/warehouse"}
    for key, value in settings.items():
        oracle.sql(f"SET `spark.sql.catalog.jdbc{key}`={value}")
    return oracle


@pytest.fixture(scope="session")
def reader(spark: Any, warehouse: Path, runtime: Oracle) -> Any:
    """Each engine with a hadoop catalog on the other's folder: the runtime's is ``ours``, icesql's is ``theirs``."""
    import icesql

    for key, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": str(warehouse)}.items():
        runtime.sql(f"SET `spark.sql.catalog.ours{key}`={value}")
    folders = {"local": str(warehouse), "theirs": runtime.warehouse}
    return icesql.connect(spark, catalogs={name: {"type": "hadoop", "warehouse": folder} for name, folder in folders.items()})


@pytest.mark.spark
@pytest.mark.interop
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_case(case: Case, session: Any, spark: Any, warehouse: Path, runtime: Oracle, reader: Any):
    """Equal answers and equal metadata; then each engine reads every table the other left. Both work at the same time."""
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(run_on_the_runtime, case, runtime)
        with kept_conf(spark):
            ours = run_case(case, icesql_engine(session), warehouse)
        theirs = asked.result()
    wrong = [s for s in theirs["steps"] if ("error" in s) != ("want_error" in s)]
    assert not wrong, f"the case itself is wrong: {wrong}"
    problems = differences(theirs, ours)
    for table in sorted(ours["tables"].keys() & theirs["tables"].keys()):
        problems += read_by_the_other(f"{case.namespace}.`{table}`", reader, runtime)
    assert not problems, "\n".join(problems)


def run_on_the_runtime(case: Case, runtime: Oracle) -> Record:
    with kept_oracle(runtime):
        return run_case(case, oracle_engine(runtime), Path(runtime.warehouse))


def read_by_the_other(table: str, reader: Any, runtime: Oracle) -> list[str]:
    """What differs where one engine reads what the other wrote. Both wrote the table."""
    with ThreadPoolExecutor(1) as beside:
        asked = beside.submit(lambda: [multiset(runtime.rows(f"SELECT * FROM {catalog}.{table}")) for catalog in ("ours", "local")])
        ours, theirs = (multiset(reader.sql(f"SELECT * FROM {catalog}.{table}").collect()) for catalog in ("local", "theirs"))
        ours_by_the_runtime, theirs_by_the_runtime = asked.result()
    problems = [f"the runtime reads our {table} otherwise"] if ours_by_the_runtime != ours else []
    return problems + ([f"icesql reads the runtime's {table} otherwise"] if theirs != theirs_by_the_runtime else [])


def multiset(rows: list[Any]) -> list[str]:
    return sorted(repr(tuple(row)) for row in rows)
