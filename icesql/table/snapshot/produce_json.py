"""ProduceSnapshot as JSON: the proposed update of the REST protocol for fine-grained commits, read and written.

``action`` is the intent, as proposed; the four values are no other update's action. What the proposal names but gives no key
(``base-snapshot-id``), and what the operations need beyond it, are extra keys that are written only where they say something.
"""

from __future__ import annotations

from typing import Any

from icesql.errors import UnsupportedError, unknown_case
from icesql.expr.expr_json import expression_from_json, expression_to_json
from icesql.expr.rewrite import without_patterns
from icesql.expr.tree import FALSE, TRUE, AlwaysFalse, AlwaysTrue, Expression
from icesql.spec.files import DataFile
from icesql.spec.json.faults import JsonFault, array_field, as_object, as_strings, each, int_field, long_field, string_field, within
from icesql.spec.json.values import from_json, to_json
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.spec.snapshots import MAIN, Operation
from icesql.table.manifests.access import schema_for_spec, spec_of
from icesql.table.snapshot.content_file_json import content_file_from_json, content_file_to_json
from icesql.table.snapshot.produce import (
    CommitValidation,
    NotAllowedAddedDataFiles,
    NotAllowedAddedDeleteFiles,
    NotAllowedKnownDataFiles,
    NotAllowedNewDeletesForDataFiles,
    ProduceSnapshot,
    RequiredDataFiles,
    RequiredDeleteFiles,
)

Node = dict[str, Any]
PartitionKeys = frozenset[tuple[int, tuple[object, ...]]]
_FILES = ("add-data-files", "add-delete-files", "remove-data-files", "remove-delete-files")
_FLAGS = {"stage-only": False, "case-sensitive": True, "merge-manifests": True, "fail-missing-deletes": False, "fail-any-delete": False}


def produce_to_json(change: ProduceSnapshot, metadata: TableMetadata) -> Node:
    """Raises UnsupportedError for a change that is not ``is_of_known_files``."""
    if not change.is_of_known_files:
        raise UnsupportedError("Cannot send snapshot as files: it has manifests, files by path alone, or a filter with LIKE")
    node: Node = {"action": change.action.value}
    if change.branch != MAIN:
        node["branch"] = change.branch
    if change.base_snapshot_id is not None:
        node["base-snapshot-id"] = change.base_snapshot_id
    for key in _FILES:
        files: tuple[DataFile, ...] = getattr(change, _attribute(key))
        if files:
            node[key] = [_file_to_json(file, change, metadata) for file in files]
    if not isinstance(change.delete_row_filter, AlwaysFalse):
        node["delete-row-filter"] = expression_to_json(change.delete_row_filter)
    if change.added_files_match_filter is not None:
        node["added-files-match-filter"] = expression_to_json(change.added_files_match_filter)
    if change.drop_partitions:
        node["drop-partitions"] = _partitions_to_json(change.drop_partitions, metadata)
    if change.data_sequence_number is not None:
        node["data-sequence-number"] = change.data_sequence_number
    for key, default in _FLAGS.items():
        if getattr(change, _attribute(key)) != default:
            node[key] = not default
    if change.summary:
        node["summary"] = dict(change.summary)
    if change.validations:
        node["commit-validations"] = [_validation_to_json(v, metadata) for v in change.validations]
    return node


def _attribute(key: str) -> str:
    return key.replace("-", "_")


def _file_to_json(file: DataFile, change: ProduceSnapshot, metadata: TableMetadata) -> Node:
    node = content_file_to_json(file, metadata)
    number = change.delete_sequence_numbers.get(file.key)
    return node if number is None else {**node, "data-sequence-number": number}


