"""The document that describes produce-snapshot is one, and the server does what it says. Every commit of the other tests is held against it
as well (``tests/server/client.py``)."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from icesql.server.http.app import ROUTES
from icesql.table.snapshot.produce_json import produce_to_json
from tests.server.client import Server, data_file, error
from tests.server.openapi import document, problems


def test_its_schemas_are_schemas() -> None:
    for name, schema in document()["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        problems(name, {})  # every reference leads somewhere


def test_its_paths_are_served() -> None:
    served = {(route.method.lower(), route.path) for route in ROUTES}
    assert {(method, path) for path, methods in document()["paths"].items() for method in methods} <= served


def example(name: str, location: str) -> Any:
    """A value with every property that the document gives an update."""
    delete = data_file(location) | {"content": "position-deletes", "referenced-data-file": f"{location}/data/x.parquet"}
    return {
        "action": "produce-snapshot",
        "operation": "overwrite",
        "branch": "main",
        "stage-only": False,
        "add-data-files": [data_file(location)],
        "add-delete-files": [delete],
        "remove-data-files": [data_file(location)],
        "remove-delete-files": [delete],
        "delete-row-filter": {"type": "eq", "term": "id", "value": 1},
        "drop-partitions": [],
        "added-files-match-filter": True,
        "case-sensitive": True,
        "merge-manifests": False,
        "fail-missing-deletes": False,
        "fail-any-delete": False,
        "summary": {"job": "1"},
        "commit-validations": [
            {"type": "not-allowed-added-data-files", "filter": False, "partitions": []},
            {"type": "not-allowed-added-delete-files", "filter": False, "and-deleted-data-files": True},
            {"type": "required-data-files", "file-paths": [], "allowed-remove-operations": ["DELETE", "rewrite"]},
            {"type": "required-delete-files", "file-paths": []},
            {"type": "not-allowed-new-deletes-for-data-files", "file-paths": [], "ignore-equality-deletes": True},
            {"type": "not-allowed-known-data-files", "file-paths": ["/none"]},
        ],
    }


def test_all_its_parts_are_taken(server: Server, table: Any) -> None:
    update = example("ProduceSnapshotUpdate", table["metadata"]["location"])
    described = set(document()["components"]["schemas"]["ProduceSnapshotUpdate"]["properties"])
    assert described - set(update) == {"base-snapshot-id", "data-sequence-number"}
    assert {one["type"] for one in update["commit-validations"]} == set(
        document()["components"]["schemas"]["CommitValidation"]["discriminator"]["mapping"]
    )
    assert not problems("ProduceSnapshotUpdate", update)
    answer = server.commit([update])
    assert answer.status_code == 200, answer.text


def test_it_describes_what_icesql_itself_sends(server: Server, table: Any) -> None:
    """The value of every write, as JSON, but for the name of its intent."""
    served = server.service.catalogs["lake"]
    version = served.table(("db", "t"))
    from icesql.spec.files import DataFile

    file = DataFile(file_path=f"{version.metadata.location}/data/x.parquet", file_format="parquet", record_count=1, file_size_in_bytes=1)
    builder = served.catalog.load_table("db.t").new_overwrite().add_file(file)
    node = produce_to_json(builder.change(), version.metadata)
    assert not problems("ProduceSnapshotUpdate", {**node, "action": "produce-snapshot", "operation": node["action"]})


@pytest.mark.parametrize(
    "wrong",
    [
        {"operation": "dance"},
        {"commit-validations": [{"type": "trust-me"}]},
        {"stage-only": "no"},
        {"summary": {"a": 1}},
        {"add-data-files": [{}]},
        {"branch": 1},
    ],
    ids=str,
)
def test_both_refuse_what_is_wrong(server: Server, table: Any, wrong: dict[str, Any]) -> None:
    update = {"action": "produce-snapshot", "operation": "append", **wrong}
    assert problems("ProduceSnapshotUpdate", update)
    assert error(server.commit([update]))[0] == 400
