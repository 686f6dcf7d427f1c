"""Error conditions of Spark that icesql raises: one home, and the names and SQLSTATEs that Spark itself has."""

from __future__ import annotations

import ast
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pyspark

from icesql.spark_errors import SQLSTATES, spark_message

ROOT = Path(__file__).resolve().parents[1]
_BEGINS_WITH_CONDITION = re.compile(r"^\[[A-Z][A-Z0-9_]+(\.[A-Z_]+)?(\.?$|\])")


def _texts() -> Iterator[tuple[str, str]]:
    """Each text of the package, f-strings up to their first value, with its place."""
    for room in ("icesql", "parser", "procedures"):
        for module in sorted((ROOT / room).rglob("*.py")):
            tree = ast.parse(module.read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield f"{module.relative_to(ROOT)}:{node.lineno}", node.value


def test_conditions_have_one_home() -> None:
    """A message with a condition is made by ``spark_message``. In the shell such texts are the arguments of commands."""
    assert not [place for place, text in _texts() if _BEGINS_WITH_CONDITION.match(text) and not place.startswith("icesql/cli/")]


def test_every_condition_is_raised_somewhere() -> None:
    raised = {text for place, text in _texts() if not place.startswith("icesql/spark_errors.py")}
    missing = {
        condition for condition in SQLSTATES if not {condition, condition.rpartition(".")[2], condition.rpartition(".")[0] + "."} & raised
    }
    assert not {condition for condition in missing if not condition.startswith("NON_LAST_")}


def test_spark_knows_the_conditions_by_the_same_states() -> None:
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-common-utils_*.jar")
    with zipfile.ZipFile(jar) as archive:
        conditions = json.loads(archive.read("error/error-conditions.json"))
    states = {name: condition.get("sqlState") for name, condition in conditions.items()}
    for name, condition in conditions.items():
        for sub in condition.get("subClass", {}):
            states[f"{name}.{sub}"] = condition["subClass"][sub].get("sqlState") or condition.get("sqlState")
    assert {condition: states.get(condition) for condition in SQLSTATES} == SQLSTATES


def test_a_message_names_condition_and_state() -> None:
    assert (
        spark_message("VIEW_NOT_FOUND", "The view `v` cannot be found.") == "[VIEW_NOT_FOUND] The view `v` cannot be found. SQLSTATE: 42P01"
    )
