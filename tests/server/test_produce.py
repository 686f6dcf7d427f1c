"""Snapshots that the server produces from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from icesql.server.http.app import application
from icesql.server.service import Service
from icesql.server.settings import Commits, Limits, Settings
from tests.server.client import BY_ID, SCHEMA, Server, data_file, error, written_file

EQUAL_5 = {"type": "eq", "term": "id", "value": 5}


def rows(server: Server, name: str = "db.t", **options: Any) -> list[int]:
    table = server.service.catalogs["lake"].catalog.load_table(name)
    return sorted(table.scan(**options).to_arrow().column("id").to_pylist())


def produced(answer: Any) -> int:
    assert answer.status_code == 200, answer.text
    (one,) = answer.json()["produced-snapshots"]
    return one["snapshot-id"]


def location_of(table: Any) -> str:
    return table["metadata"]["location"]


def test_files_become_rows(server: Server, table: Any) -> None:
    first = written_file(location_of(table), [1, 2, 3])
    answer = server.produce("append", add_data_files=[first], summary={"job": "7"})
    metadata = answer.json()["metadata"]
    snapshot = metadata["snapshots"][-1]
    assert produced(answer) == metadata["current-snapshot-id"] == snapshot["snapshot-id"]
    assert snapshot["summary"]["operation"] == "append" and snapshot["summary"]["job"] == "7"
    assert snapshot["summary"]["total-records"] == "3" and rows(server) == [1, 2, 3]


def test_both_spellings(server: Server, table: Any) -> None:
    """As first proposed, the action is the intent itself."""
    answer = server.commit([{"action": "append", "add-data-files": [written_file(location_of(table), [1])]}])
    assert produced(answer) and rows(server) == [1]


def test_the_answer_may_be_small(server: Server, table: Any) -> None:
    answer = server.produce("append", headers={"Prefer": "return=minimal"}, add_data_files=[data_file(location_of(table))])
    assert answer.headers["preference-applied"] == "return=minimal"
    assert set(answer.json()) == {"metadata-location", "produced-snapshots"}
    loaded = server.get("/v1/namespaces/db/tables/t", headers={"If-None-Match": answer.headers["etag"]})
    assert loaded.status_code == 304


def test_files_are_removed_and_replaced(server: Server, table: Any) -> None:
    location = location_of(table)
    files = [written_file(location, [number, number + 1]) for number in (1, 3, 5)]
    server.produce("append", add_data_files=files)
    assert produced(server.produce("delete", remove_data_files=[files[0]])) and rows(server) == [3, 4, 5, 6]
    merged = written_file(location, [3, 4, 5, 6])
    answer = server.produce("replace", add_data_files=[merged], remove_data_files=files[1:])
    assert answer.json()["metadata"]["snapshots"][-1]["summary"]["operation"] == "replace" and rows(server) == [3, 4, 5, 6]
    assert produced(server.produce("overwrite", add_data_files=[written_file(location, [9])], remove_data_files=[merged]))
    assert rows(server) == [9]
    more = written_file(location, [1, 2])
    larger = server.produce("replace", add_data_files=[more], remove_data_files=[])
    assert error(larger)[0] == 400  # a replacement has no more rows than it replaces


def test_a_row_filter_removes_whole_files(server: Server, table: Any) -> None:
    location = location_of(table)
    server.produce("append", add_data_files=[written_file(location, [1, 2]), written_file(location, [5, 5])])
    assert produced(server.produce("delete", delete_row_filter=EQUAL_5)) and rows(server) == [1, 2]
    newer_form = {"type": "eq", "left": {"type": "reference", "name": "id"}, "right": 1}
    status, kind, message = error(server.produce("delete", delete_row_filter=newer_form))
    assert (status, kind) == (400, "ValidationException") and "some, but not all, rows match" in message
    assert rows(server) == [1, 2]


def test_branches_and_staging(server: Server, table: Any) -> None:
    location = location_of(table)
    server.produce("append", add_data_files=[written_file(location, [1])])
    on_branch = produced(server.produce("append", add_data_files=[written_file(location, [2])], branch="dev"))
    staged = produced(server.produce("append", add_data_files=[written_file(location, [3])], stage_only=True))
    metadata = server.load()["metadata"]
    assert metadata["refs"]["dev"]["snapshot-id"] == on_branch and staged not in [ref["snapshot-id"] for ref in metadata["refs"].values()]
    assert staged in [one["snapshot-id"] for one in metadata["snapshots"]]
    assert rows(server) == [1] and rows(server, ref="dev") == [1, 2]


def test_deletes_by_position(server: Server, table: Any) -> None:
    import pyarrow.parquet as pq

    location = location_of(table)
    data = written_file(location, [1, 2, 3])
    server.produce("append", add_data_files=[data])
    path = Path(f"{location}/data/deletes.parquet")
    fields = [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
    pq.write_table(pa.table([[data["file-path"]], pa.array([1], pa.int64())], schema=pa.schema(fields)), path)
    delete = data_file(location) | {"content": "position-deletes", "file-path": str(path), "file-size-in-bytes": path.stat().st_size}
    required = {"type": "required-data-files", "file-paths": [data["file-path"]]}
    answer = server.produce("overwrite", add_delete_files=[delete], commit_validations=[required])
    assert produced(answer) and rows(server) == [1, 3]
    assert produced(server.produce("replace", remove_delete_files=[delete])) and rows(server) == [1, 2, 3]


# -- validations ---------------------------------------------------------------------------------------------------------
def validated(server: Server, base: int | None, *validations: Any, **parts: Any) -> Any:
    extra: dict[str, Any] = {} if base is None else {"base_snapshot_id": base}
    return server.produce("overwrite", commit_validations=list(validations), **extra, **parts)


def test_rows_that_came_meanwhile(server: Server, table: Any) -> None:
    location = location_of(table)
    base = produced(server.produce("append", add_data_files=[written_file(location, [1])]))
    server.produce("append", add_data_files=[written_file(location, [5])])
    new = written_file(location, [9])
    conflict = validated(server, base, {"type": "not-allowed-added-data-files", "filter": EQUAL_5}, add_data_files=[new])
    status, kind, message = error(conflict)
    assert (status, kind) == (400, "ValidationException") and message.startswith("Found conflicting files")
    elsewhere = {"type": "not-allowed-added-data-files", "filter": {**EQUAL_5, "value": 7}}
    assert produced(validated(server, base, elsewhere, add_data_files=[new])) and rows(server) == [1, 5, 9]


def test_partitions_that_were_written_meanwhile(server: Server) -> None:
    server.post("/v1/namespaces", {"namespace": ["db"]})
    made = server.post("/v1/namespaces/db/tables", {"name": "t", "schema": SCHEMA, "partition-spec": BY_ID}).json()
    location = location_of(made)
    base = produced(server.produce("append", add_data_files=[data_file(location, partition=[1])]))
    server.produce("append", add_data_files=[data_file(location, partition=[2])])

    def replace(value: int) -> Any:
        partitions = [{"spec-id": 0, "partition": [value]}]
        clause = {"type": "not-allowed-added-data-files", "partitions": partitions}
        return validated(server, base, clause, drop_partitions=partitions, add_data_files=[data_file(location, partition=[value])])

    assert error(replace(2))[:2] == (400, "ValidationException")
    assert produced(replace(1))


def test_files_that_are_gone(server: Server, table: Any) -> None:
    location = location_of(table)
    file = written_file(location, [1])
    base = produced(server.produce("append", add_data_files=[file]))
    server.produce("delete", remove_data_files=[file])
    clause = {"type": "required-data-files", "file-paths": [file["file-path"]]}
    assert error(validated(server, base, clause, add_data_files=[written_file(location, [2])]))[:2] == (400, "ValidationException")
    allowed = {**clause, "allowed-remove-operations": ["DELETE"]}
    assert produced(validated(server, base, allowed, add_data_files=[written_file(location, [2])]))
    missing = server.produce("delete", remove_data_files=[file], fail_missing_deletes=True)
    assert error(missing)[:2] == (400, "ValidationException")


def test_a_base_that_is_unknown(server: Server, table: Any) -> None:
    server.produce("append", add_data_files=[data_file(location_of(table))])
    answer = validated(server, 123, {"type": "not-allowed-added-data-files"}, add_data_files=[data_file(location_of(table))])
    status, kind, message = error(answer)
    assert (status, kind) == (400, "ValidationException") and "Cannot determine history" in message


def test_a_requirement_in_the_same_request(server: Server, table: Any) -> None:
    update = {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file(location_of(table))]}
    first = server.commit([update], [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}])
    assert first.status_code == 200
    again = server.commit([update], [{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None}])
    assert error(again)[:2] == (409, "CommitFailedException")


def test_schema_and_rows_in_one_commit(server: Server, table: Any) -> None:
    """The file's bounds are of a column that the same commit adds."""
    wider = {**SCHEMA, "fields": [*SCHEMA["fields"], {"id": 3, "name": "day", "required": False, "type": "date"}]}
    bounds = {"keys": [3], "values": ["2026-11-23"]}
    file = data_file(location_of(table)) | {"lower-bounds": bounds, "upper-bounds": bounds}
    answer = server.commit([
        {"action": "add-schema", "schema": wider},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "produce-snapshot", "operation": "append", "add-data-files": [file]},
        {"action": "set-properties", "updates": {"a": "1"}},
    ])  # fmt: skip
    assert produced(answer)
    metadata = server.load()["metadata"]
    assert metadata["snapshots"][-1]["schema-id"] == metadata["current-schema-id"] == 1 and metadata["properties"]["a"] == "1"


