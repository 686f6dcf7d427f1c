"""What an IDE knows of the Python API: mypy and pyright read docs/python.md's examples as a user's program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.test_docs import ROOT, blocks

REVEALED = {
    'icesql.connect_catalog("local")': "Catalog",
    'catalog.load_table("db.t")': "Table",
    'table.scan(row_filter="id > 1", selected_fields=("id",))': "TableScan",
    'table.delete(delete_filter="id = 1", snapshot_properties={"by": "me"})': "TableVersion",
    "table.update_schema()": "UpdateSchema",
    "table.inspect": "Inspect",
    "icesql.connect()": "Session",
}
CHECKERS = {
    "mypy": [
        "mypy",
        "--no-error-summary",
        "--cache-dir",
        ".mypy",
        "--check-untyped-defs",
        "--follow-imports",
        "silent",
        "--allow-redefinition-new",
        "--local-partial-types",
        "--disable-error-code",
        "import-untyped",
    ],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's examples, then an expression to reveal on each line, then calls that a checker must refuse."""
    examples = [text for language, text, _ in blocks(ROOT / "docs" / "python.md") if language == "python"]
    reveals = [f"reveal_type({expression})" for expression in REVEALED]
    wrong = ["table.scan(row_filtr='id > 1')", "catalog.load_table(1)"]
    file = tmp_path_factory.mktemp("types") / "program.py"
    file.write_text("\n".join([*examples, "# revealed", *reveals, "# wrong", *wrong, ""]))
    return file


@pytest.mark.parametrize("checker", CHECKERS)
def test_examples_are_typed(checker: str, program: Path) -> None:
    lines = program.read_text().splitlines()
    first, wrong = lines.index("# revealed") + 2, lines.index("# wrong") + 2
    (program.parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))  # an editable install hides from them
    done = subprocess.run(
        [sys.executable, "-m", *CHECKERS[checker], program.name],
        cwd=program.parent, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    said: dict[int, list[str]] = {}
    for line, text in re.findall(r"program\.py:(\d+)(?::\d+)?[^a-z]*(.*(?:\n    .*)*)", done.stdout):
        said.setdefault(int(line), []).append(text)
    refused = {line for line, texts in said.items() if any(text.startswith("error") for text in texts)}
    assert refused == {wrong, wrong + 1}, done.stdout + done.stderr
    revealed = {expression: " ".join(said.get(first + place, [])) for place, expression in enumerate(REVEALED)}
    assert all(re.search(rf'[".]{kind}"', revealed[expression]) for expression, kind in REVEALED.items()), revealed
