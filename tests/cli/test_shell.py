"""The ``icesql`` command as people start it: scripts, options, and a session at a terminal. Three JVMs serve all that is checked here."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from icesql.cli.main import app

COMMAND = (sys.executable, "-m", "icesql.cli.main")
SETTINGS = (
    "--master", "local[2]", "--conf", "spark.driver.memory=1g", "--conf", "spark.sql.shuffle.partitions=2",
    "--conf", "spark.sql.session.timeZone=UTC",
)  # fmt: skip


def icesql(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    home = {"HOME": str(cwd), **environment}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env={**os.environ, **home}, capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL
    )


# -- without Spark -----------------------------------------------------------------------------------------------------
def test_no_java_is_said_in_one_sentence(tmp_path: Path) -> None:
    done = icesql("-e", "SELECT 1", cwd=tmp_path, JAVA_HOME=str(tmp_path), ICESQL_JAVA="system")
    assert done.returncode == 1
    assert done.stderr.startswith("icesql: Cannot start Spark: no Java found: install Java 17 or 21")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--format", "xml"], "table, csv, json, markdown"), (["--conf", "novalue"], "KEY=VALUE"), (["-d", "=1"], "KEY=VALUE")],
)
def test_options_that_cannot_be_are_refused(arguments: list[str], told: str) -> None:
    from typer.testing import CliRunner

    done = CliRunner().invoke(app, [*arguments, "-e", "SELECT 1"])
    assert done.exit_code == 2
    assert told in done.output


def test_version() -> None:
    from typer.testing import CliRunner

    from icesql import __version__

    assert CliRunner().invoke(app, ["--version"]).output == f"icesql {__version__}\n"


# -- scripts -----------------------------------------------------------------------------------------------------------
FAILING = """CREATE TABLE t (id bigint, name string);
INSERT INTO t VALUES (${first}, 'a'), (2, 'b;c');
SELECT id, name FROM t ORDER BY id;

SELECT *
FROM tt;
DROP TABLE t"""


@pytest.mark.spark
def test_a_script_with_every_option_stops_at_its_first_failure(tmp_path: Path) -> None:
    (tmp_path / "script.sql").write_text(FAILING)
    (tmp_path / "init.sql").write_text("CREATE NAMESPACE ice.other;\nSHOW NAMESPACES IN ice")
    (tmp_path / "lake" / "db").mkdir(parents=True)
    catalog = ("spark.sql.catalog.ice=org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.ice.type=hadoop",
               f"spark.sql.catalog.ice.warehouse={tmp_path}/lake")  # fmt: skip
    confs = [argument for setting in catalog for argument in ("--conf", setting)]
    done = icesql(
        *SETTINGS, *confs, "-v", "-d", "first=1", "--database", "ice.db", "--format", "markdown", "-i", "init.sql", "-f", "script.sql",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "| namespace |\n|---|\n| db |\n| other |\n" in done.stdout
    assert "| id | name |\n|---|---|\n| 1 | a |\n| 2 | b;c |\n" in done.stdout
    assert "INSERT INTO t VALUES (1, 'a'), (2, 'b;c')" in done.stdout, "-v echoes, with variables filled in"
    assert "script.sql: Statement 4 failed (line 6, column 6): " in done.stderr
    assert "Did you mean 't'" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "lake" / "db" / "t" / "metadata" / "v2.metadata.json").exists(), "what ran before the failure is committed"


@pytest.mark.spark
def test_silent_json_in_the_default_catalog(tmp_path: Path) -> None:
    make = "CREATE NAMESPACE local.db; CREATE TABLE local.db.t AS SELECT id FROM range(3)"
    done = icesql(*SETTINGS, "-S", "--format", "json", "-e", make, "-e", "SELECT max(id) AS m FROM local.db.t WHERE id > 0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [{"m": 2}]
    assert "-- " not in done.stderr
    assert (tmp_path / "warehouse" / "db" / "t").is_dir()


# -- a terminal --------------------------------------------------------------------------------------------------------
@dataclass
class Terminal:
    """The shell behind a pseudo terminal: what is typed, and what it has shown since."""

    process: subprocess.Popen[bytes]
    screen: int
    seen: str = ""

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def complete(self, text: str, rest: str) -> None:
        """Type, press Tab, and wait for what it adds."""
        self.type(text)
        self.wait_for(re.escape(text[-3:]))
        self.type("\t")
        self.wait_for(re.escape(rest))

    def wait_for(self, pattern: str, seconds: float = 240) -> str:
        """What was shown up to and with the pattern, without escape sequences."""
        until = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.seen)
            if found:
                shown, self.seen = self.seen[: found.end()], self.seen[found.end() :]
                return shown
            assert time.monotonic() < until, f"waited for {pattern!r}, saw: {self.seen[-3000:]}"
            if select.select([self.screen], [], [], 0.2)[0]:
                self.seen += self._read()

    def _read(self) -> str:
        try:
            data = os.read(self.screen, 65536)
        except OSError:
            return ""
        if b"\x1b[6n" in data:  # prompt_toolkit asks where the cursor is
            os.write(self.screen, b"\x1b[1;1R")
        return re.sub(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07]*\x07|[=>])", "", data.decode(errors="replace")).replace("\r", "")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *SETTINGS], cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "200", "LINES": "50"},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=_own_terminal,
    )  # fmt: skip
    os.close(theirs)
    yield Terminal(process, ours)
    if process.poll() is None:
        process.kill()
        process.wait()
    os.close(ours)


def _own_terminal() -> None:
    """The pseudo terminal becomes the one that sends this process its Ctrl-C."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.spark
