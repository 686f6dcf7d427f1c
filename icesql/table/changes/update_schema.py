"""UpdateSchema: evolve a table's columns. Changes are named steps, replayed on whatever schema the table has when it commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from icesql.errors import InvalidArgumentError
from icesql.spec.metadata import TableMetadata
from icesql.spec.name_mapping import TOP, name_mapping_from_json, name_mapping_to_json, update_mapping
from icesql.spec.promotion import partition_field_against
from icesql.spec.properties import (
    DEFAULT_NAME_MAPPING,
    METRICS_MODE_COLUMN_PREFIX,
    PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX,
    PARQUET_COLUMN_STATS_ENABLED_PREFIX,
)
from icesql.spec.schema import Schema
from icesql.spec.type_texts import type_of
from icesql.spec.types import NestedField, Type
from icesql.table.arguments import checked
from icesql.table.changes.schema_editor import ROOT, SchemaEditor
from icesql.table.changes.union_by_name import union_by_name
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.metadata.compatibility import check_partition_name
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion

_COLUMN_PROPERTIES = (
    METRICS_MODE_COLUMN_PREFIX,
    PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX,
    PARQUET_COLUMN_STATS_ENABLED_PREFIX,
)

Step = Callable[[SchemaEditor], None]


@checked
class UpdateSchema(MetadataChange):
    """Names are dotted paths; ``list.element.x`` and ``map.value.x`` reach into lists and maps. Each call checks at once.

    ``with table.update_schema() as u: ...`` commits at the end of the block, unless it raised.
    """

    def __init__(
        self,
        operations: TableOperations | None = None,
        base: TableVersion | None = None,
        *,
        case_sensitive: bool = True,
        metadata: TableMetadata | None = None,
    ) -> None:
        self._operations, self._base = operations, base
        self._case_sensitive, self._incompatible = case_sensitive, False
        self._steps: list[Step] = []
        self._metadata = metadata
        self._editor: SchemaEditor | None = None

    # -- steps ---------------------------------------------------------------------------------------------------
    def _step(self, step: Step) -> UpdateSchema:
        if self._editor is None:
            self._editor = self._edit(self._base_metadata())
        step(self._editor)
        self._steps.append(step)
        return self

    def _base_metadata(self) -> TableMetadata:
        if self._metadata is None:
            if self._base is None:
                self._base = self._bound().load()
            self._metadata = self._base.metadata
        return self._metadata

    def _bound(self) -> TableOperations:
        if self._operations is None:
            raise InvalidArgumentError("Cannot commit schema update: it belongs to no table")
        return self._operations

    def _edit(self, metadata: TableMetadata) -> SchemaEditor:
        editor = SchemaEditor(
            metadata.schema,
            metadata.last_column_id,
            metadata.format_version,
            case_sensitive=self._case_sensitive,
            allow_incompatible_changes=self._incompatible,
        )
        for step in self._steps:
            step(editor)
        return editor

    def case_sensitive(self, is_case_sensitive: bool) -> UpdateSchema:
        self._case_sensitive = is_case_sensitive
        return self._again()

    def allow_incompatible_changes(self) -> UpdateSchema:
        """Allow required columns without a default, and making columns required. Older rows may then not fit."""
        self._incompatible = True
        return self._again()

    def _again(self) -> UpdateSchema:
        self._editor = None
        return self

    def add_column(
        self,
        name: str | tuple[str, ...],
        type_: Type | str,
        *,
        doc: str | None = None,
        required: bool = False,
        default: object = None,
        parent: str | None = None,
    ) -> UpdateSchema:
        """Add a column, or a field to the struct ``parent`` (a list or map means its element or value). A tuple is a whole path.
        A type may be text: ``"long"``, ``"struct<a: int>"`` (``icesql.spec.type_texts``).

        ``default`` (internal form, format version 3) is what older rows show and newer ones are written with where nothing is given.
        """
        if isinstance(name, tuple):
            parent, name = ".".join(name[:-1]) or None, name[-1]
        elif parent is None and "." in name:
            raise InvalidArgumentError(f"Cannot add column with ambiguous name: {name}, use addColumn(parent, name, type)", column=name)
        leaf, type_ = name, type_of(type_)
        return self._step(lambda e: e.add(parent, leaf, type_, required=required, doc=doc, default=default))

    def add_required_column(
        self, name: str | tuple[str, ...], type_: Type | str, *, doc: str | None = None, default: object = None, parent: str | None = None
    ) -> UpdateSchema:
        return self.add_column(name, type_, doc=doc, required=True, default=default, parent=parent)

    def delete_column(self, name: str) -> UpdateSchema:
        return self._step(lambda e: e.delete(name))

    def rename_column(self, name: str, new_name: str) -> UpdateSchema:
        """``new_name`` is the new leaf name, without the path."""
        return self._step(lambda e: e.rename(name, new_name))

    def update_column_type(self, name: str, type_: Type | str) -> UpdateSchema:
        """Widen a primitive column; the type may be text. Spec: "Schema Evolution"."""
        type_ = type_of(type_)
        return self._step(lambda e: e.set_type(name, type_))

    def make_column_optional(self, name: str) -> UpdateSchema:
        return self._step(lambda e: e.set_required(name, required=False))

    def require_column(self, name: str) -> UpdateSchema:
        return self._step(lambda e: e.set_required(name, required=True))

    def update_column_doc(self, name: str, doc: str | None) -> UpdateSchema:
        return self._step(lambda e: e.set_doc(name, doc))

    def update_column_default(self, name: str, default: object) -> UpdateSchema:
        """The write default, internal form; ``None`` takes it away."""
        return self._step(lambda e: e.set_default(name, default))

    def move_first(self, name: str) -> UpdateSchema:
        return self._step(lambda e: e.move(name, "first"))

    def move_before(self, name: str, before: str) -> UpdateSchema:
        return self._step(lambda e: e.move(name, "before", before))

    def move_after(self, name: str, after: str) -> UpdateSchema:
        return self._step(lambda e: e.move(name, "after", after))

    def union_by_name_with(self, schema: Schema) -> UpdateSchema:
        """Add what the table lacks and widen what is too narrow, so that rows of ``schema`` fit."""
        return self._step(lambda e: union_by_name(e, schema))

    def set_identifier_fields(self, *names: str) -> UpdateSchema:
        """Replace the identifier fields; no names leave none."""

        def step(editor: SchemaEditor) -> None:
            editor.identifier_names = set(names)

        return self._step(step)

    def drop_identifier_fields(self, *names: str) -> UpdateSchema:
        def step(editor: SchemaEditor) -> None:
            for name in names:
                if editor.schema.find(name, case_sensitive=editor.case_sensitive) is None:
                    raise InvalidArgumentError(f"Cannot complete drop identifier fields operation: field {name} not found", field=name)
                if name not in editor.identifier_names:
                    raise InvalidArgumentError(
                        f"Cannot complete drop identifier fields operation: {name} is not an identifier field", field=name
                    )
                editor.identifier_names = editor.identifier_names - {name}

        return self._step(step)

    # -- results -------------------------------------------------------------------------------------------------
    def schema(self) -> Schema:
        """The schema as it would be on the version the update began with."""
        return self._edit(self._base_metadata()).result()

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        """The new schema, and properties that name columns changed to match. No updates if the columns stay as they are."""
        if not self._steps:
            return ChangeSet()
        editor = self._edit(metadata)
        schema = editor.result()
        _check_partitioning(metadata, editor)
        updates: list[u.Update] = []
        if not schema.same_columns(metadata.schema):
            _check_new_names(metadata, schema)
            updates += [u.AddSchema(schema), u.SetCurrentSchema()]
        updates += property_updates(metadata, schema, editor)
        return ChangeSet(tuple(updates), requirements_for(metadata, updates) if updates else ())

    def commit(self) -> TableVersion:
        return commit(self._bound(), [self], base=self._base)

    def __enter__(self) -> UpdateSchema:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()


def _check_partitioning(metadata: TableMetadata, editor: SchemaEditor) -> None:
    """A promotion may not change the values of a partition field. Spec: "Schema Evolution"."""
    for field_id, changed in editor.updates.items():
        before = metadata.schema.find(field_id)
        if before is not None and before.type != changed.type:
            partition_field = partition_field_against(metadata.partition_specs, field_id, before.type, changed.type)
            if partition_field is not None:
                raise InvalidArgumentError(
                    f"Cannot change column type: {changed.name}: {before.type} -> {changed.type}, it would change partition field "
                    f"{partition_field}",
                    column=changed.name,
                )


def _check_new_names(metadata: TableMetadata, schema: Schema) -> None:
    """A new column may not take the name of a partition field of any spec, unless it is that field's source. REPLACE TABLE may.

    Fields whose source column was dropped reserve no name.
    """
    for spec in metadata.partition_specs:
        for field in spec.fields:
            if field.name not in metadata.schema.ids_by_name and field.source_id in schema.fields_by_id:
                check_partition_name(field, schema)


def property_updates(metadata: TableMetadata, schema: Schema, editor: SchemaEditor) -> list[u.Update]:
    """Updates of the properties that hold column names: metrics modes and the like follow renames and drops, the name mapping grows."""
    changed = _column_properties(metadata.properties, metadata.schema, schema, editor)
    removals = tuple(sorted(key for key in metadata.properties if key not in changed))
    updates = {key: value for key, value in changed.items() if metadata.properties.get(key) != value}
    mapping = metadata.properties.get(DEFAULT_NAME_MAPPING)
    if mapping is not None:
        text = _mapping(mapping, editor)
        if text is not None:
            updates[DEFAULT_NAME_MAPPING] = text
    property_changes: list[u.Update] = []
    if updates:
        property_changes.append(u.SetProperties(updates))
    if removals:
        property_changes.append(u.RemoveProperties(removals))
    return property_changes


def _column_properties(properties: Mapping[str, str], old: Schema, new: Schema, editor: SchemaEditor) -> dict[str, str]:
    """The reference follows a column's own rename and drop; a rename of the struct around it leaves the property as it is."""
    renamed = {old.names_by_id[i]: new.names_by_id[i] for i in editor.updates if i in old.names_by_id and i in new.names_by_id}
    dropped = {old.names_by_id[i] for i in editor.deletes}
    changed: dict[str, str] = {}
    for key, value in properties.items():
        prefix = next((p for p in _COLUMN_PROPERTIES if key.startswith(p)), None)
        column = key[len(prefix or "") :]
        if prefix is None:
            changed[key] = value
        elif column not in dropped:
            changed[prefix + renamed.get(column, column)] = value
    return changed


def _mapping(text: str, editor: SchemaEditor) -> str | None:
    """The name mapping with the editor's renames and additions; ``None`` where nothing was renamed or added."""
    added = {field_id for ids in editor.added.values() for field_id in ids}
    updates: dict[int, NestedField] = {i: f for i, f in editor.updates.items() if i not in added}
    adds = {TOP if parent == ROOT else parent: [editor.updates[i] for i in ids] for parent, ids in editor.added.items()}
    if not updates and not adds:
        return None
    return name_mapping_to_json(update_mapping(name_mapping_from_json(text), updates, adds))
