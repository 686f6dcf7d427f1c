"""Metadata documents: golden ones, valid and invalid, round trips, mutated bytes, and PyIceberg on the other side."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError, UnsupportedError
from icesql.spec.json.metadata import metadata_from_json, metadata_from_object, metadata_to_json, metadata_to_object
from icesql.spec.json.snapshots import (
    encrypted_key_from_json,
    encrypted_key_to_json,
    partition_statistics_from_json,
    partition_statistics_to_json,
    ref_from_json,
    ref_to_json,
    snapshot_from_json,
    snapshot_to_json,
    statistics_from_json,
    statistics_to_json,
)
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Snapshot, SnapshotRef
from icesql.spec.transforms import bucket
from tests.effort import examples
from tests.spec.strategies import schemas

DOCUMENTS = Path(__file__).parent / "documents"
VALID = sorted((DOCUMENTS / "valid").glob("*.json"), key=lambda path: path.name)
INVALID = sorted((DOCUMENTS / "invalid").glob("*.json"), key=lambda path: path.name)
CURRENT_FORM = [path for path in VALID if path.stem not in ("v1_oldest", "v1_manifests_in_the_snapshot", "v2_without_refs")]
LOCATION = "s3://bucket/t/metadata/00001.metadata.json"


def name(path: Path) -> str:
    return path.stem


def words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower()))


def load(stem: str) -> TableMetadata:
    return metadata_from_json((DOCUMENTS / "valid" / f"{stem}.json").read_bytes(), LOCATION)


@pytest.mark.parametrize("path", INVALID, ids=name)
def test_an_invalid_document_is_refused_for_the_fault_it_is_named_after(path: Path) -> None:
    with pytest.raises((CorruptMetadataError, UnsupportedError)) as caught:
        metadata_from_json(path.read_bytes(), LOCATION)
    fault = words(re.sub(r"^v\d+_", "", path.stem))
    assert fault in words(str(caught.value))
    assert LOCATION in str(caught.value)
    assert caught.value.context["location"] == LOCATION


def test_only_a_later_version_is_unsupported() -> None:
    with pytest.raises(UnsupportedError):
        metadata_from_json(b'{"format-version": 4, "location": {"of": "another shape"}}', LOCATION)
    with pytest.raises(CorruptMetadataError):
        metadata_from_json(b'{"format-version": 2, "location": {"of": "another shape"}}', LOCATION)


@pytest.mark.parametrize("path", VALID, ids=name)
def test_what_is_written_is_read_back_equal(path: Path) -> None:
    metadata = metadata_from_json(path.read_bytes(), LOCATION)
    assert metadata_from_json(metadata_to_json(metadata), LOCATION) == metadata
    assert metadata_from_object(metadata_to_object(metadata), LOCATION) == metadata


@pytest.mark.parametrize("path", CURRENT_FORM, ids=name)
def test_documents_in_current_form_are_written_as_they_were_read(path: Path) -> None:
    document = json.loads(path.read_bytes())
    written = json.loads(metadata_to_json(metadata_from_json(path.read_bytes(), LOCATION)))
    assert written == document
    assert list(written) == list(document)


def test_parts_of_a_v3_document() -> None:
    metadata = load("v3_full")
    assert metadata.format_version == 3 and metadata.next_row_id == 20
    assert metadata.current_snapshot == metadata.snapshots[1]
    assert metadata.snapshots[1].operation == "append"
    assert (metadata.snapshots[1].first_row_id, metadata.snapshots[1].added_rows, metadata.snapshots[1].key_id) == (10, 10, "k1")
    assert metadata.schema.field("status").initial_default == "new"
    assert metadata.schema.field("due").write_default == -1
    assert metadata.encryption_keys[0].encrypted_by_id == "kek"
    assert metadata.statistics[0].blob_metadata[0].properties == {"ndv": "10"}
    assert load("v3_multi_argument_transform").partition_specs[2].fields[0].source_ids == (1, 2)


def test_the_oldest_documents_get_what_later_versions_added() -> None:
    metadata = load("v1_oldest")
    assert [(field.field_id, str(field.transform)) for field in metadata.spec.fields] == [(1000, "identity"), (1001, "bucket[2]")]
    assert metadata.last_partition_id == 1001
    assert metadata.table_uuid == load("v1_oldest").table_uuid
    assert metadata.sort_order.is_unsorted and metadata.current_snapshot_id is None and metadata.refs == {}
    older = load("v1_manifests_in_the_snapshot")
    assert older.snapshots[0].manifests == ("s3://bucket/t/m1.avro", "s3://bucket/t/m2.avro")
    assert older.refs == {MAIN: SnapshotRef(snapshot_id=1)}


def test_only_v1_documents_repeat_the_current_schema_and_spec() -> None:
    v1, v2 = metadata_to_object(load("v1_full")), metadata_to_object(load("v2_full"))
    assert v1["schema"] == v1["schemas"][1] and v1["partition-spec"] == v1["partition-specs"][1]["fields"]
    assert "last-sequence-number" not in v1 and {"schema", "partition-spec"}.isdisjoint(v2)


@pytest.mark.parametrize(("version", "absent"), [(1, -1), (2, -1), (3, None)])
def test_no_current_snapshot_is_written_as_each_version_has_it(version: int, absent: int | None) -> None:
    metadata = replace(load("v2_minimal"), format_version=version, next_row_id=0 if version == 3 else None)
    document = metadata_to_object(metadata)
    assert document["current-snapshot-id"] == absent
    for accepted in (-1, None):
        assert metadata_from_object(document | {"current-snapshot-id": accepted}, LOCATION) == metadata
    del document["current-snapshot-id"]
    assert metadata_from_object(document, LOCATION) == metadata


def test_upgraded_documents_read_back() -> None:
    v1 = load("v1_full")
    for version in (2, 3):
        upgraded = replace(v1, format_version=version, next_row_id=0 if version == 3 else None)
        assert metadata_from_json(metadata_to_json(upgraded), LOCATION) == upgraded


def test_a_summary_without_operation_is_an_overwrite() -> None:
    document = metadata_to_object(load("v2_full"))
    document["snapshots"][1]["summary"] = {"a": "b"}
    assert metadata_from_object(document, LOCATION).snapshots[1].summary == {"operation": "overwrite", "a": "b"}


def test_large_documents_parse_summaries_late_and_name_their_faults() -> None:
    metadata = load("v2_full")
    many = tuple(
        Snapshot(snapshot_id=i, sequence_number=i, timestamp_ms=i, manifest_list=f"m{i}", summary={"operation": "append", "n": str(i)})
        for i in range(1, 2001)
    )
    large = replace(metadata, snapshots=many, last_sequence_number=2000, statistics=(), partition_statistics=())
    data = metadata_to_json(large)
    assert metadata_from_json(data, LOCATION) == large
    assert metadata_to_json(metadata_from_json(data, LOCATION)) == data
    broken = metadata_from_json(data.replace(b'"n":"1999"', b'"n":1999'), LOCATION)
    assert broken.snapshots[0].summary["n"] == "1"
    with pytest.raises(CorruptMetadataError, match="expected str, got int"):
        dict(broken.snapshots[1998].summary)


@examples(50)
@given(schemas, st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_any_schema_and_properties_round_trip(schema: Schema, properties: dict[str, str]) -> None:
    metadata = replace(
        load("v2_minimal"),
        schemas=(schema,),
        last_column_id=schema.highest_field_id,
        properties=properties,
    )
    assert metadata_from_json(metadata_to_json(metadata), LOCATION) == metadata


def test_parts_round_trip_as_rest_has_them() -> None:
    metadata = load("v3_full")
    for snapshot in metadata.snapshots:
        assert snapshot_from_json(snapshot_to_json(snapshot)) == snapshot
    for ref in metadata.refs.values():
        assert ref_from_json(ref_to_json(ref)) == ref
    assert statistics_from_json(statistics_to_json(metadata.statistics[0])) == metadata.statistics[0]
    part = metadata.partition_statistics[0]
    assert partition_statistics_from_json(partition_statistics_to_json(part)) == part
    assert encrypted_key_from_json(encrypted_key_to_json(metadata.encryption_keys[0])) == metadata.encryption_keys[0]
    for parse in (snapshot_from_json, ref_from_json, statistics_from_json, partition_statistics_from_json, encrypted_key_from_json):
        with pytest.raises(CorruptMetadataError):
            parse({"snapshot-id": "one"})


# -- any bytes


SEEDS = [path.read_bytes() for path in VALID]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def read_or_refuse(data: bytes) -> None:
    try:
        metadata = metadata_from_json(data, LOCATION)
    except (CorruptMetadataError, UnsupportedError) as error:
        assert LOCATION in str(error)
    else:
        assert metadata_from_json(metadata_to_json(metadata), LOCATION) == metadata


@examples(150)
@given(st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=3)), min_size=1, max_size=4))
def test_mutated_bytes_are_read_or_refused(seed: bytes, cuts: list[tuple[int, bytes]]) -> None:
    data = bytearray(seed)
    for at, patch in cuts:
        at %= len(data) + 1
        data[at : at + max(1, len(patch))] = patch
    read_or_refuse(bytes(data))


def paths(node: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [here, *(path for key, child in items for path in paths(child, (*here, key)))]


@examples(200)
@given(st.data(), st.sampled_from(SEEDS), json_values)
def test_any_value_in_any_place_is_read_or_refused(data: st.DataObject, seed: bytes, value: Any) -> None:
    document = json.loads(seed)
    *parents, last = data.draw(st.sampled_from(paths(document)[1:]))
    node = document
    for key in parents:
        node = node[key]
    node[last] = value
    read_or_refuse(json.dumps(document).encode())


@pytest.mark.parametrize("data", [b"", b"\x00", b"\xff\xfe", b"null", b"1e999", b'{"a":"\xff"}', b"[" * 100_000, b'{"schemas":' * 5000])
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(CorruptMetadataError, match="Cannot read table metadata"):
        metadata_from_json(data, LOCATION)


def test_deeply_nested_types_are_refused() -> None:
    document = metadata_to_object(load("v2_minimal"))
    type_: Any = "long"
    for depth in range(400):
        type_ = {"type": "list", "element-id": depth + 10, "element": type_, "element-required": False}
    document["schemas"][0]["fields"][0]["type"] = type_
    with pytest.raises(CorruptMetadataError, match="nested more than 100 deep"):
        metadata_from_object(document, LOCATION)


# -- PyIceberg


NOT_IN_PYICEBERG = {
    "v1_manifests_in_the_snapshot": "it demands a manifest list",
    "v2_unknown_transform": "it writes `unknown` for a transform it does not know",
    "v3_multi_argument_transform": "it demands one source id",
}


@pytest.mark.interop
@pytest.mark.parametrize("path", [path for path in VALID if path.stem not in NOT_IN_PYICEBERG], ids=name)
def test_pyiceberg_reads_what_we_write_and_we_read_what_it_writes(path: Path) -> None:
    from pyiceberg.table.metadata import TableMetadataUtil

    document = re.sub(rb'"(geometry|geography)\(.*?\)"', rb'"\1"', path.read_bytes())  # it reads these without parameters only
    document = document.replace(b'"variant"', b'"unknown"')  # a type it does not have
    ours = metadata_from_json(document, LOCATION)
    theirs = TableMetadataUtil.parse_raw(metadata_to_json(ours).decode())
    assert str(theirs.table_uuid) == ours.table_uuid
    assert [snapshot.snapshot_id for snapshot in theirs.snapshots] == [snapshot.snapshot_id for snapshot in ours.snapshots]
    if ours.format_version == 3:  # it does not write these yet
        return
    again = metadata_from_json(theirs.model_dump_json().encode(), LOCATION)
    assert again == replace(ours, refs=again.refs, metadata_log=again.metadata_log)
    assert {n: r.snapshot_id for n, r in again.refs.items()} == {n: r.snapshot_id for n, r in ours.refs.items()}


def test_changed_documents_stay_consistent() -> None:
    metadata = load("v2_full")
    spec = replace(metadata.spec, fields=(replace(metadata.spec.fields[1], transform=bucket(32)),))
    changed = replace(metadata, partition_specs=(metadata.partition_specs[0], spec))
    assert metadata_from_json(metadata_to_json(changed), LOCATION).spec == spec
