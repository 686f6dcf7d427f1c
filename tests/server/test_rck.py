"""Iceberg's REST Compatibility Kit (``tests/rck/pom.xml``), fetched by Maven, on our server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.server.process import ROOT, ServerProcess

pytestmark = [pytest.mark.interop, pytest.mark.slow]
RUNS, SKIPPED_BY_ITSELF = 157, 12


def test_the_kit_finds_no_fault(tmp_path: Path) -> None:
    """The kit skips what servers may leave out and it is told that this one does: names with dots, empty namespaces, variants."""
    assert shutil.which("mvn"), "the kit needs Maven (Debian: apt-get install maven)"
    project = tmp_path / "rck"
    project.mkdir()
    shutil.copy(ROOT / "tests" / "rck" / "pom.xml", project)
    with ServerProcess(tmp_path) as running:
        command = ["mvn", "-q", "-B", "test", f"-Duri={running.uri}", "-Dwarehouse=local"]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=500)
        log = running.log
    reports = [path.read_text() for path in sorted((project / "target" / "surefire-reports").glob("*.txt"))]
    counts = [re.search(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)", text) for text in reports]
    runs, failures, errors, skipped = (sum(int(match[number]) for match in counts if match) for number in (1, 2, 3, 4))
    assert (failures, errors) == (0, 0), "\n".join(reports)[:20_000]
    assert (runs, skipped) == (RUNS, SKIPPED_BY_ITSELF), done.stdout[-5000:]
    assert "Traceback" not in log
