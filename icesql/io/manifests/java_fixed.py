"""Manifests of Iceberg Java with ``fixed`` partition values: each is written with a length before it, though the Avro schema says fixed.

Such a file is recognised by trial: only one of the two readings ends its blocks with their last record.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from icesql.io.avro.container import AvroRecords
from icesql.io.avro.decode import DAMAGE
from icesql.io.avro.objects import record_decoder
from icesql.io.manifests.schemas import DATA_FILE_IDS, ENTRY_IDS


def with_readable_partitions(records: AvroRecords) -> AvroRecords:
    """The records of a manifest under the schema they were written with; as they are if neither reading fits."""
    if b'"fixed"' not in records.header.metadata["avro.schema"]:
        return records
    corrected = copy.deepcopy(records.header.schema)
    try:
        is_changed = _as_bytes(corrected)
    except (KeyError, TypeError, AttributeError, StopIteration, RecursionError):
        return records  # not a manifest: whoever decodes it says so
    if not is_changed or _fits(records):
        return records
    other = replace(records, header=replace(records.header, schema=corrected))
    return other if _fits(other) else records


def _as_bytes(schema: Any) -> bool:
    """Make ``bytes`` of every plain fixed type in the partition record, in place; true if there was one."""
    data_file = next(field for field in schema["fields"] if field["name"] == "data_file")["type"]
    partition = next(field for field in data_file["fields"] if field["name"] == "partition")["type"]
    is_changed = False
    for field in partition["fields"]:
        branches = field["type"] if isinstance(field["type"], list) else [field["type"]]
        kinds = ["bytes" if _is_plain_fixed(branch) else branch for branch in branches]
        if kinds != branches:
            field["type"], is_changed = (kinds if isinstance(field["type"], list) else kinds[0]), True
    return is_changed


def _is_plain_fixed(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "fixed" and "logicalType" not in schema


def _fits(records: AvroRecords) -> bool:
    try:
        decode = record_decoder(records.header.schema, {**ENTRY_IDS, **DATA_FILE_IDS})
        for count, start, end in records.blocks:
            position = start
            for _ in range(count):
                _, position = decode(records.buffer, position)
            if position != end:
                return False
    except (*DAMAGE, KeyError, TypeError, AttributeError, RecursionError):
        return False
    return True
