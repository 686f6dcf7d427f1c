"""What a user gets wrong: every error says what, where, and what was probably meant; nothing is half run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from icesql.errors import CorruptMetadataError, IcesqlError, NotFoundError, SqlError
from icesql.session.script import ScriptError
from icesql.session.session import Session

pytestmark = pytest.mark.spark
SHELL = str(Path(sys.executable).with_name("icesql"))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad")


@pytest.fixture(scope="module")
def ice(spark: Any, warehouse: Path) -> Iterator[Session]:
    session = Session(spark, {"local": {"type": "hadoop", "warehouse": str(warehouse)}})
    session.sql("CREATE TABLE local.db.events (device_id bigint, event_time timestamp, name string)")
    session.sql("INSERT INTO local.db.events VALUES (1, timestamp'2020-01-01 00:00:00', 'a')")
    yield session


def state(ice: Session) -> tuple[str | None, list[Any]]:
    return ice.table("local.db.events").metadata_location, ice.sql("SELECT * FROM local.db.events").collect()


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("ALTER TABLE local.db.events\n  ADD PARTITION FIELD bucket(16, device_id) AZ shard", 2, 45),
        ("ALTER TABLE local.db.events CREATE BRANCH b RETAIN 5 SECONDS", 1, 54),
        ("CALL local.system.rewrite_manifests(table =>)", 1, 45),
        ("CREATE TABLE local.db.x (id int,)", 1, 33),
        ("ALTER TABLE local.db.events WRITE ORDERED BY\n\n)", 3, 1),
        ("INSERT INTO local.db.events VALUES (1,, 2)", 1, 39),
    ],
)
def test_syntax_errors_underline_the_place(ice: Session, text: str, line: int, column: int):
    before = state(ice)
    with pytest.raises(Exception) as caught:
        ice.sql(text)
    error = caught.value
    if isinstance(error, SqlError):
        assert (error.line, error.column) == (line, column)
        shown = str(error).splitlines()
        assert shown[-1].strip(" ") and set(shown[-1].strip()) == {"^"}
        assert shown[-2] == text.splitlines()[line - 1]
        assert shown[-1].index("^") == column - 1
    else:
        assert f"line {line}, pos {column - 1}" in str(error)
    assert state(ice) == before


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("SELECT * FROM local.db.event", "events"),
        ("INSERT INTO local.db.evnts SELECT 1", "events"),
        ("ALTER TABLE local.db.evens ADD COLUMN x int", "events"),
        ("ALTER TABLE local.db.events DROP COLUMN devise_id", "device_id"),
        ("ALTER TABLE local.db.events ADD PARTITION FIELD days(event_tme)", "event_time"),
        ("ALTER TABLE local.db.events WRITE ORDERED BY nam", "name"),
        ("ALTER TABLE local.db.events ADD PARTITION FIELD bukket(4, device_id)", "bucket"),
        ("CREATE TABLE local.db.other (ts timestamp) PARTITIONED BY (dayss(ts))", "days"),
        ("CREATE TABLE local.db.other (stamp timestamp) PARTITIONED BY (days(stmp))", "stamp"),
        ("CALL local.system.rewrite_manifest('db.events')", "rewrite_manifests"),
        ("CALL local.system.rewrite_manifests(tabel => 'db.events')", "table"),
        ("SELECT devce_id FROM local.db.events", "device_id"),
        ("DELETE FROM local.db.events WHERE devce_id = 1", "device_id"),
        ("UPDATE local.db.events SET nme = 'x'", "name"),
        ("USE local.ddb", "db"),
    ],
)
def test_unknown_names_suggest_the_nearest(ice: Session, text: str, near: str):
    before = state(ice)
    with pytest.raises(Exception) as caught:
        ice.sql(text).collect()
    said = str(getattr(caught.value, "_desc", None) or caught.value)
    assert near in said.replace(text, ""), said
    assert state(ice) == before


@pytest.mark.parametrize(
    "text",
    [
        "OPTIMIZE local.db.events",
        "VACUUM local.db.events RETAIN 0 HOURS",
        "RESTORE TABLE local.db.events TO VERSION AS OF 1",
        "ALTER TABLE local.db.events FROBNICATE",
        "ALTER TABLE local.db.events ADD COLUMN x int; DROP TABLE local.db.events",
        "DELETE FROM local.db.events WHERE device_id = 1 LIMIT 1",
        "nonsense about local.db.events",
    ],
)
def test_a_statement_nobody_knows_is_refused_whole(ice: Session, text: str):
    before = state(ice)
    with pytest.raises(Exception) as caught:
        ice.sql(text)
    assert isinstance(caught.value, IcesqlError) or "pyspark" in type(caught.value).__module__
    assert state(ice) == before


def test_a_script_stops_at_the_first_error_and_says_where(ice: Session):
    script = (
        "CREATE TABLE local.db.kept (id int);\nINSERT INTO local.db.kept VALUES (1);\n\n"
        "INSERT INTO local.db.nope VALUES (2);\nDROP TABLE local.db.kept;"
    )
    with pytest.raises(ScriptError, match="Statement 3 failed") as caught:
        ice.run_script(script)
    assert (caught.value.number, caught.value.line) == (3, 4)
    assert ice.sql("SELECT * FROM local.db.kept").count() == 1
    ice.sql("DROP TABLE local.db.kept")


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO local.db.events SELECT id, now(), raise_error('boom') FROM range(1000)",
        "INSERT OVERWRITE local.db.events SELECT id, now(), if(id > 990, raise_error('boom'), 'x') FROM range(1000)",
        "CREATE TABLE local.db.made AS SELECT if(id > 990, raise_error('boom'), 'x') AS v FROM range(1000)",
        "UPDATE local.db.events SET name = raise_error('boom')",
    ],
)
def test_a_failed_write_changes_nothing_and_leaves_no_files(ice: Session, warehouse: Path, text: str):
    before, files = state(ice), sorted(warehouse.rglob("*.parquet"))
    with pytest.raises(Exception, match="boom"):
        ice.sql(text)
    assert state(ice) == before
    assert sorted(warehouse.rglob("*.parquet")) == files
    assert not (warehouse / "db" / "made").exists()


@pytest.mark.parametrize("damage", ["missing", "cut", "not json", "empty"])
def test_damaged_metadata_names_its_file(ice: Session, warehouse: Path, damage: str):
    name = "broken_" + damage.replace(" ", "_")
    ice.sql(f"CREATE TABLE local.db.{name} (id int)")
    shutil.copytree(warehouse / "db" / name, warehouse / "db" / f"{name}_copy")  # a path that no cache knows
    ice.sql(f"DROP TABLE local.db.{name}")
    name += "_copy"
    file = next((warehouse / "db" / name / "metadata").glob("*.metadata.json"))
    text = file.read_text()
    if damage == "missing":
        file.unlink()
    else:
        file.write_text({"cut": text[: len(text) // 2], "not json": "hello", "empty": ""}[damage])
    is_none = damage in ("missing", "empty")  # an empty version is none: what a writer left that died where there are no hard links
    expected: tuple[type[Exception], ...] = (NotFoundError,) if is_none else (CorruptMetadataError,)
    with pytest.raises(expected) as caught:
        ice.sql(f"SELECT * FROM local.db.{name}").collect()
    assert is_none or file.name in str(caught.value)
    shutil.rmtree(warehouse / "db" / name)


def test_the_shell_exits_with_one_and_says_which_statement(tmp_path: Path):
    script = tmp_path / "script.sql"
    script.write_text("ALTER TABLE\n  nothing CREATE BRANCH b RETAIN 1 FORTNIGHTS;\n")
    found = subprocess.run(
        [SHELL, "-S", "-f", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert found.returncode == 1
    assert "Statement 1" in found.stderr and "line 2" in found.stderr
    assert "Traceback" not in found.stderr


def test_no_java_is_one_sentence(tmp_path: Path):
    bare = {key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "PATH")} | {
        "PATH": str(tmp_path),
        "ICESQL_JAVA": "system",
    }
    found = subprocess.run(
        [SHELL, "-e", "SELECT 1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=bare,
        timeout=120,
        check=False,
    )
    assert found.returncode == 1
    assert "Java" in found.stderr and "Traceback" not in found.stderr
    assert len(found.stderr.strip().splitlines()) == 1, json.dumps(found.stderr)
