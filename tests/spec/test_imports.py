"""Modules that run in Spark tasks must import where only Python, numpy and pyarrow are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import icesql.spec

DRIVER_ONLY = {"metadata_wire", "metadata_json", "metadata_readback", "snapshots_json"}
SPEC = Path(icesql.spec.__file__).parent


def test_modules_of_tasks_import_nothing_from_outside_the_standard_library() -> None:
    modules = sorted(path.stem for path in SPEC.glob("*.py") if path.stem not in DRIVER_ONLY)
    program = f"""
import sys
before = set(sys.modules)
for module in {modules!r}:
    __import__("icesql.spec." + module)
loaded = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(sorted(loaded - set(sys.stdlib_module_names) - {{"icesql"}}))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
