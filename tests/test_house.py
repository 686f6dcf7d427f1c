"""The plan of the house, as far as import-linter and the type checker cannot hold it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from icesql.spark.jvm.classes import SUPPORTED, TABLE

ROOT = Path(__file__).resolve().parents[1]
MOST_FILES = 25  # about twenty, in a folder that grows no further without a wing

_JVM = re.compile(r"\._(?:jdf|jvm|jsparkSession|jc|jsc|jcatalog|gateway)\b|\bsessionState\(\)|\bbridge\.jvm\b")


def _modules() -> Iterator[Path]:
    """Those of ``parser`` and ``procedures`` too, which are links in ``icesql``."""
    for root in (ROOT / "icesql", ROOT / "icesql" / "parser", ROOT / "icesql" / "procedures"):
        yield from sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)


def test_folders_are_small() -> None:
    counts: dict[str, int] = {}
    for module in _modules():
        folder = str(module.parent.relative_to(ROOT))
        counts[folder] = counts.get(folder, 0) + 1
    flat = "icesql/procedures"  # one file a procedure, whatever their number
    large = {folder: count for folder, count in counts.items() if count > MOST_FILES and folder != flat}
    assert not large


def test_folders_say_what_they_hold() -> None:
    silent = [
        str(init.relative_to(ROOT))
        for init in (ROOT / "icesql").glob("*/*/**/__init__.py")
        if not ast.get_docstring(ast.parse(init.read_text()))
    ]
    assert not silent


def test_only_its_own_room_speaks_to_the_jvm() -> None:
    """Spark's private handles (``_jdf``, ``_jvm``, ``_jsparkSession`` ...) are for ``icesql.spark.jvm``."""
    places = [
        f"{module.relative_to(ROOT)}:{number}"
        for module in _modules()
        if module.relative_to(ROOT / "icesql").parts[:2] not in (("spark", "jvm"), ("spark", "launch"))
        for number, line in enumerate(module.read_text().splitlines(), 1)
        if _JVM.search(line)
    ]
    assert not places


_KEY = re.compile(r"(?:write|commit|read|history|gc|compatibility)\.[a-z-]+(?:\.[a-z.-]*)?")


def test_property_keys_have_one_home() -> None:
    """Keys of table properties are constants of ``icesql.spec.properties``; docstrings and messages may name them."""
    raw = [
        f"{module.relative_to(ROOT)}:{node.lineno} {node.value}"
        for module in _modules()
        if module != ROOT / "icesql" / "spec" / "properties.py"
        for node in ast.walk(ast.parse(module.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _KEY.fullmatch(node.value)
    ]
    assert not raw


def test_classes_of_spark_are_named_in_one_table() -> None:
    """Their full names stand in ``icesql.spark.jvm.classes``, where the versions that have them are listed too."""
    places = [
        f"{module.relative_to(ROOT)}:{node.lineno}"
        for module in _modules()
        if module != ROOT / "icesql/spark/jvm/classes.py"
        for node in ast.walk(ast.parse(module.read_text()))
        if (isinstance(node, ast.Constant) and isinstance(node.value, str) and "org.apache.spark" in node.value)
        or (isinstance(node, ast.Attribute) and ast.unparse(node).endswith("org.apache"))
    ]
    assert not places


def test_the_page_on_compatibility_names_what_not_every_spark_has() -> None:
    table = re.findall(r"^\| `(org\.[^`]+)` \| ([\d., ]+) \|$", (ROOT / "docs/compatibility.md").read_text(), re.MULTILINE)
    partial = {name: ", ".join(entry.versions) for name, entry in TABLE.items() if entry.versions != SUPPORTED}
    assert dict(table) == partial
