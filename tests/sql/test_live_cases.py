"""The same SQL on icesql and on stock Spark with Iceberg's runtime, side by side; then each engine reads the tables the other left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracle.client import Oracle
from tests.sql.case_files import Case, read_cases
from tests.sql.engines import icesql_engine, kept_conf, kept_oracle, oracle_engine
from tests.sql.running import differences, run_case

HERE = Path(__file__).parent
CASES = [case for path in sorted((HERE / "live").glob("*.sql")) for case in read_cases(path)]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("live")


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
def runtime(oracle: Oracle, tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    """The oracle with a catalog ``jdbc`` of its own."""
    folder = tmp_path_factory.mktemp("oracle-jdbc")
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": f"jdbc:sqlite:{folder}/catalog.db"}
    settings |= {".jdbc.schema-version": "V1", ".warehouse": f"{folder}/warehouse"}
    for key, value in settings.items():
        oracle.sql(f"SET `spark.sql.catalog.jdbc{key}`={value}")
    return oracle


@pytest.mark.spark
@pytest.mark.interop
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_case(case: Case, session: Any, spark: Any, warehouse: Path, runtime: Oracle):
    with kept_oracle(runtime):
        theirs = run_case(case, oracle_engine(runtime), Path(runtime.warehouse))
    wrong = [s for s in theirs["steps"] if ("error" in s) != ("want_error" in s)]
    assert not wrong, f"the case itself is wrong: {wrong}"
    with kept_conf(spark):
        ours = run_case(case, icesql_engine(session), warehouse)
    problems = differences(theirs, ours)
    assert not problems, "\n".join(problems)


@pytest.mark.spark
@pytest.mark.interop
def test_each_engine_reads_what_the_other_wrote(session: Any, spark: Any, warehouse: Path, oracle: Oracle, tmp_path: Path):
    """Every table both runs left, through a second hadoop catalog on the other's folder: same rows, both ways."""
    import icesql

    oracle.sql("SET spark.sql.catalog.ours=org.apache.iceberg.spark.SparkCatalog")
    oracle.sql("SET spark.sql.catalog.ours.type=hadoop")
    oracle.sql(f"SET spark.sql.catalog.ours.warehouse={warehouse}")
    reader = icesql.connect(
        spark,
        catalogs={
            "local": {"type": "hadoop", "warehouse": str(warehouse)},
            "theirs": {"type": "hadoop", "warehouse": oracle.warehouse},
        },
    )
    tables = sorted(hint.parts[-4:-2] for hint in warehouse.glob("*/*/metadata/version-hint.text"))
    assert tables
    for namespace, name in tables:
        table = f"{namespace}.`{name}`"
        mine = [tuple(row) for row in reader.sql(f"SELECT * FROM local.{table}").collect()]
        assert multiset(oracle.rows(f"SELECT * FROM ours.{table}")) == multiset(mine), f"the runtime reads {table} otherwise"
        if (Path(oracle.warehouse) / namespace / name / "metadata").is_dir():
            theirs = oracle.rows(f"SELECT * FROM local.{table}")
            here = [tuple(row) for row in reader.sql(f"SELECT * FROM theirs.{table}").collect()]
            assert multiset(here) == multiset(theirs), f"icesql reads the runtime's {table} otherwise"


def multiset(rows: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, rows))