def test_a_session_at_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    terminal.wait_for("icesql>")
    terminal.type("CREATE NAMESPACE local.db;\r")
    terminal.wait_for(r"-- [\d.]+ s")
    terminal.type("CREATE TABLE local.db.things\rAS SELECT id, id % 2 AS remainder FROM range(10);\r")  # several lines
    terminal.wait_for(r"-- [\d.]+ s")
    terminal.complete("SELECT count(id) AS n FROM local.db.thi", "ngs")
    terminal.complete(" WHERE rem", "ainder")
    terminal.type(" = 1 AND id > 0;\r")
    for again in ("SELECT count(id) AS n FROM local.db.things WHERE remainder = 1 AND id > 0;\r", ""):  # planned before, told again
        shown = terminal.wait_for(r"skipped\n")
        assert re.search(r"\bn *\n *5 *\n", shown)
        assert "1 row, manifests read 1 of 1, files read 1 of 1" in shown
        terminal.type(again)
    terminal.complete("CALL local.system.rewrite_data", "_files")
    terminal.complete("(tab", "le =>")
    terminal.type("'db.things', options => map('rewrite-all', 'true'));\r")
    shown = terminal.wait_for(r"-- [\d.]+ s, 1 row")
    assert "rewritten_data_files_count" in shown
    assert "file groups rewritten" in shown
    terminal.type("SELECT reflect('java.lang.Thread', 'sleep', 3600000L) AS nothing FROM range(0, 2, 1, 1);\r")
    terminal.wait_for(r"Stage \d+:")  # Spark's own progress bar: the job runs, and would for hours
    terminal.type("\x03")
    terminal.wait_for("icesql: cancelled")
    terminal.type("SELECT 40 + 2 AS answer;\r")
    assert "42" in terminal.wait_for(r"-- [\d.]+ s, 1 row")
    terminal.type("SELECT 'half typed")
    terminal.type("\x03")  # dropped
    terminal.type("quit\r")
    assert terminal.process.wait(60) == 0
    history = (tmp_path / ".icesql" / "history").read_text()
    assert "+CREATE TABLE local.db.things\n+AS SELECT" in history
