"""UpdatePartitionSpec: add, drop and rename partition fields. Data files written before stay as they are.

Version 1 tables keep a dropped field as ``void``; later versions leave it out and reuse the field of an earlier spec where source and
transform are the same. Spec: "Partition Evolution".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from icesql.errors import InvalidArgumentError, NotFoundError, nearest
from icesql.expr.tree import Reference
from icesql.spec.metadata import TableMetadata
from icesql.spec.partitioning import PartitionField, PartitionSpec
from icesql.spec.transforms import IDENTITY, VOID, Transform
from icesql.table.arguments import checked
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.metadata.compatibility import check_partition_name, check_partition_source, check_term, describe
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion

_TIME = frozenset({"year", "month", "day", "hour"})
_Key = tuple[int, str]


@dataclass(slots=True)
class SpecEditor:
    """Changes to the default spec of one version of the table; each method checks at once."""

    metadata: TableMetadata
    case_sensitive: bool = True
    deletes: set[int] = field(default_factory=set)
    renames: dict[str, str] = field(default_factory=dict)
    adds: list[PartitionField] = field(default_factory=list)
    _last_id: int = 0

    def __post_init__(self) -> None:
        self._last_id = self.metadata.last_partition_id

    def _resolve(self, term: Reference) -> tuple[int, Transform]:
        column = self.metadata.schema.find(term.name, case_sensitive=self.case_sensitive)
        if column is None:
            hint = nearest(term.name, self.metadata.schema.ids_by_name)
            raise NotFoundError(f"Cannot find field '{term.name}' in struct: {self.metadata.schema.as_struct()}.{hint}", field=term.name)
        transform = term.transform or IDENTITY
        check_term(transform, column.type, term.name)
        check_partition_source(column.type)
        return column.id, transform

    def _field(self, name: str) -> PartitionField | None:
        return next((f for f in self.metadata.spec.fields if f.name == name), None)

    def _field_of(self, key: _Key) -> PartitionField | None:
        return next((f for f in self.metadata.spec.fields if (f.source_id, str(f.transform)) == key), None)

    # -- adding --------------------------------------------------------------------------------------------------
    def add(self, term: Reference, name: str | None) -> None:
        source_id, transform = self._resolve(term)
        key = (source_id, str(transform))
        existing = self._field_of(key)
        if existing is not None and existing.field_id in self.deletes:
            self._undelete(existing, name)
            return
        shown = f"{'null' if name is None else name}={term_text(term)}"
        if existing is not None:
            raise InvalidArgumentError(f"Cannot add duplicate partition field {shown}, conflicts with {describe(existing)}", name=name)
        again = next((f for f in self.adds if (f.source_id, str(f.transform)) == key), None)
        if again is not None:
            raise InvalidArgumentError(f"Cannot add duplicate partition field {shown}, already added: {describe(again)}", name=name)
        added = self._recycled(source_id, transform, name) or self._created(source_id, transform, name)
        self._check_redundant(added)
        self._make_room(added.name, name)
        self.adds.append(added)

    def _undelete(self, existing: PartitionField, name: str | None) -> None:
        self.deletes.discard(existing.field_id)
        if name is not None and name != existing.name:
            self.rename(existing.name, name)

    def _recycled(self, source_id: int, transform: Transform, name: str | None) -> PartitionField | None:
        if self.metadata.format_version < 2:
            return None
        for spec in self.metadata.partition_specs:
            for known in spec.fields:
                if (known.source_ids, known.transform) == ((source_id,), transform) and name in (None, known.name):
                    return known
        return None

    def _created(self, source_id: int, transform: Transform, name: str | None) -> PartitionField:
        self._last_id += 1
        chosen = default_name(self.metadata.schema.name_of(source_id), transform) if name is None else name
        return PartitionField(source_ids=(source_id,), field_id=self._last_id, transform=transform, name=chosen)

    def _check_redundant(self, added: PartitionField) -> None:
        if added.transform.name in _TIME:
            for other in self.adds:
                if other.source_id == added.source_id and other.transform.name in _TIME:
                    raise InvalidArgumentError(
                        f"Cannot add redundant partition field: {describe(other)} conflicts with {describe(added)}", name=added.name
                    )

    def _make_room(self, name: str, given: str | None) -> None:
        """Rename a dropped (void) field that has the name."""
        if any(other.name == name for other in self.adds):
            raise InvalidArgumentError(f"Cannot add duplicate partition field name: {name}", name=name)
        holder = self._field(name)
        if holder is None or self.renames.get(name) is not None:
            return
        if not holder.transform.is_void and holder.field_id not in self.deletes:
            raise InvalidArgumentError(f"Cannot add duplicate partition field name: {given if given is not None else name}", name=name)
        self.renames[name] = f"{name}_{holder.field_id}"

    # -- dropping and renaming -----------------------------------------------------------------------------------
    def remove(self, what: Reference | str) -> None:
        field = self._named(what) if isinstance(what, str) else self._of_term(what)
        if field.name in self.renames:
            raise InvalidArgumentError(f"Cannot rename and delete partition field: {field.name}", name=field.name)
        self.deletes.add(field.field_id)

    def _named(self, name: str) -> PartitionField:
        added = next((f for f in self.adds if f.name == name), None)
        if added is not None:
            raise InvalidArgumentError(f"Cannot delete newly added field: {describe(added)}", name=name)
        field = self._field(name)
        if field is None:
            raise InvalidArgumentError(f"Cannot find partition field to remove: {name}", name=name)
        return field

    def _of_term(self, term: Reference) -> PartitionField:
        source_id, transform = self._resolve(term)
        key = (source_id, str(transform))
        added = next((f for f in self.adds if (f.source_id, str(f.transform)) == key), None)
        if added is not None:
            raise InvalidArgumentError(f"Cannot delete newly added field: {describe(added)}", name=added.name)
        field = self._field_of(key)
        if field is None:
            raise InvalidArgumentError(f"Cannot find partition field to remove: {term_text(term)}", term=term)
        return field

    def rename(self, name: str, new_name: str) -> None:
        holder = self._field(new_name)
        if holder is not None and holder.transform.is_void:
            self.rename(new_name, f"{new_name}_{holder.field_id}")
        if any(added.name == name for added in self.adds):
            raise InvalidArgumentError(f"Cannot rename newly added partition field: {name}", name=name)
        field = self._field(name)
        if field is None:
            raise InvalidArgumentError(f"Cannot find partition field to rename: {name}", name=name)
        if field.field_id in self.deletes:
            raise InvalidArgumentError(f"Cannot delete and rename partition field: {name}", name=name)
        self.renames[name] = new_name

    # -- the result ----------------------------------------------------------------------------------------------
    def result(self) -> PartitionSpec:
        """Raises InvalidArgumentError for names used twice, or taken by a column of another source."""
        fields = []
        for known in self.metadata.spec.fields:
            kept = replace(known, name=self.renames.get(known.name, known.name))
            if known.field_id not in self.deletes:
                fields.append(kept)
            elif self.metadata.format_version < 2:
                fields.append(replace(kept, transform=VOID))
        fields += self.adds
        self._check_names(fields)
        return PartitionSpec(spec_id=self.metadata.default_spec_id, fields=tuple(fields))

    def _check_names(self, fields: list[PartitionField]) -> None:
        names: set[str] = set()
        for one in fields:
            if not one.name:
                raise InvalidArgumentError(f"Cannot use empty or null partition name: {one.name}")
            if one.name in names:
                raise InvalidArgumentError(f"Cannot use partition name more than once: {one.name}", name=one.name)
            names.add(one.name)
            check_partition_name(one, self.metadata.schema)


Step = Callable[[SpecEditor], None]


@checked
class UpdatePartitionSpec(MetadataChange):
    """A term is ``Reference(column, transform)``; ``remove_field`` takes a partition field's name or a term."""

    def __init__(self, operations: TableOperations | None = None, base: TableVersion | None = None, *, case_sensitive: bool = True) -> None:
        self._operations, self._base, self._case_sensitive = operations, base, case_sensitive
        self._steps: list[Step] = []
        self._editor: SpecEditor | None = None
        self._set_default = True

    def case_sensitive(self, is_case_sensitive: bool) -> UpdatePartitionSpec:
        self._case_sensitive, self._editor = is_case_sensitive, None
        return self

    def add_field(self, term: Reference | str, name: str | None = None) -> UpdatePartitionSpec:
        """Add a field; text is a column's identity. Without a name it is called ``id_bucket_16``, ``data_trunc_4``, ``ts_day``, ``id``."""
        resolved = Reference(term) if isinstance(term, str) else term
        return self._step(lambda e: e.add(resolved, name))

    def remove_field(self, what: Reference | str) -> UpdatePartitionSpec:
        return self._step(lambda e: e.remove(what))

    def rename_field(self, name: str, new_name: str) -> UpdatePartitionSpec:
        return self._step(lambda e: e.rename(name, new_name))

    def add_non_default_spec(self) -> UpdatePartitionSpec:
        """Add the spec without making it the default."""
        self._set_default = False
        return self

    def _step(self, step: Step) -> UpdatePartitionSpec:
        if self._editor is None:
            if self._base is None:
                self._base = self._bound().load()
            self._editor = self._edit(self._base.metadata)
        step(self._editor)
        self._steps.append(step)
        return self

    def _edit(self, metadata: TableMetadata) -> SpecEditor:
        editor = SpecEditor(metadata, self._case_sensitive)
        for step in self._steps:
            step(editor)
        return editor

    def _bound(self) -> TableOperations:
        if self._operations is None:
            raise InvalidArgumentError("Cannot commit partition spec update: it belongs to no table")
        return self._operations

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        if not self._steps:
            return ChangeSet()
        updates: list[u.Update] = [u.AddPartitionSpec(self._edit(metadata).result())]
        if self._set_default:
            updates.append(u.SetDefaultSpec())
        return ChangeSet(tuple(updates), requirements_for(metadata, updates))

    def commit(self) -> TableVersion:
        return commit(self._bound(), [self], base=self._base)

    def __enter__(self) -> UpdatePartitionSpec:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()


def default_name(column: str, transform: Transform) -> str:
    """The name ALTER TABLE gives: with the width, unlike CREATE TABLE."""
    match transform.name:
        case "identity":
            return column
        case "bucket":
            return f"{column}_bucket_{transform.width}"
        case "truncate":
            return f"{column}_trunc_{transform.width}"
        case "void":
            return f"{column}_null"
        case _:
            return f"{column}_{transform.name}"


def term_text(term: Reference) -> str:
    """The term as the reference prints it: ``ref(name="ts")`` under its transform."""
    reference = f'ref(name="{term.name}")'
    return reference if term.transform is None or term.transform.is_identity else f"{term.transform}({reference})"
