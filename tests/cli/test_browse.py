"""``icesql tables`` and its kin, over a catalog in a folder, without Spark."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner, Result

from icesql.cli.main import app
from icesql.session.light import connect_catalog
from icesql.spec.schema import Schema
from icesql.spec.types import DoubleType, LongType, NestedField, StringType, StructType
from icesql.table.table import Table

PLACE = StructType((NestedField(4, "lat", DoubleType()), NestedField(5, "lon", DoubleType())))
SCHEMA = Schema((NestedField(1, "id", LongType()), NestedField(2, "name", StringType(), doc="its name"), NestedField(3, "place", PLACE)))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.chdir(tmp_path)
    catalog = connect_catalog("local")
    catalog.create_namespace("db")
    catalog.create_namespace("db.inner")
    made = catalog.create_table("db.events", SCHEMA, properties={"owner": "ann"})
    with made.update_spec() as spec:
        spec.add_field("name")
    for number in range(3):
        rows = {"id": [number, 9], "name": ["a", f"b{number}"], "place": [{"lat": 1.0, "lon": 2.0}] * 2}
        made.append(pa.table(rows))
    with made.manage_snapshots() as refs:
        refs.create_tag("checked")
    return made


def icesql(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def rows_of(*arguments: str) -> list[dict[str, str]]:
    done = icesql(*arguments, "--format", "csv")
    assert done.exit_code == 0, done.output
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_tables(table: Table) -> None:
    wanted = [{"catalog": "local", "namespace": "db", "name": "events", "kind": "table"}]
    assert rows_of("tables") == rows_of("tables", "db") == rows_of("tables", "local.db") == wanted
    assert rows_of("tables", "db.inner") == []


def test_schema_has_nested_fields_and_ids(table: Table) -> None:
    listed = {row["column"]: row for row in rows_of("schema", "db.events")}
    for field_id, name in table.schema.names_by_id.items():
        assert listed[name]["id"] == str(field_id)
    assert (listed["place.lat"]["type"], listed["name"]["comment"]) == ("double", "its name")


def test_snapshots_with_refs_and_counts(table: Table) -> None:
    listed = rows_of("snapshots", "local.db.events")
    assert [int(row["snapshot_id"]) for row in listed] == [snapshot.snapshot_id for snapshot in table.snapshots]
    assert [row["refs"] for row in listed] == ["", "", "main, checked"]
    assert [int(row["total_rows"]) for row in listed] == [2, 4, 6]


def test_files(table: Table) -> None:
    listed = icesql("files", "db.events", "--format", "json").stdout.splitlines()
    assert {json.loads(line)["file_path"] for line in listed} == set(table.scan().plan_files().paths)


def test_description(table: Table) -> None:
    told = json.loads(icesql("describe", "db.events", "--format", "json").stdout)
    assert (told["rows"], told["data files"], told["snapshots"], told["partitioned by"]) == (6, 6, 3, "name")
    assert [column["column"] for column in told["columns"]] == ["id", "name", "place"]
    shown = icesql("describe", "db.events").stdout
    assert f"location          {table.location}" in shown
    assert "owner = ann" in shown


def test_a_catalog_of_settings(tmp_path: Path) -> None:
    connect_catalog("other", type="hadoop", warehouse=str(tmp_path)).create_table("db.t", SCHEMA)
    settings = ["--conf", "spark.sql.catalog.other.type=hadoop", "--conf", f"spark.sql.catalog.other.warehouse={tmp_path}"]
    wanted = [{"catalog": "other", "namespace": "db", "name": "t", "kind": "table"}]
    assert rows_of("tables", "other.db", *settings) == rows_of(*settings, "tables", "other.db") == wanted


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["files", "db.event"], "Did you mean 'local.db.events'?"),
        (["files", "events"], "its namespace is not named"),
        (["tables", "db.nothing"], "Namespace does not exist: db.nothing"),
    ],
)
def test_what_is_not_there_is_told_in_one_line(table: Table, arguments: list[str], told: str) -> None:
    done = icesql(*arguments)
    assert done.exit_code == 1
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


SLOW = {"pyspark", "pyarrow", "numpy", "pandas", "sqlglot", "fastavro", "IPython", "prompt_toolkit"}


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (["--version"], set()),
        (["tables"], set()),
        (["tables", "db", "--format", "json"], set()),
        (["describe", "db.events"], set()),
        (["snapshots", "db.events"], set()),
        (["schema", "db.events"], set()),
        (["files", "db.events"], {"pyarrow", "numpy", "pandas"}),
        (["plan", "SELECT * FROM db.events WHERE id > 1"], {"pyarrow", "numpy", "sqlglot"}),
        (["fmt", "-"], {"sqlglot"}),
    ],
)
def test_commands_import_only_what_they_need(table: Table, command: list[str], needed: set[str]) -> None:
    """They start at once: the modules in ``SLOW`` take a tenth of a second to a second each."""
    script = (
        "import sys\nfrom icesql.cli.main import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        f"print(*set({sorted(SLOW)!r}).intersection(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *command], env=os.environ, check=True, capture_output=True, text=True, input="")
    assert set(done.stderr.split()) <= needed


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="a folder in which nobody may write, root neither")
def test_a_folder_that_cannot_be_written_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/sys/kernel")
    done = icesql("tables")
    assert done.exit_code == 1
    assert done.stderr.startswith("icesql: Cannot open catalog database: its folder cannot be made: ")
    assert len(done.stderr.splitlines()) == 1
