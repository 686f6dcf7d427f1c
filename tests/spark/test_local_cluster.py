"""A real cluster in small: two executors whose Python has pyarrow and numpy, but neither icesql nor its other dependencies."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.spark.cluster_program import ROWS

pytestmark = pytest.mark.spark
PROGRAM = Path(__file__).with_name("cluster_program.py")
VISIBLE = ("pyarrow", "numpy", "numpy.libs")


def executor_python(folder: Path) -> Path:
    """A command that runs this interpreter without its site-packages: of them it sees pyarrow and numpy only."""
    import pyarrow

    packages = folder / "packages"
    packages.mkdir()
    installed = Path(pyarrow.__file__).parents[1]
    for name in VISIBLE:
        if (installed / name).exists():
            (packages / name).symlink_to(installed / name)
    command = folder / "python"
    command.write_text(f'#!/bin/sh\nexport PYTHONPATH="$PYTHONPATH:{packages}"\nexec "{sys.executable}" -S "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return command


def spark_home(folder: Path) -> Path:
    """The pip package of Spark, seen through a folder of its own: executors keep their working files below SPARK_HOME."""
    import pyspark

    home = folder / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    return home


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("cluster")
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("PYTHONPATH", "SPARK_", "PYSPARK_"))},
        "SPARK_HOME": str(spark_home(folder)),
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(executor_python(folder)),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder / "warehouse")], env=environment, capture_output=True, text=True, timeout=500, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-6000:]
    result: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


@cache
def expected() -> dict[str, list[int]]:
    """The same changes on plain dictionaries of ``id -> (g, v)``."""
    states = {}
    table = {i: (i % 4, i * 2) for i in range(ROWS)}

    def keep(name: str) -> None:
        states[name] = [len(table), sum(table), sum(v for _, v in table.values()), len({g for g, _ in table.values()})]

    keep("ctas")
    table.update(dict.fromkeys(range(ROWS, 2 * ROWS), (4, 1)))
    keep("insert")
    table = {i: row for i, row in table.items() if not (row[0] == 1 and i % 8 == 1)}
    keep("delete_copy_on_write")
    for i in range(ROWS // 2, 2 * ROWS + 1000):
        if i not in table:
            table[i] = (5, 7)
        elif table[i][0] == 4:
            table[i] = (4, 7)
    keep("merge_copy_on_write")
    table = {i: row for i, row in table.items() if not (row[0] == 2 and i % 16 == 2)}
    keep("delete_merge_on_read")
    table = {i: (g, 9 if g == 4 else v) for i, (g, v) in table.items() if g != 5}
    keep("merge_on_read")
    keep("rewrite_data_files")
    return states


def test_executors_get_icesql_with_the_first_job(found: dict[str, Any]) -> None:
    assert all(told.startswith("ModuleNotFoundError: No module named 'icesql'") for told in found["before"])
    assert all(re.search(r"\bicesql-[0-9a-f]+\.zip\b", told) for told in found["after"])
    assert all(len(absent) == 11 for absent in found["absent"])


@pytest.mark.parametrize(
    "step",
    ["ctas", "insert", "delete_copy_on_write", "merge_copy_on_write", "delete_merge_on_read", "merge_on_read", "rewrite_data_files"],
)
def test_rows_are_right_after(step: str, found: dict[str, Any]) -> None:
    assert found[step] == expected()[step]


def test_files_of_another_format_are_read_by_tasks(found: dict[str, Any]) -> None:
    ids = range(10, 2 * ROWS)
    assert found["second_path"] == [len(ids), sum(ids), sum(i % 3 for i in ids)]


def test_deletes_were_written_and_compacted(found: dict[str, Any]) -> None:
    assert found["deletes"] is True
    assert found["rewritten"] == [True, True]
