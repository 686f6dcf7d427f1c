"""Updates and requirements as the REST protocol writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.errors import InvalidArgumentError, unknown_case
from icesql.spec.json.faults import (
    JsonFault,
    JsonObject,
    JsonValue,
    array_field,
    as_object,
    as_strings,
    int_array,
    int_field,
    long_array,
    long_field,
    required,
    string_field,
    within,
)
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
from icesql.spec.json.specs import sort_order_from_json, sort_order_to_json, spec_from_json, spec_to_json
from icesql.spec.json.types import schema_from_json, schema_to_json
from icesql.spec.schema import Schema
from icesql.table.metadata import requirements as r
from icesql.table.metadata import update_values as u

Node = JsonObject


def update_to_json(update: u.Update) -> Node:
    """An object with its ``action`` first."""
    action = _ACTIONS[type(update)]
    return {"action": action, **_update_fields(update)}


def _update_fields(update: u.Update) -> Node:
    match update:
        case u.AssignUuid(uuid=uuid):
            return {"uuid": uuid}
        case u.UpgradeFormatVersion(format_version=version):
            return {"format-version": version}
        case u.AddSchema(schema=schema):
            return {"schema": schema_to_json(schema), "last-column-id": schema.highest_field_id}
        case u.SetCurrentSchema(schema_id=schema_id):
            return {"schema-id": schema_id}
        case u.AddPartitionSpec(spec=spec):
            return {"spec": spec_to_json(spec)}
        case u.SetDefaultSpec(spec_id=spec_id):
            return {"spec-id": spec_id}
        case u.AddSortOrder(sort_order=order):
            return {"sort-order": sort_order_to_json(order)}
        case u.SetDefaultSortOrder(sort_order_id=order_id):
            return {"sort-order-id": order_id}
        case u.AddSnapshot(snapshot=snapshot):
            return {"snapshot": snapshot_to_json(snapshot)}
        case u.SetSnapshotRef(name=name, ref=ref):
            return {"ref-name": name, **ref_to_json(ref)}
        case u.RemoveSnapshots(snapshot_ids=ids):
            return {"snapshot-ids": list(ids)}
        case u.RemoveSnapshotRef(name=name):
            return {"ref-name": name}
        case u.SetLocation(location=location):
            return {"location": location}
        case u.SetProperties(updates=updates):
            return {"updates": dict(updates)}
        case u.RemoveProperties(removals=removals):
            return {"removals": list(removals)}
        case u.SetStatistics(statistics=file):
            return {"snapshot-id": file.snapshot_id, "statistics": statistics_to_json(file)}
        case u.RemoveStatistics(snapshot_id=snapshot_id) | u.RemovePartitionStatistics(snapshot_id=snapshot_id):
            return {"snapshot-id": snapshot_id}
        case u.SetPartitionStatistics(statistics=part_file):
            return {"partition-statistics": partition_statistics_to_json(part_file)}
        case u.RemovePartitionSpecs(spec_ids=ids):
            return {"spec-ids": list(ids)}
        case u.RemoveSchemas(schema_ids=ids):
            return {"schema-ids": list(ids)}
        case u.AddEncryptionKey(key=key):
            return {"encryption-key": encrypted_key_to_json(key)}
        case u.RemoveEncryptionKey(key_id=key_id):
            return {"key-id": key_id}
        case _:
            raise unknown_case(update)


_ACTIONS: dict[type[Any], str] = {
    u.AssignUuid: "assign-uuid",
    u.UpgradeFormatVersion: "upgrade-format-version",
    u.AddSchema: "add-schema",
    u.SetCurrentSchema: "set-current-schema",
    u.AddPartitionSpec: "add-spec",
    u.SetDefaultSpec: "set-default-spec",
    u.AddSortOrder: "add-sort-order",
    u.SetDefaultSortOrder: "set-default-sort-order",
    u.AddSnapshot: "add-snapshot",
    u.SetSnapshotRef: "set-snapshot-ref",
    u.RemoveSnapshots: "remove-snapshots",
    u.RemoveSnapshotRef: "remove-snapshot-ref",
    u.SetLocation: "set-location",
    u.SetProperties: "set-properties",
    u.RemoveProperties: "remove-properties",
    u.SetStatistics: "set-statistics",
    u.RemoveStatistics: "remove-statistics",
    u.SetPartitionStatistics: "set-partition-statistics",
    u.RemovePartitionStatistics: "remove-partition-statistics",
    u.RemovePartitionSpecs: "remove-partition-specs",
    u.RemoveSchemas: "remove-schemas",
    u.AddEncryptionKey: "add-encryption-key",
    u.RemoveEncryptionKey: "remove-encryption-key",
}


def update_from_json(node: JsonValue) -> u.Update:
    """Raises InvalidArgumentError for an unknown action, CorruptMetadataError that names the path of a damaged field."""
    fields = as_object(node)
    action = string_field(fields, "action")
    reader = _READERS.get(action)
    if reader is None:
        raise InvalidArgumentError(f"Cannot convert metadata update action to json: {action}", action=action)
    with within(action):
        return reader(fields)


def _schema(node: Node) -> Schema:
    with within("schema"):
        return schema_from_json(as_object(required(node, "schema")))


def _texts(node: Node, *keys: str) -> tuple[str, ...]:
    key = next((k for k in keys if node.get(k) is not None), keys[0])
    items = array_field(node, key)
    if not all(isinstance(item, str) for item in items):
        raise JsonFault("expected strings", key)
    return tuple(items)


def _properties(node: Node) -> dict[str, str]:
    key = "updates" if node.get("updates") is not None else "updated"  # the older name
    properties = required(node, key)
    with within(key):
        return as_strings(properties)


def _without(node: Node, *keys: str) -> Node:
    return {key: value for key, value in node.items() if key not in keys}


_READERS: dict[str, Callable[[Node], u.Update]] = {
    "assign-uuid": lambda n: u.AssignUuid(string_field(n, "uuid")),
    "upgrade-format-version": lambda n: u.UpgradeFormatVersion(int_field(n, "format-version")),
    "add-schema": lambda n: u.AddSchema(_schema(n)),
    "set-current-schema": lambda n: u.SetCurrentSchema(int_field(n, "schema-id")),
    "add-spec": lambda n: u.AddPartitionSpec(spec_from_json({"spec-id": 0, **as_object(required(n, "spec"))})),
    "set-default-spec": lambda n: u.SetDefaultSpec(int_field(n, "spec-id")),
    "add-sort-order": lambda n: u.AddSortOrder(sort_order_from_json(required(n, "sort-order"))),
    "set-default-sort-order": lambda n: u.SetDefaultSortOrder(int_field(n, "sort-order-id")),
    "add-snapshot": lambda n: u.AddSnapshot(snapshot_from_json(required(n, "snapshot"))),
    "set-snapshot-ref": lambda n: u.SetSnapshotRef(string_field(n, "ref-name"), ref_from_json(_without(n, "action", "ref-name"))),
    "remove-snapshots": lambda n: u.RemoveSnapshots(tuple(long_array(n, "snapshot-ids"))),
    "remove-snapshot-ref": lambda n: u.RemoveSnapshotRef(string_field(n, "ref-name")),
    "set-location": lambda n: u.SetLocation(string_field(n, "location")),
    "set-properties": lambda n: u.SetProperties(_properties(n)),
    "remove-properties": lambda n: u.RemoveProperties(_texts(n, "removals", "removed")),
    "set-statistics": lambda n: u.SetStatistics(statistics_from_json(required(n, "statistics"))),
    "remove-statistics": lambda n: u.RemoveStatistics(long_field(n, "snapshot-id")),
    "set-partition-statistics": lambda n: u.SetPartitionStatistics(partition_statistics_from_json(required(n, "partition-statistics"))),
    "remove-partition-statistics": lambda n: u.RemovePartitionStatistics(long_field(n, "snapshot-id")),
    "remove-partition-specs": lambda n: u.RemovePartitionSpecs(tuple(int_array(n, "spec-ids"))),
    "remove-schemas": lambda n: u.RemoveSchemas(tuple(int_array(n, "schema-ids"))),
    "add-encryption-key": lambda n: u.AddEncryptionKey(encrypted_key_from_json(required(n, "encryption-key"))),
    "remove-encryption-key": lambda n: u.RemoveEncryptionKey(string_field(n, "key-id")),
}


# -- requirements --------------------------------------------------------------------------------------------------
def requirement_to_json(requirement: r.Requirement) -> Node:
    match requirement:
        case r.AssertCreate():
            return {"type": "assert-create"}
        case r.AssertTableUuid(uuid=uuid):
            return {"type": "assert-table-uuid", "uuid": uuid}
        case r.AssertRefSnapshotId(ref=ref, snapshot_id=snapshot_id):
            return {"type": "assert-ref-snapshot-id", "ref": ref, "snapshot-id": snapshot_id}
        case r.AssertLastAssignedFieldId(last_assigned_field_id=number):
            return {"type": "assert-last-assigned-field-id", "last-assigned-field-id": number}
        case r.AssertCurrentSchemaId(current_schema_id=number):
            return {"type": "assert-current-schema-id", "current-schema-id": number}
        case r.AssertLastAssignedPartitionId(last_assigned_partition_id=number):
            return {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": number}
        case r.AssertDefaultSpecId(default_spec_id=number):
            return {"type": "assert-default-spec-id", "default-spec-id": number}
        case r.AssertDefaultSortOrderId(default_sort_order_id=number):
            return {"type": "assert-default-sort-order-id", "default-sort-order-id": number}
        case _:
            raise unknown_case(requirement)


def requirement_from_json(node: JsonValue) -> r.Requirement:
    """Raises InvalidArgumentError for an unknown type, CorruptMetadataError that names the path of a damaged field."""
    fields = as_object(node)
    kind = string_field(fields, "type")
    reader = _REQUIREMENTS.get(kind)
    if reader is None:
        raise InvalidArgumentError(f"Cannot convert update requirement to json: {kind}", type=kind)
    with within(kind):
        return reader(fields)


def _ref(node: Node) -> r.Requirement:
    snapshot_id = None if node.get("snapshot-id") is None else long_field(node, "snapshot-id")
    return r.AssertRefSnapshotId(string_field(node, "ref"), snapshot_id)


_REQUIREMENTS: dict[str, Callable[[Node], r.Requirement]] = {
    "assert-create": lambda n: r.AssertCreate(),
    "assert-table-uuid": lambda n: r.AssertTableUuid(string_field(n, "uuid")),
    "assert-ref-snapshot-id": _ref,
    "assert-last-assigned-field-id": lambda n: r.AssertLastAssignedFieldId(int_field(n, "last-assigned-field-id")),
    "assert-current-schema-id": lambda n: r.AssertCurrentSchemaId(int_field(n, "current-schema-id")),
    "assert-last-assigned-partition-id": lambda n: r.AssertLastAssignedPartitionId(int_field(n, "last-assigned-partition-id")),
    "assert-default-spec-id": lambda n: r.AssertDefaultSpecId(int_field(n, "default-spec-id")),
    "assert-default-sort-order-id": lambda n: r.AssertDefaultSortOrderId(int_field(n, "default-sort-order-id")),
}
