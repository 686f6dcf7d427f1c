"""Our client on our own server, which plans scans: in parts, at once or while the client waits, the files are those planned here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from icesql.expr.tree import And, Op, Predicate, Reference
from tests.catalog.tables import BY_ID, SCHEMA, rows
from tests.rest.conftest import open_catalog
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow
SERVER = {"scan-planning-mode": "server", "rest-metrics-reporting-enabled": "false"}


@pytest.fixture(
    scope="module", params=["files-per-answer = 5000", "files-per-answer = 3", "files-per-answer = 2\nsubmit-above-manifests = 1"]
)
def process(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("plans")
    (folder / "settings.toml").write_text(f"[planning]\n{request.param}\n")
    with ServerProcess(folder, ["--config", str(folder / "settings.toml")]) as running:
        yield running


def filled(uri: str, name: str, version: int) -> Any:
    catalog = open_catalog(uri)
    if not catalog.namespace_exists("db"):
        catalog.create_namespace("db")
    properties = {"format-version": str(version), "write.delete.mode": "merge-on-read", "commit.manifest-merge.enabled": "false"}
    table = catalog.create_table(f"db.{name}", SCHEMA, spec=BY_ID, properties=properties)
    for number in range(4):
        table.append(rows(*range(5 * number, 5 * number + 5)))
    table.delete(Predicate(Op.EQ, Reference("id"), (3,)))
    return table


AN_A1 = Predicate(Op.LIKE, Reference("data"), ("a1%",))
FILTERS = (
    None, Predicate(Op.EQ, Reference("id"), (7,)), And(Predicate(Op.GT, Reference("id"), (4,)), AN_A1),
    Predicate(Op.IN, Reference("id"), (3, 99)), Predicate(Op.EQ, Reference("id"), (1_000,)),
)  # fmt: skip


@pytest.mark.parametrize("version", [2, 3])
def test_plans_of_the_server_are_those_made_here(process: ServerProcess, version: int) -> None:
    here = filled(process.uri, f"t{version}", version)
    there = open_catalog(process.uri, **SERVER).load_table(f"db.t{version}")
    for where in FILTERS:
        ours = (here.scan() if where is None else here.scan(where)).plan_files()
        theirs = (there.scan() if where is None else there.scan(where)).plan_files()
        assert theirs.report.planner == "the server of catalog test" and ours.report.planner == ""
        facts = [
            {t.file_path: (t.partition, t.data_sequence_number, t.residual, {d.key for d in t.delete_files}) for t in plan.tasks}
            for plan in (ours, theirs)
        ]
        assert facts[0] == facts[1]
    assert sorted(there.scan().to_arrow()["id"].to_pylist()) == [i for i in range(20) if i != 3]
    there.delete(Predicate(Op.EQ, Reference("id"), (4,)))
    assert sorted(here.refresh().to_arrow()["id"].to_pylist()) == [i for i in range(20) if i not in (3, 4)]
