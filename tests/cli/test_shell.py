"""The ``icesql`` command as people start it: scripts, options, and a session at a terminal. Three JVMs serve all that is checked here."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
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


def test_a_missing_script_is_told_before_spark_starts(tmp_path: Path) -> None:
    began = time.monotonic()
    done = icesql("-f", "missing.sql", cwd=tmp_path, JAVA_HOME=str(tmp_path))  # Spark could not even start
    assert (done.returncode, done.stderr) == (1, "icesql: Cannot read script: No such file or directory: missing.sql\n")
    assert time.monotonic() - began < 60


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
    assert done.stderr == "", "nothing is said at start"
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

    def resize(self, columns: int, lines: int = 50) -> None:
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def run(self, text: str) -> str:
        """Type a statement, and what it showed up to the line with its time."""
        self.type(text + ";\r")
        return self.wait_for(r"-- \d+\.\d+ s[^\n]*\n")

    def complete(self, text: str, rest: str) -> None:
        """Type, press Tab, and wait for what it adds."""
        self.type(text)
        self.wait_for(re.escape(text[-3:]))
        self.type("\t")
        self.wait_for(re.escape(rest))

    def wait_for(self, pattern: str, seconds: float = 60) -> str:
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shell runs; its home too."""
    return tmp_path_factory.mktemp("shell")


@pytest.fixture(scope="module")
def terminal(folder: Path) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "PAGER", "LESS")}
    process = subprocess.Popen(
        [*COMMAND, *SETTINGS], cwd=folder, env={**environment, "HOME": str(folder), "TERM": "xterm", "EDITOR": f"{folder}/editor"},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, preexec_fn=_own_terminal,
    )  # fmt: skip
    shown = Terminal(process, ours)
    shown.resize(200)
    os.close(theirs)
    shown.wait_for("icesql>")
    yield shown
    if process.poll() is None:
        process.kill()
        process.wait()
    os.close(ours)


