"""The packaging rules of this repository that a mistake would break in silence."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MAPPED = {"icesql.parser": "parser", "icesql.procedures": "procedures"}


def packages_in_tree() -> set[str]:
    inside = {".".join(init.parent.relative_to(ROOT).parts) for init in ROOT.glob("icesql/**/__init__.py")}
    mapped = {
        ".".join((package, *init.parent.relative_to(ROOT / folder).parts))
        for package, folder in MAPPED.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    return inside | mapped


def test_every_package_is_listed_for_the_wheel():
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_in_tree()


def test_the_two_mapped_folders_are_linked():
    for package, folder in MAPPED.items():
        link = ROOT / package.replace(".", "/")
        assert link.is_symlink() and link.resolve() == ROOT / folder


def test_import_is_lazy_and_cheap():
    code = "import sys, icesql; print(sorted(m for m in ('pyspark', 'pyarrow', 'sqlglot', 'sqlalchemy') if m in sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["connect", "connect_catalog", "enable", "disable", "Session"])
def test_public_names_resolve(name):
    import icesql

    assert getattr(icesql, name) is not None


def test_type_checkers_are_told_of_every_public_name():
    import icesql

    stub = ast.parse((ROOT / "icesql" / "__init__.pyi").read_text())
    told = {alias.asname: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert told == icesql._PUBLIC
    assert sorted(icesql.__all__) == sorted([*told, "__version__"])


def test_unknown_names_are_refused():
    import icesql

    with pytest.raises(AttributeError, match="no attribute 'conect'"):
        icesql.conect  # noqa: B018
