"""Completion and multi-line entry, without a terminal and without Spark: the session is a light stand-in over a real catalog."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from icesql.cli.prompt import NameCompleter, is_complete, prompt_session
from icesql.session.light import connect_catalog
from icesql.session.state.names import Names
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField


class Catalogs(dict[str, Any]):
    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self)

    def find(self, name: str) -> Any:
        return self.get(name)


@pytest.fixture
def session(tmp_path: Path) -> Any:
    catalog = connect_catalog("ice", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=str(tmp_path))
    catalog.create_namespace(("db",))
    catalog.create_table(("db", "events"), Schema((NestedField(1, "device_id", LongType()),)))
    catalogs = Catalogs(ice=catalog)
    names = Names(catalogs)  # type: ignore[arg-type]
    names.enter("ice", ("db",))
    state = SimpleNamespace(names=names, catalogs=catalogs, transaction_in_progress=None)
    return SimpleNamespace(state=state, catalogs=catalogs.names)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SEL", ["SELECT"]),
        ("SELECT * FROM ev", ["events"]),
        ("SELECT * FROM ice.d", ["db"]),
        ("SELECT * FROM ice.db.ev", ["events"]),
        ("SELECT * FROM ice.db.events.snap", ["snapshots"]),
        ("SELECT * FROM events WHERE dev", ["device_id"]),
        ("CALL ice.sys", ["system"]),
        ("CALL ice.system.rewrite_m", ["rewrite_manifests"]),
        ("CALL system.expire", ["expire_snapshots"]),
        ("CALL ice.system.expire_snapshots(retain_l", ["retain_last => "]),
        ("CALL ice.system.nothing(x", []),
        ("SELECT * FROM nowhere.at.all", []),
    ],
)
def test_completion(session: Any, text: str, expected: list[str]) -> None:
    word = text.replace("(", " ").split()[-1]
    assert NameCompleter(session).candidates(text, word) == expected


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