def produce_from_json(node: Any, metadata: TableMetadata) -> ProduceSnapshot:
    """Raises CorruptMetadataError that names the path, ValidationError for specs the table does not have."""
    fields = as_object(node)
    files = {key: _files(fields, key, metadata) for key in _FILES}
    data, deletes, removed_data, removed_deletes = (tuple(file for file, _ in files[key]) for key in _FILES)
    flags = {key: _flag(fields, key, default) for key, default in _FLAGS.items()}
    has_match = fields.get("added-files-match-filter") is not None
    return ProduceSnapshot(
        action=_action(fields),
        branch=string_field(fields, "branch") if fields.get("branch") is not None else MAIN,
        stage_only=flags["stage-only"],
        base_snapshot_id=_optional_long(fields, "base-snapshot-id"),
        add_data_files=data,
        add_delete_files=deletes,
        remove_data_files=removed_data,
        remove_delete_files=removed_deletes,
        drop_partitions=_partitions(fields, "drop-partitions", metadata) or frozenset(),
        delete_row_filter=_filter(fields, "delete-row-filter", FALSE, metadata.schema),
        case_sensitive=flags["case-sensitive"],
        data_sequence_number=_optional_long(fields, "data-sequence-number"),
        delete_sequence_numbers={file.key: number for file, number in files["add-delete-files"] if number is not None},
        merge_manifests=flags["merge-manifests"],
        fail_missing_deletes=flags["fail-missing-deletes"],
        fail_any_delete=flags["fail-any-delete"],
        added_files_match_filter=_filter(fields, "added-files-match-filter", TRUE, metadata.schema) if has_match else None,
        summary=_summary(fields),
        validations=_validations(fields, metadata),
    )


def _action(node: Node) -> Operation:
    text = string_field(node, "action")
    try:
        return Operation(text.lower())
    except ValueError:
        raise JsonFault(f"expected append, replace, overwrite or delete, got {text!r}", "action") from None


def _optional_long(node: Node, key: str) -> int | None:
    return None if node.get(key) is None else long_field(node, key)


def _flag(node: Node, key: str, default: bool) -> bool:
    value = node.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise JsonFault(f"expected true or false, got {value!r}", key)
    return value


def _files(node: Node, key: str, metadata: TableMetadata) -> list[tuple[DataFile, int | None]]:
    if node.get(key) is None:
        return []
    files = []
    for path, item in each(array_field(node, key), key):
        with within(path):
            files.append((content_file_from_json(item, metadata), _optional_long(as_object(item), "data-sequence-number")))
    return files


def _filter(node: Node, key: str, default: Expression, schema: Schema) -> Expression:
    if node.get(key) is None:
        return default
    with within(key):
        return expression_from_json(node[key], schema)


def _summary(node: Node) -> dict[str, str]:
    if node.get("summary") is None:
        return {}
    with within("summary"):
        return as_strings(node["summary"])


# -- partitions ----------------------------------------------------------------------------------------------------
def _partitions_to_json(partitions: PartitionKeys, metadata: TableMetadata) -> list[Node]:
    nodes = []
    for spec_id, partition in sorted(partitions, key=repr):
        spec = spec_of(metadata, spec_id)
        fields = spec.partition_type(schema_for_spec(metadata, spec)).fields
        nodes.append({"spec-id": spec_id, "partition": [to_json(f.type, v) for f, v in zip(fields, partition, strict=True)]})
    return nodes


def _partitions(node: Node, key: str, metadata: TableMetadata) -> PartitionKeys | None:
    if node.get(key) is None:
        return None
    partitions = set()
    for path, item in each(array_field(node, key), key):
        with within(path):
            spec = spec_of(metadata, int_field(as_object(item), "spec-id"))
            fields, values = spec.partition_type(schema_for_spec(metadata, spec)).fields, array_field(item, "partition")
            if len(fields) != len(values):
                raise JsonFault(f"expected {len(fields)} values, got {len(values)}", "partition")
            partitions.add((spec.spec_id, tuple(from_json(f.type, v) for f, v in zip(fields, values, strict=True))))
    return frozenset(partitions)