def _own_terminal() -> None:
    """The pseudo terminal becomes the one that sends this process its Ctrl-C."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.spark
def test_a_session_at_a_terminal(terminal: Terminal, folder: Path) -> None:
    terminal.type("CREATE NAMESPACE local.db;\r")
    terminal.wait_for(r"-- [\d.]+ s")
    terminal.type("CREATE TABLE local.db.things\rAS SELECT id, id % 2 AS remainder FROM range(10);\r")  # several lines
    terminal.wait_for(r"-- [\d.]+ s")
    terminal.complete("SELECT count(id) AS n FROM local.db.thi", "ngs")
    terminal.complete(" WHERE rem", "ainder")
    terminal.type(" = 1 AND id > 0;\r")
    for again in ("SELECT count(id) AS n FROM local.db.things WHERE remainder = 1 AND id > 0;\r", ""):  # planned before, told again
        shown = terminal.wait_for(r"skipped\n")
        assert re.search(r"n *\n *5 *\n", shown)
        assert "1 row, manifests read 1 of 1, files read 1 of 1" in shown
        terminal.type(again)
    terminal.complete("CALL local.system.rewrite_data", "_files")
    terminal.complete("(tab", "le =>")
    terminal.type("'db.things', options => map('rewrite-all', 'true'));\r")
    shown = terminal.wait_for(r"-- [\d.]+ s, 1 row")
    assert "rewritten_data_files_count" in shown
    terminal.type("SELECT reflect('java.lang.Thread', 'sleep', 3600000L + id) AS n FROM range(0, 2, 1, 2) ORDER BY n;\r")
    terminal.wait_for(r"stage \d+: 0 of 2 tasks")  # the job runs, and would for hours, on both cores that there are
    terminal.type("\x03")
    terminal.wait_for("icesql: cancelled")
    terminal.type("SELECT count(*) + 32 AS answer FROM (SELECT /*+ REPARTITION(2) */ id FROM range(10));\r")
    assert "42" in terminal.wait_for(r"-- [\d.]+ s, 1 row", seconds=60)  # the cores are free again
    terminal.type("SELECT 'half typed")
    terminal.type("\x03")  # dropped
    history = (folder / ".icesql" / "history").read_text()
    assert "+CREATE TABLE local.db.things\n+AS SELECT" in history


@pytest.fixture(scope="module")
def wide(terminal: Terminal) -> str:
    """A table with three snapshots, two of them of 40 files."""
    terminal.run("CREATE NAMESPACE IF NOT EXISTS local.wide")
    terminal.run("CREATE TABLE local.wide.events (device_id BIGINT, note STRING) PARTITIONED BY (device_id)")
    for _ in range(3):
        terminal.run("INSERT INTO local.wide.events SELECT id, repeat('note ', 12) FROM range(4)")
    return "local.wide.events"


SNAPSHOT_COLUMNS = ("committed_at", "snapshot_id", "parent_id", "operation", "manifest_list", "summary")


@pytest.mark.spark
@pytest.mark.parametrize("width", [40, 80, 160, 300])
def test_a_wide_result_has_all_its_columns_at_every_width(terminal: Terminal, wide: str, width: int) -> None:
    terminal.resize(width)
    terminal.type("\\pager off\r")
    terminal.wait_for("the pager is off")
    shown = terminal.run(f"SELECT * FROM {wide}.snapshots")
    lines = shown[shown.index("committed_at") : shown.rindex("-- ")].splitlines()
    for name in SNAPSHOT_COLUMNS:
        assert name in shown
    assert all(len(line) <= width for line in lines)
    joined = re.sub(r"[\s|]", "", shown)
    assert joined.count("snap-") == joined.count("app-name") == 3
    assert "3 rows" in shown


@pytest.mark.spark
def test_forms_at_a_terminal(terminal: Terminal, wide: str) -> None:
    terminal.resize(60)
    assert re.search(r"device_id +note\n +\d +note", terminal.run(f"SELECT * FROM {wide} LIMIT 1"))  # folded
    terminal.type("\\x\r")
    terminal.wait_for("one record a row")
    assert re.search(r"-\[ RECORD 1 \]\ndevice_id \| 3\n", terminal.run(f"SELECT DISTINCT device_id FROM {wide} WHERE device_id = 3"))
    terminal.type("\\x off\r")
    terminal.wait_for("always a table")
    terminal.type("\\pager on\r")
    terminal.wait_for("the pager is on")
    terminal.type(f"SELECT * FROM {wide}.snapshots;\r")  # scrolls sideways, until q is typed
    terminal.wait_for(r"committed_at +snapshot_id")
    terminal.type("q")
    terminal.wait_for(r"-- [\d.]+ s, 3 rows")
    terminal.type("\\x auto\r")
    terminal.wait_for("a table where it fits")
    terminal.resize(200)


@pytest.mark.spark
def test_commands_at_a_terminal(terminal: Terminal, wide: str, folder: Path) -> None:
    terminal.type("\\dt local.wide\r")
    terminal.wait_for(r"local +wide +events +table\n")
    terminal.type(".namespaces\r")
    terminal.wait_for(r"local +wide\n")
    terminal.type(f"\\d {wide}\r")
    shown = terminal.wait_for(r"properties +\S")
    assert re.search(r"device_id +long", shown)
    assert re.search(r"partitioned by +device_id\n", shown)
    assert re.search(r"rows +12\n", shown)
    (folder / "script.sql").write_text(f"SELECT count(*) AS counted FROM {wide};")
    terminal.type("\\o out.txt\r")
    terminal.wait_for("results go to out.txt")
    terminal.type("\\i script.sql\r")
    terminal.wait_for(r"-- [\d.]+ s, 1 row")
    terminal.type("\\o\r")
    terminal.wait_for("results go to the screen")
    assert (folder / "out.txt").read_text() == "counted\n     12\n"
    terminal.type("help CALL rewrite_data_files\r")
    assert "binpack" in terminal.wait_for("removed_delete_files_count")
    terminal.type("\\i missing.sql\r")
    terminal.wait_for("Cannot read script: No such file or directory: missing.sql")
    editor = folder / "editor"
    editor.write_text("#!/bin/sh\necho 'SELECT 6 * 7 AS edited;' > $1\n")
    editor.chmod(0o700)
    terminal.type("\\e\r")
    terminal.wait_for("AS edited;")
    terminal.type("\r")
    assert "42" in terminal.wait_for(r"-- [\d.]+ s, 1 row")


@pytest.mark.spark
def test_writes_show_files_bytes_and_rows(terminal: Terminal, wide: str) -> None:
    slow = "reflect('java.lang.Thread', 'sleep', id DIV 399999 * 4000) AS slept"
    terminal.type(f"CREATE TABLE {wide}_slow AS SELECT id, {slow} FROM range(0, 400000, 1, 2);\r")
    shown = terminal.wait_for(r"-- [\d.]+ s\n")
    assert re.search(r"stage \d+: \d of \d tasks", shown)
    assert re.search(r"written: 1 file, [\d.]+ [kM]?B and 200,000 rows", shown)


@pytest.mark.spark
def test_leaving(terminal: Terminal) -> None:
    terminal.type("\\q\r")
    assert terminal.process.wait(60) == 0


@pytest.mark.spark
def test_a_jvm_that_cannot_start_is_told_in_one_sentence(tmp_path: Path) -> None:
    done = icesql("--conf", "spark.driver.memory=1k", "-e", "SELECT 1", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("icesql: Cannot start Spark: its JVM ended before it was ready: ")
    assert "heap" in done.stderr or "memory" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
