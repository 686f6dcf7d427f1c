"""The interpreter of Python workers, in jobs of users who have not activated the environment that has icesql."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from icesql.errors import UnsupportedError
from icesql.spark import shipping
from tests.spark.test_local_cluster import executor_python
from tests.spark.workers_program import ROWS

PROGRAM = Path(__file__).with_name("workers_program.py")
ROOT = Path(__file__).parents[2]
EXPECTED = [ROWS, sum(range(ROWS)), 3]


@pytest.mark.parametrize(
    ("master", "is_chosen"),
    [
        ("local", True),
        ("local[*]", True),
        ("local[2,3]", True),
        ("local-cluster[2,1,1024]", True),
        ("spark://host:7077", False),
        ("yarn", False),
        ("k8s://https://host", False),
    ],
)
def test_workers_on_this_machine_run_the_drivers_interpreter(master: str, is_chosen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    context = SimpleNamespace(master=master, pythonExec="python3")
    shipping._choose_interpreter(context)
    assert context.pythonExec == (sys.executable if is_chosen else "python3")


@pytest.mark.parametrize(("variable", "interpreter"), [("python3", "python3"), (None, "/opt/python")])
def test_what_the_user_has_chosen_stays(variable: str | None, interpreter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYSPARK_PYTHON", variable)
    context = SimpleNamespace(master="local[2]", pythonExec=interpreter)
    shipping._choose_interpreter(context)
    assert context.pythonExec == interpreter


def test_an_environment_is_known_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beside = tmp_path / "python3"
    beside.symlink_to(Path(sys.executable).resolve())
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shipping._is_drivers(sys.executable)
    assert not shipping._is_drivers("python3"), "another environment of the same installation"
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert shipping._is_drivers(Path(sys.executable).name)
    assert not shipping._is_drivers("/no/such/python")


def job(folder: Path, python: str, *others: str, chosen: str | None = None) -> dict[str, Any]:
    """What the program says when ``python3`` is ``python`` and nothing else of the environment is set."""
    path = folder / "path"
    path.mkdir()
    (path / "python3").symlink_to(python)
    java = Path(shutil.which("java") or "/usr/bin/java").parent
    environment = {"PATH": os.pathsep.join([str(path), str(java), "/usr/bin", "/bin"]), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment |= {key: os.environ[key] for key in ("JAVA_HOME", "HOME") if key in os.environ}
    environment |= {} if chosen is None else {"PYSPARK_PYTHON": chosen}
    command = [sys.executable, str(PROGRAM), str(ROOT), str(folder), *others]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def bare_python(folder: Path) -> str:
    """A command that runs this interpreter without its packages."""
    command = folder / "bare_python"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    command.chmod(0o755)
    return str(command)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11, PySpark cannot run",
            "it is Python 3.9, the driver's is 3.11",
        ),
        ('java.io.IOException: Cannot run program "/no/python": error=2', "it is not there"),
    ],
)
def test_what_spark_says_of_an_interpreter_becomes_a_sentence(message: str, why: str) -> None:
    class Context(SimpleNamespace):
        def parallelize(self, *_: Any) -> Any:
            raise RuntimeError(message)

    with pytest.raises(UnsupportedError) as raised:
        shipping._check_workers(Context(pythonExec="python3"))
    assert str(raised.value).startswith(f"Cannot run tasks in the workers' interpreter: {why}: python3; set PYSPARK_PYTHON")


def test_other_errors_are_sparks(monkeypatch: pytest.MonkeyPatch) -> None:
    def parallelize(*_: Any) -> Any:
        raise RuntimeError("SparkContext was shut down")

    with pytest.raises(RuntimeError, match="shut down"):
        shipping._check_workers(SimpleNamespace(pythonExec="python3", parallelize=parallelize))


@pytest.mark.spark
def test_an_environment_that_is_not_activated(tmp_path: Path) -> None:
    found = job(tmp_path, bare_python(tmp_path))
    assert (found["asked for"], found["used"]) == ("python3", sys.executable)
    assert found["rows"] == EXPECTED


@pytest.mark.spark
def test_an_interpreter_of_the_users_choice(tmp_path: Path) -> None:
    """It gets icesql if it has pyarrow; one that cannot do is refused in a sentence, before the job."""
    chosen, bare = str(executor_python(tmp_path)), bare_python(tmp_path)
    found = job(tmp_path, sys.executable, bare, "/no/such/python", chosen=chosen)
    assert (found["asked for"], found["used"], found["shipped"]) == (chosen, chosen, True)
    assert found["rows"] == EXPECTED
    advice = "; set PYSPARK_PYTHON to one that can be used before Spark starts"
    version = ".".join(map(str, sys.version_info[:2]))
    assert [line.removeprefix("UnsupportedError: Cannot run tasks in the workers' interpreter: ") for line in found["refused"]] == [
        f"it has no pyarrow: {bare}{advice}",
        f"it is not there: /no/such/python{advice}",
        f"it is Python {version}, the driver's is 3.99: {chosen}{advice}",
    ]
