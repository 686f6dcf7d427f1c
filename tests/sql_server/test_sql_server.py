"""``icesql sql-server`` as a process, and its clients: PyHive for JDBC's protocol, and Spark Connect in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyspark
import pytest

from icesql.errors import InvalidArgumentError
from icesql.sql_server.running import Options, check
from tests.sql_server.serving import Serving, rows, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.mark.slow
@pytest.mark.spark
def test_jdbc_changes_and_reads_tables(server: Serving) -> None:
    client = server.client()
    for text in (
        "CREATE NAMESPACE IF NOT EXISTS local.db",
        "CREATE TABLE local.db.t (id INT, p STRING) PARTITIONED BY (bucket(4, id))",
        "INSERT INTO local.db.t VALUES (1, 'a'), (2, 'b')",
        "UPDATE local.db.t SET p = 'c' WHERE id = 2",
    ):
        rows(client, text)
    assert rows(client, "SELECT * FROM local.db.t ORDER BY id") == [(1, "a"), (2, "c")]
    assert rows(client, "SELECT count(*) FROM local.db.t.snapshots") == [(2,)]  # each command ran once
    assert rows(client, "EXPLAIN DELETE FROM local.db.t")[0][0].startswith("Delete local.db.t")
    assert rows(client, "SELECT count(*) FROM local.db.t") == [(2,)]  # and what was explained did not
    assert len(rows(client, "CALL local.system.rewrite_data_files('db.t')")) == 1


@pytest.mark.slow
@pytest.mark.spark
def test_jdbc_runs_commands_once(server: Serving) -> None:
    """However often Spark parses them: explained ones, ones over views, ones in a script."""
    client = server.client()
    rows(client, "CREATE NAMESPACE IF NOT EXISTS local.once")
    rows(client, "CREATE TABLE local.once.t (n INT)")
    snapshots = lambda: rows(client, "SELECT count(*) FROM local.once.t.snapshots")[0][0]  # noqa: E731
    for explain in ("EXPLAIN", "EXPLAIN EXTENDED", "EXPLAIN FORMATTED"):
        rows(client, f"{explain} DELETE FROM local.once.t WHERE n = 1")
    assert snapshots() == 0
    rows(client, "CREATE TEMPORARY VIEW seen AS SELECT n + 1 AS m FROM local.once.t")
    rows(client, "CREATE VIEW local.once.kept AS SELECT n * 2 AS m FROM local.once.t")
    rows(client, "INSERT INTO local.once.t SELECT 1")
    assert rows(client, "SELECT m FROM seen") == rows(client, "SELECT m FROM local.once.kept") == [(2,)]
    rows(client, "INSERT INTO local.once.t SELECT m FROM seen")
    assert snapshots() == 2
    if pyspark.__version__.startswith("4.0."):
        rows(client, "INSERT INTO local.once.t VALUES (3)")
        rows(client, "INSERT INTO local.once.t VALUES (4)")
    else:
        commands = "INSERT INTO local.once.t VALUES (x); INSERT INTO local.once.t VALUES (x + 1)"
        assert rows(client, f"BEGIN DECLARE x INT DEFAULT 3; {commands}; SELECT x; END") == [(3,)]
    rows(client, "EXECUTE IMMEDIATE 'INSERT INTO local.once.t VALUES (?)' USING 5")
    assert snapshots() == 5
    assert rows(client, "SELECT n FROM local.once.t ORDER BY n") == [(1,), (2,), (3,), (4,), (5,)]


@pytest.mark.slow
@pytest.mark.spark
def test_jdbc_errors_are_sparks(server: Serving) -> None:
    client = server.client()
    for text, condition, state in (
        ("SELECT *\nFROM local.db.nothing_here", "TABLE_OR_VIEW_NOT_FOUND", "42P01"),
        ("SELCT 1", "PARSE_SYNTAX_ERROR", "42601"),
        ("CALL local.system.rollback_to_snapshot('db.t', 1)", "INVALID_PARAMETER_VALUE", "22023"),
        ("SELECT missing FROM VALUES (1) AS v(one)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703"),
    ):
        with pytest.raises(Exception) as raised:
            rows(client, text)
        status = raised.value.args[0].status
        assert (status.sqlState, condition in status.errorMessage) == (state, True)
        assert "Traceback" not in status.errorMessage and "py4j" not in status.errorMessage.lower()
    assert rows(client, "SELECT 1") == [(1,)]


@pytest.mark.slow
@pytest.mark.spark
def test_clients_do_not_see_each_others_sessions(server: Serving) -> None:
    one, other = server.client(), server.client()
    rows(one, "CREATE NAMESPACE IF NOT EXISTS local.mine")
    rows(one, "USE local.mine")
    rows(one, "CREATE TEMPORARY VIEW seen AS SELECT 1 AS a")
    rows(one, "SET icesql.test.mine=1")
    assert rows(one, "SHOW CURRENT NAMESPACE") == [("local", "mine")]
    assert rows(other, "SHOW CURRENT NAMESPACE") != [("local", "mine")]
    assert rows(other, "SET icesql.test.mine")[0][1] == "<undefined>"
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        rows(other, "SELECT * FROM seen")


@pytest.mark.slow
@pytest.mark.spark
def test_parallel_clients_lose_nothing(server: Serving) -> None:
    rows(server.client(), "CREATE NAMESPACE IF NOT EXISTS local.many")
    rows(server.client(), "CREATE TABLE local.many.t (client INT, n INT)")

    def work(number: int) -> None:
        client = server.client()
        for n in range(3):
            rows(client, f"INSERT INTO local.many.t VALUES ({number}, {n})")
        client.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert rows(server.client(), "SELECT count(*), count(DISTINCT client, n) FROM local.many.t") == [(12, 12)]


@pytest.mark.slow
@pytest.mark.spark
def test_spark_connect(server: Serving) -> None:
    program = Path(__file__).with_name("connect_program.py")
    done = subprocess.run([sys.executable, str(program), str(server.connect)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    parameters = "ba"
    if pyspark.__version__.startswith("4.0."):
        parameters = "Cannot run statement: Spark 4.0 keeps the values of its parameters to itself; write them into it, or use Spark 4.1"
    assert json.loads(done.stdout) == {
        "rows": [[1, "a"], [2, "b"]],
        "filtered": [[2, "b"]],
        "parameters": parameters,
        "snapshots": 2,
        "explained": "Delete local.remote.t",
        "view": [[1], [2]],
        "table": [["b"], ["c"]],
        "read": [3, 2],
        "written": "refused",
        "count": 3,
        "error": ["TABLE_OR_VIEW_NOT_FOUND", "42P01", False],
    }


def _until(is_true: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.spark
def test_cancelling_by_jdbc_leaves_nothing(server: Serving) -> None:
    client = server.client()
    rows(client, "CREATE NAMESPACE IF NOT EXISTS local.cancelled")
    rows(client, "CREATE TABLE local.cancelled.t (id BIGINT)")
    files = lambda: list((server.folder / "warehouse" / "cancelled" / "t").rglob("*.parquet"))  # noqa: E731
    cursor = client.cursor()
    cursor.execute("INSERT INTO local.cancelled.t SELECT id FROM range(0, 300000000000, 1, 2)", async_=True)
    _until(files)
    cursor.cancel()
    _until(lambda: not files())
    assert rows(client, "SELECT count(*) FROM local.cancelled.t") == [(0,)]
    assert rows(client, "SELECT count(*) FROM local.cancelled.t.snapshots") == [(0,)]


@pytest.mark.slow
@pytest.mark.spark
def test_interrupting_by_connect_leaves_nothing(server: Serving) -> None:
    client = server.client()
    rows(client, "CREATE NAMESPACE IF NOT EXISTS local.interrupted")
    rows(client, "CREATE TABLE local.interrupted.t (id BIGINT)")
    program = Path(__file__).with_name("interrupt_program.py")
    folder = server.folder / "warehouse" / "interrupted" / "t"
    done = subprocess.run([sys.executable, str(program), str(server.connect), str(folder)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"all": "OPERATION_CANCELED", "tag": "OPERATION_CANCELED", "rows": 0, "snapshots": 0}
    _until(lambda: not list(folder.rglob("*.parquet")))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.org", "::"])
def test_other_addresses_need_authentication(host: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"hive\.server2\.authentication"):
        check(Options(host=host, conf={}))
    ldap = {"hive.server2.authentication": "LDAP"}
    with pytest.raises(InvalidArgumentError, match="Spark Connect"):
        check(Options(host=host, conf=ldap))
    check(Options(host=host, conf={**ldap, "spark.connect.authenticate.token": "secret"}))
    check(Options(host=host, conf=ldap, connect_port=None))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.9"])
def test_loopback_needs_none(host: str) -> None:
    check(Options(host=host, conf={}))
