"""View metadata. Spec: "Iceberg View Spec"."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from icesql.errors import CorruptMetadataError, NotFoundError, UnsupportedError, ValidationError
from icesql.spec.json.views import view_from_json, view_from_object, view_to_json, view_to_object
from icesql.spec.schema import Schema
from icesql.spec.types import DateType, IntegerType, NestedField
from icesql.spec.views import SqlRepresentation, ViewMetadata, ViewVersion, new_view, replace_version

SCHEMA = Schema((NestedField(1, "event_count", IntegerType(), False, "Count of events"), NestedField(2, "event_date", DateType())))
OTHER = Schema((NestedField(1, "event_count", IntegerType()),))
LOCATION = "s3://bucket/v/metadata/00000.gz.metadata.json"


def version(sql: str, *, at: int = 1573518431292, dialect: str = "spark") -> ViewVersion:
    return ViewVersion(
        version_id=1,
        timestamp_ms=at,
        schema_id=0,
        summary={"engine-name": "Spark", "engine-version": "3.3.2"},
        representations=(SqlRepresentation(sql=sql, dialect=dialect),),
        default_namespace=("default",),
        default_catalog="prod",
    )


def view(**properties: str) -> ViewMetadata:
    return new_view(
        view_uuid="fa6506c3-7681-40c8-86dc-e36561f83385",
        location="s3://bucket/warehouse/default.db/event_agg",
        schema=SCHEMA,
        version=version("SELECT COUNT(1), CAST(event_ts AS DATE) FROM events GROUP BY 2"),
        properties={"comment": "Daily event counts", **properties},
    )


EXAMPLE: dict[str, Any] = {  # the specification's first example
    "view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385",
    "format-version": 1,
    "location": "s3://bucket/warehouse/default.db/event_agg",
    "properties": {"comment": "Daily event counts"},
    "schemas": [
        {
            "type": "struct",
            "schema-id": 0,
            "fields": [
                {"id": 1, "name": "event_count", "required": False, "type": "int", "doc": "Count of events"},
                {"id": 2, "name": "event_date", "required": False, "type": "date"},
            ],
        }
    ],
    "current-version-id": 1,
    "versions": [
        {
            "version-id": 1,
            "timestamp-ms": 1573518431292,
            "schema-id": 0,
            "summary": {"engine-name": "Spark", "engine-version": "3.3.2"},
            "default-catalog": "prod",
            "default-namespace": ["default"],
            "representations": [
                {"type": "sql", "sql": "SELECT COUNT(1), CAST(event_ts AS DATE) FROM events GROUP BY 2", "dialect": "spark"}
            ],
        }
    ],
    "version-log": [{"timestamp-ms": 1573518431292, "version-id": 1}],
}


def test_the_specifications_example() -> None:
    assert view_to_object(view()) == EXAMPLE
    assert list(view_to_object(view())) == list(EXAMPLE)
    assert view_from_json(json.dumps(EXAMPLE).encode(), LOCATION) == view()
    assert view_from_json(view_to_json(view()), LOCATION) == view()


def test_replacing_adds_a_version_and_a_schema() -> None:
    replaced = replace_version(view(), version("SELECT 1", at=2_000_000_000_000), OTHER)
    assert replaced.current_version_id == 2 and replaced.current_version.schema_id == 1
    assert [entry.version_id for entry in replaced.version_log] == [1, 2]
    assert replaced.schema.same_columns(OTHER) and replaced.version(1) == view().current_version
    assert view_from_json(view_to_json(replaced), LOCATION) == replaced


def test_equal_versions_and_schemas_are_used_again() -> None:
    first = view()
    second = replace_version(first, version("SELECT 1", at=2_000_000_000_000), SCHEMA)
    assert len(second.schemas) == 1
    back = replace_version(second, replace(first.current_version, timestamp_ms=3_000_000_000_000), SCHEMA)
    assert (back.current_version_id, len(back.versions)) == (1, 2)
    assert [entry.version_id for entry in back.version_log] == [1, 2, 1]


def test_history_is_bounded_and_never_loses_the_current_version() -> None:
    current = view(**{"version.history.num-entries": "2"})
    for number in range(5):
        current = replace_version(current, version(f"SELECT {number}"), SCHEMA)
    assert [v.version_id for v in current.versions] == [5, 6]
    assert [entry.version_id for entry in current.version_log] == [5, 6]
    with pytest.raises(ValidationError, match=r"version.history.num-entries must be positive but was 0"):
        replace_version(replace(current, properties={"version.history.num-entries": "0"}), version("SELECT 9"), SCHEMA)


def test_dialects_are_not_lost_in_silence() -> None:
    with pytest.raises(ValidationError, match="Cannot replace view due to loss of view dialects"):
        replace_version(view(), version("SELECT 1", dialect="trino"), SCHEMA)
    allowed = view(**{"replace.drop-dialect.allowed": "true"})
    replaced = replace_version(allowed, version("SELECT 1", dialect="trino"), SCHEMA)
    assert replaced.current_version.sql_for("TRINO") is not None and replaced.current_version.sql_for("spark") is None
    twice = replace(version("SELECT 1"), representations=version("a").representations + version("b", dialect="SPARK").representations)
    with pytest.raises(ValidationError, match="Cannot add multiple queries for dialect spark"):
        replace_version(view(), twice, SCHEMA)


def test_unknown_versions() -> None:
    with pytest.raises(NotFoundError, match="Cannot find view version with ID 9"):
        view().version(9)


def edited(*path: Any, to: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(EXAMPLE))
    node: Any = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = to
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (edited("view-uuid", to=None), "missing required field: view-uuid"),
        (edited("current-version-id", to=7), "at current-version-id: unknown version id: 7"),
        (edited("versions", 0, "schema-id", to=7), r"at versions\[0\].schema-id: unknown schema id: 7"),
        (edited("versions", to=EXAMPLE["versions"] * 2), r"at versions\[1\]: version id used twice: 1"),
        (edited("schemas", to=EXAMPLE["schemas"] * 2), r"at schemas\[1\]: schema id used twice: 0"),
        (edited("versions", 0, "default-namespace", to="default"), r"at versions\[0\].default-namespace: expected an array"),
        (edited("versions", 0, "default-namespace", to=[1]), r"default-namespace\[0\]: expected a string"),
        (edited("versions", 0, "representations", 0, "sql", to=5), r"at versions\[0\].representations\[0\].sql: expected a string"),
        (edited("versions", 0, "timestamp-ms", to="x"), "timestamp-ms: expected a long"),
        (edited("properties", to={"a": 1}), "at properties.a: expected a string"),
        (edited("format-version", to=0), "invalid format version: 0"),
        ([], "expected an object"),
    ],
)
def test_faults_name_location_and_place(document: Any, message: str) -> None:
    with pytest.raises(CorruptMetadataError, match=message) as caught:
        view_from_object(document, LOCATION)
    assert LOCATION in str(caught.value)


def test_later_versions_and_foreign_bytes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="unsupported format version: 2"):
        view_from_object(edited("format-version", to=2), LOCATION)
    for data in (b"", b"<html>", b"\xff", b"[" * 100_000):
        with pytest.raises(CorruptMetadataError, match="Cannot read view metadata"):
            view_from_json(data, LOCATION)


def test_representations_of_other_types_are_left_out() -> None:
    document = edited("versions", 0, "representations", to=[{"type": "substrait", "plan": "x"}, *EXAMPLE["versions"][0]["representations"]])
    assert view_from_object(document, LOCATION) == view()
