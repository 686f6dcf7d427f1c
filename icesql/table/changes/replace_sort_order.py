"""ReplaceSortOrder: a new default sort order, in place of the old one. Old orders stay listed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from icesql.errors import InvalidArgumentError, NotFoundError, nearest
from icesql.expr.tree import Reference
from icesql.spec.metadata import TableMetadata
from icesql.spec.sorting import NullOrder, SortDirection, SortField, SortOrder
from icesql.spec.transforms import IDENTITY
from icesql.table.arguments import checked
from icesql.table.commit import commit
from icesql.table.metadata import update_values as u
from icesql.table.metadata.compatibility import check_term
from icesql.table.metadata.requirements import requirements_for
from icesql.table.operations import ChangeSet, MetadataChange, TableOperations, TableVersion


@checked
@dataclass(slots=True)
class ReplaceSortOrder(MetadataChange):
    """No fields leave the table unsorted. Terms are ``Reference(column, transform)`` or a plain column name."""

    operations: TableOperations | None = None
    base: TableVersion | None = None
    is_case_sensitive: bool = True
    fields: list[tuple[Reference, SortDirection, NullOrder]] = field(default_factory=list)

    def case_sensitive(self, is_case_sensitive: bool) -> ReplaceSortOrder:
        self.is_case_sensitive = is_case_sensitive
        return self

    def asc(self, term: Reference | str, null_order: NullOrder = NullOrder.NULLS_FIRST) -> ReplaceSortOrder:
        return self._add(term, SortDirection.ASC, null_order)

    def desc(self, term: Reference | str, null_order: NullOrder = NullOrder.NULLS_LAST) -> ReplaceSortOrder:
        return self._add(term, SortDirection.DESC, null_order)

    def _add(self, term: Reference | str, direction: SortDirection, null_order: NullOrder) -> ReplaceSortOrder:
        self.fields.append((Reference(term) if isinstance(term, str) else term, direction, null_order))
        return self

    def sort_order(self, metadata: TableMetadata) -> SortOrder:
        """Raises NotFoundError for an unknown column."""
        return SortOrder(order_id=1 if self.fields else 0, fields=tuple(self._resolved(metadata, *item) for item in self.fields))

    def _resolved(self, metadata: TableMetadata, term: Reference, direction: SortDirection, null_order: NullOrder) -> SortField:
        column = metadata.schema.find(term.name, case_sensitive=self.is_case_sensitive)
        if column is None:
            hint = nearest(term.name, metadata.schema.ids_by_name)
            raise NotFoundError(f"Cannot find field '{term.name}' in struct: {metadata.schema.as_struct()}.{hint}", field=term.name)
        transform = term.transform or IDENTITY
        check_term(transform, column.type, term.name)
        return SortField(source_ids=(column.id,), transform=transform, direction=direction, null_order=null_order)

    def apply(self, metadata: TableMetadata) -> ChangeSet:
        updates: tuple[u.Update, ...] = (u.AddSortOrder(self.sort_order(metadata)), u.SetDefaultSortOrder())
        return ChangeSet(updates, requirements_for(metadata, updates))

    def commit(self) -> TableVersion:
        if self.operations is None:
            raise InvalidArgumentError("Cannot commit sort order: it belongs to no table")
        return commit(self.operations, [self], base=self.base)

    def __enter__(self) -> ReplaceSortOrder:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.commit()
