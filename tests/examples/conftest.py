"""The two example scripts, each run once through ``Session.run_script``: the quickstart also on the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.client import Oracle, OracleError
from tests.sql.normal_form import plain

EXAMPLES = Path(__file__).resolve().parents[2] / "sql_examples"


@dataclass(frozen=True)
class Run:
    """What a script left: the rows of every statement, and where the tables are."""

    session: Any
    warehouse: Path
    results: list[tuple[str, list[Any]]]  # (statement, rows)


def statements_of(script: str) -> list[str]:
    from icesql.parser.text.script import split

    return [statement.text for statement in split((EXAMPLES / script).read_text())]


@pytest.fixture(scope="session")
def quickstart(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The quickstart on the embedded default kind of catalog: sql on SQLite."""
    import icesql

    warehouse = tmp_path_factory.mktemp("quickstart")
    catalog = {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}
    session = icesql.connect(spark, catalogs={"local": catalog})
    frames = session.run_script(EXAMPLES / "quickstart.sql")
    return Run(session, warehouse, [(text, frame.collect()) for text, frame in zip(statements_of("quickstart.sql"), frames, strict=True)])


@pytest.fixture(scope="session")
def quickstart_on_hadoop(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The quickstart in a hadoop catalog, which the runtime opens without a database."""
    import icesql

    warehouse = tmp_path_factory.mktemp("quickstart-hadoop")
    session = icesql.connect(spark, catalogs={"local": {"type": "hadoop", "warehouse": str(warehouse)}})
    frames = session.run_script(EXAMPLES / "quickstart.sql")
    return Run(session, warehouse, [(text, frame.collect()) for text, frame in zip(statements_of("quickstart.sql"), frames, strict=True)])


@pytest.fixture(scope="session")
def quickstart_on_the_runtime(oracle: Oracle) -> Run:
    """The same script on stock Spark with the runtime. EXPLAIN PRUNING is ours alone: the runtime must refuse it, and it is left out."""
    results = []
    for text in statements_of("quickstart.sql"):
        if "EXPLAIN PRUNING" in text:
            with pytest.raises(OracleError):
                oracle.sql(text)
        else:
            results.append((text, oracle.rows(text)))
    return Run(None, Path(oracle.warehouse), results)


@pytest.fixture(scope="session")
def flights(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Run:
    import icesql
    from sql_examples.flights import export

    warehouse, data = tmp_path_factory.mktemp("flights"), tmp_path_factory.mktemp("nycflights")
    export(data)
    catalog = {"type": "sql", "uri": f"sqlite:///{warehouse}/catalog.db", "warehouse": str(warehouse)}
    session = icesql.connect(spark, catalogs={"local": catalog})
    frames = session.run_script(EXAMPLES / "flights.sql", variables={"data": str(data)})
    return Run(session, warehouse, [(text, frame.collect()) for text, frame in zip(statements_of("flights.sql"), frames, strict=True)])


def selects(run: Run) -> list[tuple[str, list[Any]]]:
    """The SELECTs of a run, rows as plain lists."""
    return [
        (text, [[plain(v) for v in row] for row in rows])
        for text, rows in run.results
        if "SELECT" in text and text.lstrip().startswith("SELECT")
    ]
