"""``icesql spark-sql`` as a process: Spark's own shell, beside Spark's own where both understand the script, and at a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark
import pytest

from icesql.sql_server.shell import split_arguments

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ["--master", "local[2]", "--driver-memory", "1g", "--conf", "spark.sql.shuffle.partitions=2"]
SHELL = [sys.executable, "-m", "icesql.cli.main", "spark-sql", *SETTINGS]
PLAIN = """\
CREATE TABLE plain (id INT, words ARRAY<STRING>) USING parquet;
INSERT INTO plain VALUES (1, array('a;b', 'c')), (${one} + 1, NULL); -- a comment; with a semicolon
SHOW TABLES;
DESCRIBE plain;
SELECT * FROM plain ORDER BY id;
SELECT date'2024-02-29', 1.50BD, named_struct('a', 1), true, NULL;
SET spark.sql.shuffle.partitions;
SELECT id FROM nothing_here;
SELECT 'not reached';
"""
OURS = """\
CREATE NAMESPACE local.db;
CREATE TABLE local.db.t (id INT, s STRING) PARTITIONED BY (bucket(4, id));
INSERT INTO local.db.t VALUES (1, 'a'), (2, ${second});
USE local.db;
SHOW TABLES;
DESCRIBE t;
EXPLAIN DELETE FROM t;
SELECT * FROM t ORDER BY id;
SELECT operation FROM local.db.t.snapshots;
CALL local.system.rewrite_manifests('db.t');
"""


@pytest.mark.parametrize(
    ("given", "submitted", "own"),
    [
        (["-e", "SELECT 1"], [], ["-e", "SELECT 1"]),
        (["-f", "a.sql", "--master", "local[2]", "-S"], ["--master", "local[2]"], ["-f", "a.sql", "-S"]),
        (["--conf", "a=b", "-c", "d=e", "--jars=x.jar"], ["--conf", "a=b", "-c", "d=e", "--jars=x.jar"], []),
        (["-e", "--master"], [], ["-e", "--master"]),
        (["--hivevar", "a=b", "-d", "c=d", "--verbose"], ["--verbose"], ["--hivevar", "a=b", "-d", "c=d"]),
        (["-Se", "--conf"], [], ["-Se", "--conf"]),
        (["--database", "local.db", "-H"], [], ["--database", "local.db", "-H"]),
    ],
)
def test_arguments_go_to_spark_or_to_its_shell(given: list[str], submitted: list[str], own: list[str]) -> None:
    assert split_arguments(given) == (submitted, own)


def _run(command: list[str], folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )


@pytest.mark.slow
@pytest.mark.spark
def test_a_script_prints_what_sparks_own_shell_prints(tmp_path: Path) -> None:
    script = tmp_path / "plain.sql"
    script.write_text(PLAIN)
    arguments = ("-f", str(script), "--hivevar", "one=1", "--conf", "spark.sql.cli.print.header=true")
    spark_sql = Path(pyspark.__file__).parent / "bin" / "spark-sql"
    theirs = _run([str(spark_sql), *SETTINGS], tmp_path / "theirs", *arguments)
    ours = _run(SHELL, tmp_path / "ours", *arguments)
    assert "not reached" not in theirs.stdout and "a;b" in theirs.stdout
    assert (ours.stdout, ours.returncode) == (theirs.stdout, theirs.returncode) == (ours.stdout, 1)
    assert _last_error(ours) == _last_error(theirs) and "Py4J" not in ours.stderr and "Traceback" not in ours.stderr


def _last_error(ended: subprocess.CompletedProcess[str]) -> str:
    """The message, without the plan that Spark prints below it."""
    error = ended.stderr[ended.stderr.index("[TABLE_OR_VIEW_NOT_FOUND]") :]
    return error[: error.index("SQLSTATE: 42P01")]


@pytest.mark.slow
@pytest.mark.spark
def test_icebergs_statements_in_a_script(tmp_path: Path) -> None:
    (tmp_path / "first.sql").write_text("SET spark.sql.cli.print.header=false;")
    (tmp_path / "ours.sql").write_text(OURS)
    ended = _run(SHELL, tmp_path, "-S", "-i", "first.sql", "-f", "ours.sql", "--hivevar", "second=NULL")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    at = lines.index("t")  # SHOW TABLES prints names alone
    assert [line.rstrip() for line in lines[at + 1 : at + 3]] == ["id                  \tint", "s                   \tstring"]
    assert "Delete local.db.t" in ended.stdout
    assert [line for line in lines if line in ("1\ta", "2\tNULL", "append", "0\t0")] == ["1\ta", "2\tNULL", "append", "0\t0"]


class _Terminal:
    """A shell at a pseudo-terminal."""

    def __init__(self, folder: Path, home: Path) -> None:
        java = f"-Duser.home={home}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "JAVA_TOOL_OPTIONS": java}
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(SHELL[0], SHELL, environment)
        self._seen = ""

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def until(self, text: str, seconds: float = 240) -> str:
        """What was printed up to the text."""
        end = time.monotonic() + seconds
        while text not in self._seen:
            assert time.monotonic() < end, f"no {text!r} in {self._seen!r}"
            if select.select([self._file], [], [], 1)[0]:
                try:
                    data = os.read(self._file, 65536)
                except OSError:
                    data = b""
                assert data, f"ended without {text!r}: {self._seen!r}"
                self._seen += data.decode(errors="replace")
        before, _, self._seen = self._seen.partition(text)
        return before

    def ended(self) -> int:
        self.until("\n", 60)
        for _ in range(600):
            found, status = os.waitpid(self.pid, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if select.select([self._file], [], [], 0.1)[0]:
                try:
                    os.read(self._file, 65536)
                except OSError:
                    time.sleep(0.1)
        raise AssertionError("it goes on")


@pytest.mark.slow
@pytest.mark.spark
def test_at_a_terminal(tmp_path: Path) -> None:
    """Lines are edited and kept, an error does not end the shell, Ctrl-C ends a statement and leaves nothing."""
    folder, home = tmp_path / "work", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    shell = _Terminal(folder, home)
    try:
        shell.until("spark-sql (default)> ")
        shell.type("CREATE NAMESPACE local.db;\n")
        shell.until("Time taken")
        shell.type("CREATE TABLE local.db.t\n(id BIGINT);\n")
        shell.until("Time taken")
        shell.type("SELCT 1;\n")
        told = shell.until("\n^^^")
        assert "PARSE_SYNTAX_ERROR" in told or "^^^" in told
        shell.type("INSERT INTO local.db.t SELECT id + count(*) OVER () FROM range(3000000000);\n")
        time.sleep(15)
        os.kill(_java_of(shell.pid), signal.SIGINT)
        shell.until("Interrupting")
        shell.until("spark-sql (default)> ")
        shell.type("SELECT concat('rows:', count(*)) FROM local.db.t;\n")
        shell.until("rows:0")
        shell.type("SELECT concat('files:', count(*)) FROM local.db.t.all_data_files;\n")
        shell.until("files:0")
        assert not list((folder / "warehouse" / "db" / "t").rglob("*.parquet"))
        shell.type("exit;\n")
        assert shell.ended() == 0
    finally:
        try:
            os.kill(shell.pid, signal.SIGKILL)
            os.waitpid(shell.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
    assert "CREATE NAMESPACE local.db;" in (home / ".hivehistory").read_text()


def _java_of(pid: int) -> int:
    import psutil

    return next(child.pid for child in psutil.Process(pid).children(recursive=True) if child.name() == "java")
