"""``icesql sql-server`` as a process, and its clients: PyHive for JDBC's protocol, and Spark Connect in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import InvalidArgumentError
from icesql.sql_server.running import Options, check

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Running:
    jdbc: int
    connect: int

    def client(self) -> Any:
        from pyhive import hive

        return hive.connect("127.0.0.1", self.jdbc, username="somebody")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Stopped as a service is, by a signal, and then it must end by itself, without an error."""
    running = Running(_free_port(), _free_port())
    command = [sys.executable, "-m", "icesql.cli.main", "sql-server", "--master", "local[2]", "-c", "spark.driver.memory=1g"]
    command += ["--jdbc-port", str(running.jdbc), "--connect-port", str(running.connect)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path_factory.mktemp("server"), env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("Spark Connect at"):
                break
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield running
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _rows(client: Any, text: str) -> list[tuple[Any, ...]]:
    cursor = client.cursor()
    cursor.execute(text)
    return list(cursor.fetchall()) if cursor.description else []


@pytest.mark.slow
@pytest.mark.spark
def test_jdbc_changes_and_reads_tables(server: Running) -> None:
    client = server.client()
    for text in (
        "CREATE NAMESPACE IF NOT EXISTS local.db",
        "CREATE TABLE local.db.t (id INT, p STRING) PARTITIONED BY (bucket(4, id))",
        "INSERT INTO local.db.t VALUES (1, 'a'), (2, 'b')",
        "UPDATE local.db.t SET p = 'c' WHERE id = 2",
    ):
        _rows(client, text)
    assert _rows(client, "SELECT * FROM local.db.t ORDER BY id") == [(1, "a"), (2, "c")]
    assert _rows(client, "SELECT count(*) FROM local.db.t.snapshots") == [(2,)]  # each command ran once
    assert _rows(client, "EXPLAIN DELETE FROM local.db.t")[0][0].startswith("Delete local.db.t")
    assert _rows(client, "SELECT count(*) FROM local.db.t") == [(2,)]  # and what was explained did not
    assert len(_rows(client, "CALL local.system.rewrite_data_files('db.t')")) == 1


@pytest.mark.slow
@pytest.mark.spark
def test_jdbc_errors_are_sparks(server: Running) -> None:
    client = server.client()
    for text, condition, state in (
        ("SELECT *\nFROM local.db.nothing_here", "TABLE_OR_VIEW_NOT_FOUND", "42P01"),
        ("SELCT 1", "PARSE_SYNTAX_ERROR", "42601"),
        ("SELECT missing FROM VALUES (1) AS v(one)", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703"),
    ):
        with pytest.raises(Exception) as raised:
            _rows(client, text)
        status = raised.value.args[0].status
        assert (status.sqlState, condition in status.errorMessage) == (state, True)
        assert "Traceback" not in status.errorMessage and "py4j" not in status.errorMessage.lower()
    assert _rows(client, "SELECT 1") == [(1,)]


@pytest.mark.slow
@pytest.mark.spark
def test_clients_do_not_see_each_others_sessions(server: Running) -> None:
    one, other = server.client(), server.client()
    _rows(one, "CREATE NAMESPACE IF NOT EXISTS local.mine")
    _rows(one, "USE local.mine")
    _rows(one, "CREATE TEMPORARY VIEW seen AS SELECT 1 AS a")
    _rows(one, "SET icesql.test.mine=1")
    assert _rows(one, "SHOW CURRENT NAMESPACE") == [("local", "mine")]
    assert _rows(other, "SHOW CURRENT NAMESPACE") != [("local", "mine")]
    assert _rows(other, "SET icesql.test.mine")[0][1] == "<undefined>"
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        _rows(other, "SELECT * FROM seen")


@pytest.mark.slow
@pytest.mark.spark
def test_parallel_clients_lose_nothing(server: Running) -> None:
    _rows(server.client(), "CREATE NAMESPACE IF NOT EXISTS local.many")
    _rows(server.client(), "CREATE TABLE local.many.t (client INT, n INT)")

    def work(number: int) -> None:
        client = server.client()
        for n in range(3):
            _rows(client, f"INSERT INTO local.many.t VALUES ({number}, {n})")
        client.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert _rows(server.client(), "SELECT count(*), count(DISTINCT client, n) FROM local.many.t") == [(12, 12)]


@pytest.mark.slow
@pytest.mark.spark
def test_spark_connect(server: Running) -> None:
    program = Path(__file__).with_name("connect_program.py")
    done = subprocess.run([sys.executable, str(program), str(server.connect)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "rows": [[1, "a"], [2, "b"]],
        "filtered": [[2, "b"]],
        "named": "b",
        "snapshots": 2,
        "explained": "Delete local.remote.t",
        "count": 3,
        "error": ["TABLE_OR_VIEW_NOT_FOUND", "42P01", False],
    }


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