# -- payloads that are refused ---------------------------------------------------------------------------------------------
def wrong_files(location: str) -> dict[str, dict[str, Any]]:
    good = data_file(location, name="good")
    return {
        "spec": {**good, "spec-id": 7},
        "partition": {**good, "partition": [1]},
        "field id of a bound": {**good, "lower-bounds": {"keys": [99], "values": [1]}},
        "type of a bound": {**good, "lower-bounds": {"keys": [1], "values": ["x"]}},
        "keys without values": {**good, "value-counts": {"keys": [1, 2], "values": [1]}},
        "negative count": {**good, "record-count": -1},
        "count that is no number": {**good, "record-count": "1"},
        "format": {**good, "file-format": "csv"},
        "content": {**good, "content": "rows"},
        "missing path": {key: value for key, value in good.items() if key != "file-path"},
        "another folder": {**good, "file-path": "/elsewhere/x.parquet"},
        "sibling": {**good, "file-path": f"{location}2/x.parquet"},
        "climbing": {**good, "file-path": f"{location}/../u/x.parquet"},
        "encoded climbing": {**good, "file-path": f"{location}/%2e%2e/u/x.parquet"},
        "another scheme": {**good, "file-path": "http://169.254.169.254/latest"},
        "delete file": {**good, "content": "position-deletes"},
    }


