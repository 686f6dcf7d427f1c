"""Every ``sql`` and ``python`` block of the README and of docs/ runs, in order, page by page. docs/procedures.md has a test of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import IcesqlError

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted({ROOT / "README.md", *(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "procedures.md"})
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Language, text, and line of each block that runs."""
    text = page.read_text()
    found = [(m[1], m[2], text.count("\n", 0, m.start()) + 2) for m in _BLOCK.finditer(text)]
    return [block for block in found if block[0] in ("sql", "python")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in _LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


_PATH = re.compile(r"`((?:icesql|parser|procedures|tests|docs|scripts|sql_examples)/[^`\s]*)`")
_MODULE = re.compile(r"`(icesql(?:\.[a-z_]+)+)`")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_paths_and_modules_exist(page: Path) -> None:
    """``<name>`` in a path stands for any; a name behind a module may be one that the module has."""
    text = page.read_text()
    paths = [re.sub(r"<[^>]*>", "*", path) for path in _PATH.findall(text)]
    missing = [path for path in paths if not any(ROOT.glob(path.rstrip("/")))]
    for module in _MODULE.findall(text):
        file = ROOT / module.replace(".", "/")
        holds = file.parent.with_suffix(".py")
        named = holds.is_file() and re.search(rf"^(?:def|class) {module.rpartition('.')[2]}\b", holds.read_text(), re.M)
        if not (file.is_dir() or file.with_suffix(".py").is_file() or named or _is_public(module)):
            missing.append(module)
    assert not missing


def _wings_named() -> set[str]:
    """Behind the first folder of a row the names of its neighbours may stand alone: `icesql/server/http/`, `pages/`."""
    named = set()
    for row in re.findall(r"^\| (`(?:icesql|parser)/[^|]*)\|(.*)\|$", (ROOT / "docs/architecture.md").read_text(), re.M):
        folder = ROOT
        for path in re.findall(r"`([a-z_/]+)/`", " ".join(row)):
            folder = ROOT / path if path.startswith(("icesql/", "parser/")) else folder.parent / path
            named.add(str(folder.relative_to(ROOT)))
    return named


def test_every_wing_is_in_the_table() -> None:
    wings = {path.parent for room in ("icesql", "parser") for path in (ROOT / room).glob("*/**/__init__.py")}
    rooms = {ROOT / "icesql" / path.name for path in (ROOT / "icesql").iterdir()}
    links = {ROOT / "icesql/parser", ROOT / "icesql/procedures"}
    assert _wings_named() == {str(wing.relative_to(ROOT)) for wing in wings - rooms if not links & {wing, *wing.parents}}


def _is_public(name: str) -> bool:
    """``icesql.connect`` and the like, and what is an attribute of them."""
    import icesql

    return name.split(".")[1] in icesql.__all__


@pytest.mark.spark
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_examples_run(page: Path, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import icesql

    monkeypatch.chdir(tmp_path)  # the catalog `local` is in ./warehouse
    names: dict[str, Any] = {"spark": spark}
    session = icesql.connect(spark)
    try:
        for language, text, line in blocks(page):
            text = text.replace('"checkpoints/', f'"{tmp_path}/checkpoints/')  # the JVM has another working directory
            if text.startswith("BEGIN\n") and spark.version < "4.1":
                with pytest.raises(IcesqlError, match=r"needs Spark 4\.1"):
                    session.run_script(text)
            elif language == "sql":
                for frame in session.run_script(text):
                    frame.collect()
            else:
                exec(compile("\n" * (line - 1) + text, str(page), "exec"), names)
    finally:
        icesql.disable(spark)
