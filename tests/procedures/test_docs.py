"""Every example of docs/procedures.md runs, and gives what the document says."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from icesql.procedures.registry import NAMES, procedure

DOCUMENT = (Path(__file__).parents[2] / "docs" / "procedures.md").read_text()


@dataclass(frozen=True)
class Example:
    section: str
    statements: list[str]
    columns: list[str]
    rows: list[list[str]]


def sections() -> dict[str, str]:
    parts = re.split(r"^## (\w+)$", DOCUMENT, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def examples() -> list[Example]:
    found = []
    for section, text in sections().items():
        blocks = re.findall(r"```sql\n(.*?)```\n```text\n(.*?)```", text, flags=re.DOTALL)
        assert len(blocks) == text.count("```sql"), f"{section}: an example without its result"
        for sql, result in blocks:
            header, *lines = [[cell.strip() for cell in line.split("|")] for line in result.strip().splitlines()]
            statements = [statement.strip() for statement in sql.split(";\n") if statement.strip()]
            found.append(Example(section, statements, header, lines))
    return found


def test_every_procedure_has_a_section_with_an_example() -> None:
    assert set(sections()) == set(NAMES)
    assert {example.section for example in examples()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_section_names_arguments_and_output(name: str) -> None:
    signature = ", ".join(f"{parameter.name} {parameter.type}" for parameter in procedure(name).parameters)
    assert f"`({signature})`" in sections()[name]


@pytest.mark.spark
def test_examples_give_what_the_document_says(spark: Any, tmp_path: Path) -> None:
    import icesql

    session = icesql.connect(
        spark,
        catalogs={
            "local": {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": str(tmp_path / "warehouse")},
            "spark_catalog": {"type": "sql", "uri": f"sqlite:///{tmp_path}/spark.db", "warehouse": str(tmp_path / "spark")},
        },
    )
    session.sql("CREATE NAMESPACE local.db")
    session.sql("CREATE NAMESPACE IF NOT EXISTS spark_catalog.default")
    session.sql("USE local")
    problems = [problem for example in examples() for problem in _problems(session, example, tmp_path)]
    assert not problems, "\n".join(problems)


def _problems(session: Any, example: Example, folder: Path) -> list[str]:
    frame = None
    known: dict[str, Any] = {}
    for statement in example.statements:
        text = statement.rstrip(";").replace("/data/", f"{folder}/data/")
        known |= _arguments(session, example.section)
        arguments = {name: value for name, value in known.items() if f":{name}" in text}
        try:
            frame = session.sql(text, arguments or None)
        except Exception as error:
            return [f"{example.section}: {text}: {str(error)[:300]}"]
    assert frame is not None
    rows = [["NULL" if cell is None else str(cell) for cell in row] for row in frame.collect()]
    shown = [
        [given if wanted != "*" else "*" for given, wanted in zip(row, line, strict=False)]
        for row, line in zip(rows, example.rows, strict=False)
    ]
    if frame.columns != example.columns or shown != example.rows or len(rows) != len(example.rows):
        return [f"{example.section}: {example.statements[-1]}: {frame.columns} {rows}"]
    return []


def _arguments(session: Any, section: str) -> dict[str, Any]:
    """What the document's parameters stand for, of the section's own table."""
    found = session.find(("local", "db", section))
    if found is None:
        return {}
    table = found.table
    values: dict[str, Any] = {"location": table.location, "metadata_file": table.metadata_location}
    if table.snapshots:
        first, last = table.snapshots[0], table.snapshots[-1]
        moment = datetime.datetime.fromtimestamp((first.timestamp_ms + 1) / 1000, datetime.timezone.utc)
        values |= {"first": first.snapshot_id, "last": last.snapshot_id, "soon": f"{moment:%Y-%m-%d %H:%M:%S.%f}"}
    return values
