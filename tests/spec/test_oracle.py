"""Our codecs and transforms beside those of Iceberg's own runtime."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from icesql.spec.avro_schema import struct_to_avro
from icesql.spec.json.metadata import metadata_from_json, metadata_to_object
from icesql.spec.json.types import primitive_from_text, schema_to_json
from icesql.spec.name_mapping import mapping_for, name_mapping_to_json
from icesql.spec.transforms import can_transform, human_string, parse_transform, transform_function

DOCUMENTS = Path(__file__).parent / "documents"
CALLS = "tests.spec.oracle_calls"
pytestmark = [pytest.mark.interop, pytest.mark.spark]

STRICTER_THAN_ICEBERG = {
    "v2_default_sort_order_id_unknown_sort_order_id_7",
    "v2_default_spec_id_unknown_partition_spec_id_7",
    "v2_last_column_id_3_is_below_field_id_10",
    "v2_last_sequence_number_is_negative",
    "v2_main_is_not_a_branch",
    "v2_partition_field_id_used_twice_1000",
    "v2_sequence_number_1_goes_back",
    "v2_sequence_number_5_is_negative",
    "v3_next_row_id_is_negative",
    "v3_rows_10_to_20_are_beyond_next_row_id_15",
    "v3_source_ids_expected_at_least_one_id",
}


def test_documents_are_read_and_written_as_iceberg_does(oracle: Any) -> None:
    paths = [path for path in sorted((DOCUMENTS / "valid").glob("*.json")) if path.stem != "v3_multi_argument_transform"]  # not in 1.12
    documents = [path.read_text(encoding="utf-8") for path in paths]
    for path, document, theirs in zip(paths, documents, oracle.call(f"{CALLS}:rewritten_metadata", documents), strict=True):
        ours = metadata_to_object(metadata_from_json(document.encode(), str(path)))
        peer = json.loads(theirs)
        if path.stem == "v1_oldest":
            del ours["table-uuid"]  # given by us where an old writer gave none
            peer.pop("table-uuid", None)
        assert ours == peer, path.stem
        assert list(ours) == list(peer), path.stem


def test_documents_iceberg_refuses_are_refused_here(oracle: Any) -> None:
    paths = sorted((DOCUMENTS / "invalid").glob("*.json"))
    messages = oracle.call(f"{CALLS}:refusals", [path.read_text(encoding="utf-8") for path in paths])
    assert {path.stem for path, message in zip(paths, messages, strict=True) if message is None} == STRICTER_THAN_ICEBERG


def values(type_name: str, random_: random.Random) -> list[Any]:
    """Longs are beyond 32 bits: Py4J hands smaller ones over as Integer, which Iceberg does not take for a long."""
    if type_name in ("int", "date"):
        bits = 31 if type_name == "int" else 22
        return [0, 1, -1, 2**bits - 1, -(2**bits), *(random_.randrange(-(2**bits), 2**bits) for _ in range(20))]
    if type_name.startswith("decimal"):
        return ["0.00", "14.20", "-0.01", "-12.34", *(f"{random_.randrange(-(10**9), 10**9) / 100:.2f}" for _ in range(20))]
    if type_name == "string":
        return ["", "iceberg", "a\U0001f600b", "é/ =%", *("".join(map(chr, random_.choices(range(32, 1000), k=5))) for _ in range(20))]
    if type_name == "boolean":
        return [True, False]
    if type_name == "time":
        return [3_600_000_000, 81_060_000_000, 81_068_123_000, *(random_.randrange(2**31, 86_400_000_000) for _ in range(20))]
    bits = {"long": 63, "timestamp_ns": 62, "timestamptz_ns": 62}.get(type_name, 57)
    return [2**bits - 1, -(2**bits), 2**31, -(2**31) - 1, *(random_.randrange(-(2**bits), 2**bits) for _ in range(40))]


def test_transforms_and_paths_equal_iceberg_for_every_type(oracle: Any) -> None:
    random_ = random.Random(4)
    cases: list[tuple[str, str, Any]] = []
    for type_name in (
        "boolean", "int", "long", "decimal(12, 2)", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "string",
    ):  # fmt: skip
        for text in ("identity", "bucket[16]", "truncate[10]", "year", "month", "day", "hour"):
            if can_transform(parse_transform(text), primitive_from_text(type_name)):
                cases += [(type_name, text, value) for value in values(type_name, random_)]
    for (type_name, text, value), (result, shown) in zip(cases, oracle.call(f"{CALLS}:transformed", cases), strict=True):
        type_, transform = primitive_from_text(type_name), parse_transform(text)
        ours = transform_function(transform, type_)(Decimal(value) if type_name.startswith("decimal") else value)
        if isinstance(result, int):
            assert ours == result, (type_name, text, value)
        else:
            assert str(ours) == result, (type_name, text, value)
        assert human_string(transform, type_, ours) == shown, (type_name, text, value)


def test_name_mapping_and_avro_schema_equal_icebergs(oracle: Any) -> None:
    schema = metadata_from_json((DOCUMENTS / "valid" / "v2_full.json").read_bytes(), "").schema
    text = json.dumps(schema_to_json(schema))
    assert name_mapping_to_json(mapping_for(schema)) == oracle.call(f"{CALLS}:name_mapping", text)
    assert struct_to_avro(schema.as_struct(), "table") == json.loads(oracle.call(f"{CALLS}:avro_schema", text))