@pytest.mark.parametrize("what", sorted(wrong_files("")))
def test_files_that_are_refused(server: Server, table: Any, what: str) -> None:
    answer = server.produce("append", add_data_files=[wrong_files(location_of(table))[what]])
    assert error(answer)[0] == 400, what
    assert server.load() == table


@pytest.mark.parametrize(
    "parts",
    [
        {"operation": "dance"},
        {"operation": None},
        {"summary": {"total-records": "7"}},
        {"summary": {"operation": "append"}},
        {"summary": {"a": 1}},
        {"commit-validations": [{"type": "trust-me"}]},
        {"commit-validations": [{"type": "required-data-files", "allowed-remove-operations": ["DANCE"]}]},
        {"delete-row-filter": {"type": "eq", "term": "none", "value": 1}},
        {"delete-row-filter": {"type": "resembles"}},
        {"branch": 5},
        {"add-data-files": {}},
        {"base-snapshot-id": "x"},
    ],
    ids=str,
)
def test_parts_that_are_refused(server: Server, table: Any, parts: dict[str, Any]) -> None:
    update = {"action": "produce-snapshot", "operation": "append", "add-data-files": [data_file(location_of(table))], **parts}
    assert error(server.commit([update]))[0] == 400
    assert server.load() == table


def test_a_file_twice(server: Server, table: Any) -> None:
    file = data_file(location_of(table))
    assert "added twice" in error(server.produce("append", add_data_files=[file, file]))[2]


