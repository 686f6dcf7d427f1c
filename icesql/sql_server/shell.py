"""``icesql spark-sql``: Spark's own shell, with icesql inside its JVM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from icesql.errors import IcesqlError
from icesql.session.connecting import LOOPBACK, quiet_log, quiet_pyspark
from icesql.session.own_folder import own_folder_path
from icesql.session.script import error_text
from icesql.sql_server.clients import Clients

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.parser.statements.families import AnyStatement

_FLAGS = {"--supervise", "--verbose", "-v"}
_WITH_VALUE = {
    *("--master", "--deploy-mode", "--name", "--jars", "--packages", "--exclude-packages", "--repositories", "--py-files", "--files"),
    *("--archives", "--conf", "-c", "--properties-file", "--driver-memory", "--driver-java-options", "--driver-library-path"),
    *("--driver-class-path", "--executor-memory", "--proxy-user", "--driver-cores", "--executor-cores", "--total-executor-cores"),
    *("--queue", "--num-executors", "--principal", "--keytab"),
}
_NAME_WIDTH = 20


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of ``spark-submit``, which may stand anywhere, and those of the shell itself."""
    submitted: list[str] = []
    own: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        option, equals, _ = word.partition("=")
        if word in _FLAGS or (equals and option in _WITH_VALUE and option.startswith("--")):
            submitted.append(word)
        elif word in _WITH_VALUE and waiting:
            submitted += [word, waiting.pop(0)]
        else:
            own.append(word)
            if word.startswith("-") and word.rstrip()[-1:] in "efid" and waiting and not word.startswith("--"):
                own.append(waiting.pop(0))  # its value, whatever it looks like
    return submitted, own


class ShellClients(Clients):
    """The shell's one session. As in Spark's shell, SHOW TABLES prints names alone, and DESCRIBE pads its columns."""

    def shown(self, statement: AnyStatement | None, frame: DataFrame) -> DataFrame | None:
        from icesql.parser.statements import DescribeTable, ShowTables
        from icesql.session.output.results import ResultColumns

        match statement:
            case ShowTables() if frame.columns[1:2] == ["tableName"] and len(frame.columns) == 3:
                lines = [row[1] for row in frame.collect()]
            case DescribeTable() if frame.columns == ["col_name", "data_type", "comment"]:
                lines = ["\t".join(f"{cell or '':<{_NAME_WIDTH}}" for cell in row) for row in frame.collect()]
            case _:
                return None
        shown: DataFrame = ResultColumns("line string").frame(frame.sparkSession, [[line] for line in lines])
        return shown


def run(arguments: Sequence[str]) -> int:
    """The shell's exit code. Raises IcesqlError when Java is missing or Spark does not start."""
    from icesql.spark.launch.java import java_command, pip_java, program
    from icesql.spark.launch.own_jvm import start_jvm
    from icesql.spark.launch.pip_gateway import MISSING_MODULE

    submitted, own = split_arguments(arguments)
    home = pip_java()
    java = str(java_command()) if home is None else str(program(home))
    environment = dict(os.environ) if home is None else {**os.environ, "JAVA_HOME": str(home)}
    environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    terminal = os.dup(0)
    without = () if home is None else (MISSING_MODULE,)
    jvm = start_jvm(java, [*_settings(), *submitted, "pyspark-shell"], environment, without=without, pass_fds=(terminal,))
    quiet_pyspark()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the shell's own
    shell = _Shell(jvm, own, terminal)
    shell.start()
    code = jvm.wait()
    if shell.error is not None:
        raise IcesqlError(f"Cannot start Spark: {error_text(shell.error)}")
    return 128 - code if code < 0 else code


def _settings() -> list[str]:
    """Spark's own tables are where Spark's shell has them: in the working folder."""
    java = [f"-Dderby.stream.error.file={own_folder_path() / 'derby.log'}", *quiet_log()]
    settings = {**LOOPBACK, "spark.sql.catalogImplementation": "hive", "spark.driver.extraJavaOptions": " ".join(java)}
    return [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]


class _Shell(threading.Thread):
    def __init__(self, jvm: subprocess.Popen[bytes], arguments: Sequence[str], terminal: int) -> None:
        super().__init__(name="icesql-spark-sql", daemon=True)
        self._process, self._arguments, self._terminal = jvm, arguments, terminal
        self.error: Exception | None = None

    def run(self) -> None:
        from py4j.protocol import Py4JNetworkError
        from pyspark.sql import SparkSession

        from icesql.spark.jvm.door.parser import open_door
        from icesql.spark.jvm.door.shell import run_shell

        clients = ShellClients()
        try:
            run_shell(open_door(SparkSession.builder.getOrCreate(), clients), self._arguments, self._terminal, clients.cancel)
        except (Py4JNetworkError, OSError):
            return  # the shell has ended its JVM, whose exit code tells the rest
        except Exception as error:
            self.error = error
            assert self._process.stdin is not None
            self._process.stdin.close()  # and it ends
