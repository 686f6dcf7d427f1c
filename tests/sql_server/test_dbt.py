"""sql_examples/dbt/ built by dbt through JDBC, twice, with other data the second time."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from tests.sql_server.effort import ALL
from tests.sql_server.serving import ROOT, Serving, rows, serving

pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.skipif(not ALL, reason="dbt's environment and builds take minutes: ./dev test-all"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        rows(running.client(), "CREATE NAMESPACE IF NOT EXISTS local.default")
        yield running


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "sql_examples" / "dbt", tmp_path / "dbt", ignore=shutil.ignore_patterns("target", "logs"))
    return tmp_path / "dbt"


def _build(project: Path, server: Serving) -> str:
    environment = {**os.environ, "ICESQL_JDBC_PORT": str(server.jdbc)}
    command = [str(ROOT / ".venv/dbt/bin/dbt"), "--no-use-colors", "build"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.timeout(3600)
def test_dbt_builds_twice(server: Serving, project: Path) -> None:
    subprocess.run(["sh", str(ROOT / "scripts" / "install_dbt.sh")], check=True)
    assert "PASS=14 WARN=0 ERROR=0 SKIP=0" in _build(project, server)
    client = server.client()
    assert rows(client, "SELECT * FROM local.shop.customer_totals ORDER BY 1") == [
        (1, "Ada", 1, Decimal("20.50")), (2, "Linus", 1, Decimal("99.00")),
        (3, "Grace", 2, Decimal("50.50")), (4, "Edsger", 0, Decimal("0.00")),
    ]  # fmt: skip

    customers, orders = project / "seeds" / "customers.csv", project / "seeds" / "orders.csv"
    customers.write_text(customers.read_text().replace("Grace,US", "Grace,CA"))
    orders.write_text(
        orders.read_text().replace("5,3,2026-03-01 23:59:59,placed", "5,3,2026-03-01 23:59:59,returned")
        + "6,4,2026-03-02 10:00:00,placed,7\n"
    )
    assert "PASS=14 WARN=0 ERROR=0 SKIP=0" in _build(project, server)

    assert rows(client, "SELECT status, count(*) FROM local.shop.order_history GROUP BY 1 ORDER BY 1") == [
        ("placed", 2),
        ("returned", 2),
        ("shipped", 2),
    ]
    assert rows(client, "SELECT operation FROM local.shop.order_history.snapshots ORDER BY committed_at")[1:] == [("overwrite",)]
    over_time = "SELECT country, dbt_valid_to IS NULL FROM local.shop.customers_over_time WHERE customer_id = 3 ORDER BY dbt_valid_from"
    assert rows(client, over_time) == [("US", False), ("CA", True)]
    assert rows(client, "SELECT amount FROM local.shop.customer_totals WHERE customer_id = 4") == [(Decimal("7.00"),)]
    described = rows(client, "DESCRIBE EXTENDED local.shop.order_history")
    assert ("order_id", "int", "As the shop counts") in described
    assert not rows(client, "SHOW VIEWS IN local.default")  # what dbt made for a snapshot is gone
