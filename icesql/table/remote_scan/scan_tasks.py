"""Planned files as the protocol sends them. Spec: ``ScanTasks``, ``FileScanTask``.

Two keys of a task go beyond the protocol: ``data-sequence-number`` and ``file-sequence-number``, without which rows have no
``_last_updated_sequence_number``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from icesql.expr.binding import bind
from icesql.expr.expr_json import expression_from_json, expression_to_json
from icesql.expr.residuals import residual_function
from icesql.expr.rewrite import without_patterns
from icesql.expr.tree import TRUE, Expression
from icesql.spec.files import DataFile, FileContent
from icesql.spec.json.faults import (
    JsonFault,
    JsonObject,
    JsonValue,
    array_field,
    as_object,
    each,
    int_array,
    kind,
    long_field,
    required,
    within,
)
from icesql.spec.metadata import TableMetadata
from icesql.spec.schema import Schema
from icesql.table.manifests.access import spec_of
from icesql.table.scan.tasks import FileScanTask
from icesql.table.snapshot.content_file_json import content_file_from_json, content_file_to_json

_METRICS = ("column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds")
_NUMBERS = ("data-sequence-number", "file-sequence-number")
_BOUNDS = ("lower-bounds", "upper-bounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTasks:
    """Whole files to read, and ``plan_tasks``: names of further parts of the plan, each of which the server is to be asked for."""

    tasks: tuple[FileScanTask, ...] = ()
    plan_tasks: tuple[str, ...] = ()


NO_TASKS = ScanTasks()


def scan_tasks_to_json(scanned: ScanTasks, metadata: TableMetadata, *, stats_ids: Collection[int] = ()) -> JsonObject:
    """``stats_ids``: fields whose metrics the data files carry. Every delete file is written once.

    Patterns of LIKE are left out of residuals, as in ``plan_request_to_json``.
    """
    places: dict[Any, int] = {}
    delete_files: list[JsonObject] = []
    tasks: list[JsonObject] = []
    residuals: dict[int, Any] = {}
    for task in scanned.tasks:
        for file in task.delete_files:
            if file.key not in places:
                places[file.key] = len(delete_files)
                delete_files.append(content_file_to_json(with_metrics_of(file, ()), metadata))
        tasks.append(_task_to_json(task, places, residuals, metadata, stats_ids))
    node: dict[str, Any] = {}
    if delete_files:
        node["delete-files"] = delete_files
    if tasks or not scanned.plan_tasks:
        node["file-scan-tasks"] = tasks
    if scanned.plan_tasks:
        node["plan-tasks"] = list(scanned.plan_tasks)
    return node


def _task_to_json(
    task: FileScanTask, places: Mapping[Any, int], residuals: dict[int, Any], metadata: TableMetadata, stats_ids: Collection[int]
) -> JsonObject:
    node: dict[str, Any] = {"data-file": content_file_to_json(with_metrics_of(task.data_file, stats_ids), metadata)}
    if task.delete_files:
        node["delete-file-references"] = [places[file.key] for file in task.delete_files]
    known = residuals.get(id(task.residual))  # tasks of one partition share theirs
    if known is None:
        known = residuals[id(task.residual)] = expression_to_json(without_patterns(task.residual), null_safe=True)
    node["residual-filter"] = known
    for key in _NUMBERS:
        if (number := getattr(task, key.replace("-", "_"))) is not None:
            node[key] = number
    return node


def with_metrics_of(file: DataFile, field_ids: Collection[int]) -> DataFile:
    """The file with the metrics of these fields only."""
    changed: dict[str, dict[int, Any]] = {name: {} for name in _METRICS if getattr(file, name)}
    for name in changed if field_ids else ():
        changed[name] = {field_id: value for field_id, value in getattr(file, name).items() if field_id in field_ids}
    return replace(file, **changed) if changed else file  # type: ignore[arg-type]


def scan_tasks_from_json(
    node: JsonValue, metadata: TableMetadata, schema: Schema, *, filter: Expression = TRUE, case_sensitive: bool = True
) -> ScanTasks:
    """``filter`` is bound to ``schema``, which the scan reads under: it gives the residuals that the server leaves out.

    Bounds that are not of their column's type are passed over: Iceberg's own server writes them as bytes. Raises CorruptMetadataError,
    InvalidArgumentError, ValidationError for a partition spec that the table does not have.
    """
    fields = as_object(node)
    deletes = [_file(path, file, metadata, is_delete=True) for path, file in each(_array(fields, "delete-files"), "delete-files")]
    plan_tasks = _array(fields, "plan-tasks")
    for path, name in each(plan_tasks, "plan-tasks"):
        if not isinstance(name, str):
            raise JsonFault(f"expected a string, got {kind(name)}", path)
    reader = _TaskReader(metadata, schema, filter, deletes, case_sensitive)
    return ScanTasks(tasks=tuple(reader.read(_array(fields, "file-scan-tasks"))), plan_tasks=tuple(plan_tasks))


def _array(node: JsonObject, key: str) -> list[Any]:
    return [] if node.get(key) is None else array_field(node, key)


def _file(path: str, node: JsonValue, metadata: TableMetadata, *, is_delete: bool) -> DataFile:
    with within(path):
        fields = as_object(node)
        try:
            file = content_file_from_json(fields, metadata)
        except JsonFault as fault:
            if not fault.path.startswith(_BOUNDS):
                raise
            file = content_file_from_json({key: value for key, value in fields.items() if key not in _BOUNDS}, metadata)
        if (file.content is not FileContent.DATA) is not is_delete:
            raise JsonFault(f"expected a {'delete' if is_delete else 'data'} file, got: {fields['content']}", "content")
        return file


class _TaskReader:
    def __init__(self, metadata: TableMetadata, schema: Schema, filter: Expression, deletes: list[DataFile], case_sensitive: bool) -> None:
        self.metadata, self.schema, self.filter, self.deletes, self.case_sensitive = metadata, schema, filter, deletes, case_sensitive
        self._known: dict[str, Expression] = {}
        self._own: dict[int, Any] = {}

    def read(self, nodes: list[Any]) -> Iterable[FileScanTask]:
        for path, node in each(nodes, "file-scan-tasks"):
            with within(path):
                yield self._task(as_object(node))

    def _task(self, node: JsonObject) -> FileScanTask:
        file = _file("data-file", required(node, "data-file"), self.metadata, is_delete=False)
        numbers = {key: None if node.get(key) is None else long_field(node, key) for key in _NUMBERS}
        return FileScanTask(
            data_file=file,
            delete_files=tuple(self._referenced(node)),
            residual=self._residual(node.get("residual-filter"), file),
            spec_id=file.spec_id,
            data_sequence_number=numbers["data-sequence-number"] or 0,
            file_sequence_number=numbers["file-sequence-number"],
        )

    def _referenced(self, node: JsonObject) -> Iterable[DataFile]:
        if node.get("delete-file-references") is None:
            return
        for path, place in each(int_array(node, "delete-file-references"), "delete-file-references"):
            if place not in range(len(self.deletes)):
                raise JsonFault(f"there are {len(self.deletes)} delete files: {place}", path)
            yield self.deletes[place]

    def _residual(self, node: JsonValue, file: DataFile) -> Expression:
        if node is None:
            if file.spec_id not in self._own:
                self._own[file.spec_id] = residual_function(spec_of(self.metadata, file.spec_id), self.schema, self.filter)
            own: Expression = self._own[file.spec_id](file.partition)
            return own
        text = repr(node)
        if text not in self._known:
            parsed = expression_from_json(node, self.schema, null_safe=True)
            self._known[text] = bind(self.schema, parsed, case_sensitive=self.case_sensitive)
        return self._known[text]
