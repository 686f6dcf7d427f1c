"""``icesql plan``: which conditions of a query choose files of which table, and what is left."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from icesql.cli.main import app
from icesql.cli.where import table_conditions
from icesql.session.light import connect_catalog
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType

IN_QUERY = "a IN (SELECT b FROM db.u WHERE c = 3)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM db.t", {"db.t": []}),
        ("SELECT * FROM db.t WHERE a = 1 AND b BETWEEN 2 AND 3 AND c = 4 LIMIT 5", {"db.t": ["a = 1", "b BETWEEN 2 AND 3", "c = 4"]}),
        ("SELECT * FROM db.t WHERE a = 1 OR b = 2", {"db.t": ["a = 1 OR b = 2"]}),
        ("SELECT * FROM db.t x WHERE x.a = 1 AND db.t.b = 2", {"db.t": ["a = 1", "db.t.b = 2"]}),
        ("SELECT * FROM db.t WHERE db.t.a = 1 AND t.b = 2", {"db.t": ["a = 1", "b = 2"]}),
        ("SELECT * FROM db.t JOIN db.u ON t.i = u.i WHERE t.a = 1 AND u.b = 2", {"db.t": ["a = 1", "!"], "db.u": ["!", "b = 2"]}),
        ("SELECT * FROM db.t LEFT JOIN db.u ON t.i = u.i WHERE t.a = 1", {"db.t": ["a = 1"], "db.u": []}),
        ("SELECT * FROM db.t RIGHT JOIN db.u ON t.i = u.i WHERE u.a = 1", {"db.t": [], "db.u": ["a = 1"]}),
        ("SELECT * FROM db.t FULL JOIN db.u ON t.i = u.i WHERE u.a = 1", {"db.t": [], "db.u": []}),
        ("SELECT * FROM (SELECT * FROM db.t WHERE a = 1) WHERE b = 2", {"db.t": ["a = 1"]}),
        ("SELECT * FROM db.t WHERE a = 1 UNION ALL SELECT * FROM db.u WHERE b = 2", {"db.t": ["a = 1"], "db.u": ["b = 2"]}),
        ("SELECT * FROM db.t WHERE a IN (SELECT b FROM db.u WHERE c = 3)", {"db.t": [IN_QUERY], "db.u": ["c = 3"]}),
        ("EXPLAIN PRUNING SELECT * FROM db.t WHERE a = 1", {"db.t": ["a = 1"]}),
    ],
)  # fmt: skip
def test_conditions_of_each_table(sql: str, expected: dict[str, list[str]]) -> None:
    found = {
        table.reference.dotted: ["!" if condition.others else condition.text for condition in table.conditions]
        for table in table_conditions(sql)
    }
    assert found == expected


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    catalog = connect_catalog("local")
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", Schema((NestedField(1, "id", LongType()), NestedField(2, "p", StringType()))))
    with table.update_spec() as spec:
        spec.add_field("p")
    for number in range(4):
        table.append(pa.table({"id": [number], "p": [f"p{number}"]}))
    with table.manage_snapshots() as refs:
        refs.create_tag("checked")
    table.append(pa.table({"id": [9], "p": ["p9"]}))


def files_read(sql: str) -> list[int]:
    done = CliRunner().invoke(app, ["plan", sql, "--format", "csv"])
    assert done.exit_code == 0, done.output
    return [int(row["files"]) for row in csv.DictReader(io.StringIO(done.stdout)) if row["step"] == "read"]


@pytest.mark.usefixtures("warehouse")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM db.t", [5]),
        ("SELECT * FROM db.t WHERE p = 'p1'", [1]),
        ("SELECT * FROM local.db.t x WHERE x.id >= 3", [2]),
        ("SELECT * FROM db.t WHERE P = 'p1' AND upper(p) = 'P1'", [1]),
        ("SELECT * FROM db.t VERSION AS OF 'checked'", [4]),
        ("SELECT * FROM db.t.tag_checked WHERE id > 2", [1]),
        ("SELECT * FROM db.t a JOIN db.t b ON a.id = b.id WHERE a.p = 'p1'", [1, 5]),
    ],
)
def test_files_that_are_left(sql: str, expected: list[int]) -> None:
    assert files_read(sql) == expected


@pytest.mark.usefixtures("warehouse")
def test_the_picture_and_what_tells_no_files_apart() -> None:
    done = CliRunner().invoke(app, ["plan", "SELECT * FROM db.t WHERE p = 'p1' AND upper(p) = 'P1'"])
    assert "5 files  ████" in done.stdout
    assert "1 file " in done.stdout
    assert done.stderr == "-- tells no files apart: upper(p) = 'P1'\n"


@pytest.mark.usefixtures("warehouse")
@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT 1", "reads no table"),
        ("SELECT * FROM db.tt", "Did you mean 'local.db.t'?"),
        ("SELECT * FROM db.t TIMESTAMP AS OF now()", "only Spark can evaluate"),
        ("SELECT 'open FROM db.t", "never ends"),
    ],
)
def test_what_cannot_be_planned(sql: str, told: str) -> None:
    done = CliRunner().invoke(app, ["plan", sql])
    assert done.exit_code == 1
    assert told in done.stderr
