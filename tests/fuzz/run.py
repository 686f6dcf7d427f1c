"""Fuzz one target: ``python -m tests.fuzz.run TARGET [options of libFuzzer]``; ``./dev fuzz`` builds what this needs and runs all.

``ICESQL_FUZZ_MODULE`` names the native module with sanitizers and coverage, which takes the place of the installed one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import atheris

MODULE_VARIABLE = "ICESQL_FUZZ_MODULE"


def _use_module(path: str) -> None:
    spec = importlib.util.spec_from_file_location("icesql.io._avro_columns", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["icesql.io._avro_columns"] = module
    spec.loader.exec_module(module)


def main() -> None:
    target, *options = sys.argv[1:]
    with atheris.instrument_imports(include=["icesql"], enable_loader_override=False):
        if path := os.environ.get(MODULE_VARIABLE):
            _use_module(path)
        from icesql.io.native import native
        from tests.fuzz.targets import TARGETS
    if path:
        assert native is not None and Path(native.__file__) == Path(path), "the module with sanitizers is not in use"
    atheris.Setup([sys.argv[0], *options], TARGETS[target], enable_python_coverage=True)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
