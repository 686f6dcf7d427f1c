"""Completion and multi-line entry, without a terminal and without Spark: the session is a light stand-in over a real catalog."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from icesql.catalog.base import Catalog
from icesql.cli.completion import StatementCompleter
from icesql.cli.prompt import is_complete, prompt_session
from icesql.session.light import connect_catalog
from icesql.session.state.names import Names
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType, StructType


class Catalogs(dict[str, Any]):
    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self)

    def find(self, name: str) -> Any:
        return self.get(name)


PLACE = StructType((NestedField(3, "lat", LongType()), NestedField(4, "lon", LongType())))
EVENTS = Schema((NestedField(1, "device_id", LongType()), NestedField(2, "place", PLACE), NestedField(5, "note", StringType())))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    catalog = connect_catalog("ice", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path))
    catalog.create_namespace(("db",))
    events = catalog.create_table(("db", "events"), EVENTS)
    catalog.create_table(("db", "devices"), Schema((NestedField(1, "owner", StringType()),)))
    events.append(pa.table({"device_id": [1], "place": [{"lat": 1, "lon": 2}], "note": ["x"]}))
    with events.manage_snapshots() as refs:
        refs.create_branch("audit")
        refs.create_tag("checked")
    return catalog


@pytest.fixture
def session(catalog: Catalog) -> Any:
    catalogs = Catalogs(ice=catalog)
    names = Names(catalogs)  # type: ignore[arg-type]
    names.enter("ice", ("db",))
    state = SimpleNamespace(names=names, catalogs=catalogs, transaction_in_progress=None)
    return SimpleNamespace(state=state, catalogs=catalogs.names)


@pytest.fixture
def completer(session: Any) -> StatementCompleter:
    return StatementCompleter(session, lambda: ["date_trunc", "size"], lambda: ["spark.sql.ansi.enabled", "spark.app.name"])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("SEL", "", ["SELECT"]),
        ("SELECT * FROM ev", "", ["events"]),
        ("SELECT * FROM ", "", ["devices", "events", "ice"]),
        ("SELECT * FROM ice.d", "", ["db"]),
        ("SELECT * FROM ice.db.ev", "", ["events"]),
        ("SELECT * FROM ice.db.events.snap", "", ["snapshots"]),
        ("SELECT * FROM events, dev", "", ["devices"]),
        ("WITH mine AS (SELECT 1) SELECT * FROM mi", "", ["mine"]),
        ("SELECT * FROM events WHERE dev", "", ["device_id", "devices"]),
        # columns before FROM is typed, behind the cursor, in functions, of the table that is written
        ("SELECT dev", " FROM events", ["device_id", "devices"]),
        ("SELECT sum(dev", ") FROM events", ["device_id", "devices"]),
        ("SELECT e.", " FROM events AS e", ["device_id", "note", "place"]),
        ("SELECT e.place.l", " FROM events e", ["lat", "lon"]),
        ("SELECT place.l", " FROM ice.db.events", ["lat", "lon"]),
        ("SELECT events.no", " FROM ice.db.events", ["note"]),
        ("SELECT ice.db.events.no", " FROM ice.db.events", ["note"]),
        ("INSERT INTO events (no", "", ["note", "NOT"]),
        ("UPDATE events SET not", "", ["note", "NOT"]),
        ("MERGE INTO events t USING devices s ON t.dev", "", ["device_id"]),
        ("SELECT 1; SELECT own", " FROM devices; SELECT 2", ["owner"]),
        ("SELECT operat", " FROM ice.db.events.snapshots", ["operation"]),
        ("SELECT date_t", "", ["date_trunc"]),
        ("SELECT * FROM nowhere.at.all", "", []),
        ("SELECT 'dev", "' FROM events", []),
        ("SELECT 1 -- dev", "", []),
        # versions
        ("SELECT * FROM events VERSION AS OF ", "", ["'audit'", "'checked'", "'main'", "<id>"]),
        ("SELECT * FROM ice.db.events FOR VERSION AS OF 'ch", "'", ["checked"]),
        # settings
        ("SET spark.sql.an", "", ["spark.sql.ansi.enabled"]),
        ("SET spark.sql.catalog.i", "", ["spark.sql.catalog.ice."]),
        ("RESET spark.app", "", ["spark.app.name"]),
        # procedures
        ("CALL ice.sys", "", ["system"]),
        ("CALL ice.system.rewrite_m", "", ["rewrite_manifests"]),
        ("CALL system.expire", "", ["expire_snapshots"]),
        ("CALL ice.system.expire_snapshots(retain_l", "", ["retain_last => "]),
        ("CALL ice.system.expire_snapshots(table => 'db.events', tab", "", []),
        ("CALL ice.system.expire_snapshots('db.ev", "", ["db.events"]),
        ("CALL ice.system.expire_snapshots(table => 'd", "')", ["db"]),
        ("CALL system.rewrite_data_files(table => 'db.events', strategy => '", "", ["binpack", "sort"]),
        ("CALL ice.system.set_current_snapshot(table => 'db.events', ref => 'au", "", ["audit"]),
        ("CALL ice.system.rollback_to_snapshot('db.events', ", "", ["<id>", "dry_run => ", "snapshot_id => ", "table => "]),
        ("CALL ice.system.nothing(x", "", []),
        # commands
        ("\\ti", "", ["\\timing"]),
        ("\\d ev", "", ["events"]),
        ("\\d ice.db.ev", "", ["events"]),
        ("help CALL expire", "", ["expire_snapshots"]),
        (".mode js", "", ["json"]),
    ],
)
def test_completion(completer: StatementCompleter, catalog: Catalog, before: str, after: str, expected: list[str]) -> None:
    snapshot_id = str(catalog.load_table("db.events").snapshots[0].snapshot_id)
    offered = [candidate.text for candidate in completer.candidates(before, after)]
    assert sorted(offered) == sorted(snapshot_id if text == "<id>" else text for text in expected)


def test_columns_come_before_keywords(completer: StatementCompleter) -> None:
    offered = [candidate.text for candidate in completer.candidates("SELECT ", " FROM events")]
    assert offered[:3] == ["device_id", "place", "note"]


def test_times_of_snapshots(completer: StatementCompleter, catalog: Catalog) -> None:
    (offered,) = completer.candidates("SELECT * FROM events TIMESTAMP AS OF '")
    committed = datetime.datetime.fromisoformat(offered.text).timestamp() * 1000
    assert round(committed) == catalog.load_table("db.events").snapshots[0].timestamp_ms


@given(st.text("SELECT (').,`\\;-/*\nfromeventsCALLa=>", max_size=30), st.text("SELECT (').,;events", max_size=10))
def test_no_text_makes_completion_fail(before: str, after: str) -> None:
    state = SimpleNamespace(names=Names(Catalogs()), catalogs=Catalogs(), transaction_in_progress=None)  # type: ignore[arg-type]
    nothing: Any = SimpleNamespace(state=state, catalogs=())
    StatementCompleter(nothing, list, list).candidates(before, after)


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("SELECT 1;", True), ("SELECT 1", False), ("SELECT ';", False), ("SELECT 1 -- ;", False), ("SELECT ';';", True),
        ("/* ; */", False), ("exit", True), ("", True), ("SELECT 1; -- done\n;", True),
    ],
)  # fmt: skip
def test_enter_runs_complete_statements_only(text: str, complete: bool) -> None:
    assert is_complete(text) is complete


def test_several_lines_and_history(session: Any) -> None:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        prompt = prompt_session(session, None)
        keys.send_text("SELECT *\rFROM db.events;\r")
        assert prompt.prompt() == "SELECT *\nFROM db.events;"
        keys.send_text("\x1b[A\r")  # up: the last entry again
        assert prompt.prompt() == "SELECT *\nFROM db.events;"