def test_a_tag_is_no_branch(server: Server, table: Any) -> None:
    first = produced(server.produce("append", add_data_files=[data_file(location_of(table))]))
    server.commit([{"action": "set-snapshot-ref", "ref-name": "v1", "type": "tag", "snapshot-id": first}])
    assert error(server.produce("append", branch="v1", add_data_files=[data_file(location_of(table))]))[0] == 400


# -- settings ------------------------------------------------------------------------------------------------------------
def serve(settings: Settings, **sections: Any) -> Server:
    """A server with other settings; its table is ``db.t``."""
    service = Service.of(msgspec.structs.replace(settings, **sections), environ={})
    client = TestClient(application(service), raise_server_exceptions=False)
    client.__enter__()
    server = Server(client, service)
    server.post("/v1/namespaces", {"namespace": ["db"]})
    server.create_table("t")
    return server


def test_files_may_be_looked_for(settings: Settings) -> None:
    server = serve(settings, commits=Commits(check_files="exists"))
    location = location_of(server.load())
    file = written_file(location, [1])
    assert "does not exist" in error(server.produce("append", add_data_files=[data_file(location)]))[2]
    assert "bytes, not 5" in error(server.produce("append", add_data_files=[{**file, "file-size-in-bytes": 5}]))[2]
    assert produced(server.produce("append", add_data_files=[file]))
    server.client.__exit__()


def test_footers_may_be_read(settings: Settings) -> None:
    """What a footer says replaces what the client says of the columns: a wrong bound would hide rows."""
    server = serve(settings, commits=Commits(check_files="footer"))
    file = written_file(location_of(server.load()), [1, 2, 3])
    assert "3 rows, not 7" in error(server.produce("append", add_data_files=[{**file, "record-count": 7}]))[2]
    lie = {"keys": [1], "values": [100]}
    assert produced(server.produce("append", add_data_files=[{**file, "lower-bounds": lie, "upper-bounds": lie}]))
    assert rows(server) == [1, 2, 3]
    path = Path(file["file-path"])
    broken = {**file, "file-path": f"{path.parent}/broken.parquet", "file-size-in-bytes": 3}
    Path(broken["file-path"]).write_bytes(b"abc")
    assert error(server.produce("append", add_data_files=[broken]))[0] == 400
    server.client.__exit__()


def test_known_files_may_be_refused(settings: Settings) -> None:
    server = serve(settings, commits=Commits(refuse_known_files=True))
    file = data_file(location_of(server.load()))
    assert produced(server.produce("append", add_data_files=[file]))
    assert error(server.produce("append", add_data_files=[file]))[:2] == (400, "ValidationException")
    server.client.__exit__()


def test_the_number_of_files_is_limited(settings: Settings) -> None:
    server = serve(settings, limits=Limits(max_files=3))
    location = location_of(server.load())
    assert "more than 3" in error(server.produce("append", add_data_files=[data_file(location) for _ in range(4)]))[2]
    server.client.__exit__()