# -- validations ---------------------------------------------------------------------------------------------------
def _validation_to_json(validation: CommitValidation, metadata: TableMetadata) -> Node:
    node: Node = {"type": _type_of(validation)}
    if isinstance(validation, NotAllowedKnownDataFiles):
        return {**node, "file-paths": sorted(validation.file_paths)}
    if not isinstance(validation.filter, AlwaysTrue):
        node["filter"] = expression_to_json(without_patterns(validation.filter))
    match validation:
        case NotAllowedAddedDataFiles(partitions=partitions) | NotAllowedAddedDeleteFiles(partitions=partitions):
            if partitions is not None:
                node["partitions"] = _partitions_to_json(partitions, metadata)
            if isinstance(validation, NotAllowedAddedDeleteFiles) and validation.and_deleted_data_files:
                node["and-deleted-data-files"] = True
        case RequiredDataFiles(file_paths=paths, allowed_remove_operations=allowed):
            node["file-paths"] = sorted(paths)
            if allowed:
                node["allowed-remove-operations"] = sorted(operation.name for operation in allowed)
        case RequiredDeleteFiles(file_paths=paths):
            node["file-paths"] = sorted(paths)
        case NotAllowedNewDeletesForDataFiles(file_paths=paths):
            node["file-paths"] = sorted(paths)
            if validation.ignore_equality_deletes:
                node["ignore-equality-deletes"] = True
        case _:
            raise unknown_case(validation)
    return node


def _type_of(validation: CommitValidation) -> str:
    match validation:
        case NotAllowedAddedDataFiles():
            return "not-allowed-added-data-files"
        case NotAllowedAddedDeleteFiles():
            return "not-allowed-added-delete-files"
        case RequiredDataFiles():
            return "required-data-files"
        case RequiredDeleteFiles():
            return "required-delete-files"
        case NotAllowedNewDeletesForDataFiles():
            return "not-allowed-new-deletes-for-data-files"
        case NotAllowedKnownDataFiles():
            return "not-allowed-known-data-files"
        case _:
            raise unknown_case(validation)


def _validations(node: Node, metadata: TableMetadata) -> tuple[CommitValidation, ...]:
    held = node.get("commit-validations")
    if held is None:
        return ()
    items = held if isinstance(held, list) else [held]  # the proposal's text says list, its schema one object
    validations = []
    for path, item in each(items, "commit-validations"):
        with within(path):
            validations.append(_validation(as_object(item), metadata))
    return tuple(validations)


def _validation(node: Node, metadata: TableMetadata) -> CommitValidation:
    filter_ = _filter(node, "filter", TRUE, metadata.schema)
    kind = string_field(node, "type")
    match kind:
        case "not-allowed-added-data-files":
            return NotAllowedAddedDataFiles(filter=filter_, partitions=_partitions(node, "partitions", metadata))
        case "not-allowed-added-delete-files":
            return NotAllowedAddedDeleteFiles(
                filter=filter_,
                partitions=_partitions(node, "partitions", metadata),
                and_deleted_data_files=_flag(node, "and-deleted-data-files", False),
            )
        case "required-data-files":
            return RequiredDataFiles(file_paths=_paths(node), filter=filter_, allowed_remove_operations=_operations(node))
        case "required-delete-files":
            return RequiredDeleteFiles(file_paths=_paths(node), filter=filter_)
        case "not-allowed-new-deletes-for-data-files":
            ignore = _flag(node, "ignore-equality-deletes", False)
            return NotAllowedNewDeletesForDataFiles(file_paths=_paths(node), filter=filter_, ignore_equality_deletes=ignore)
        case "not-allowed-known-data-files":
            return NotAllowedKnownDataFiles(file_paths=_paths(node))
        case _:
            raise JsonFault(f"unknown validation: {kind}", "type")


def _paths(node: Node) -> frozenset[str]:
    items = array_field(node, "file-paths") if node.get("file-paths") is not None else []
    if not all(isinstance(item, str) for item in items):
        raise JsonFault("expected strings", "file-paths")
    return frozenset(items)


def _operations(node: Node) -> frozenset[Operation]:
    items = array_field(node, "allowed-remove-operations") if node.get("allowed-remove-operations") is not None else []
    operations = set()
    for item in items:
        name = {"rewrite": "replace"}.get(str(item).lower(), str(item).lower())  # the proposal calls it both
        try:
            operations.add(Operation(name))
        except ValueError:
            raise JsonFault(f"unknown operation: {item!r}", "allowed-remove-operations") from None
    return frozenset(operations)
