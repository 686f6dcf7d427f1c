"""The plan of the house, as far as import-linter and the type checker cannot hold it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_FILES = 25  # about twenty, in a folder that grows no further without a wing

_JVM = re.compile(r"\._(?:j[a-z]\w*)\b|\bsessionState\(\)")


def _modules() -> Iterator[Path]:
    yield from sorted(path for path in (ROOT / "icesql").rglob("*.py") if "__pycache__" not in path.parts)


def test_folders_are_small() -> None:
    counts: dict[str, int] = {}
    for module in _modules():
        folder = str(module.parent.relative_to(ROOT))
        counts[folder] = counts.get(folder, 0) + 1
    large = {folder: count for folder, count in counts.items() if count > MOST_FILES}
    assert not large


def test_folders_say_what_they_hold() -> None:
    silent = [
        str(init.relative_to(ROOT))
        for init in (ROOT / "icesql").glob("*/*/**/__init__.py")
        if not ast.get_docstring(ast.parse(init.read_text()))
    ]
    assert not silent


def test_the_session_asks_the_jvm_through_its_own_room() -> None:
    """Spark's private handles (``_jdf``, ``_jvm``, ``_jsparkSession`` ...) are for ``icesql.spark``."""
    rooms = ("session", "cli", "magic", "procedures")
    found = [
        f"{module.relative_to(ROOT)}:{number}"
        for module in _modules()
        if module.relative_to(ROOT / "icesql").parts[0] in rooms
        for number, line in enumerate(module.read_text().splitlines(), 1)
        if _JVM.search(line)
    ]
    assert not found
