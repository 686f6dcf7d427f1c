"""PARTITION FIELD and WRITE ORDERED BY: where rows of later writes go, and in which order.

Partition terms must spell columns as the table does, sort terms need not unless case matters: so does the runtime.
"""

from __future__ import annotations

from icesql.expr.tree import Reference
from icesql.parser import statements as s
from icesql.parser.statements.families import PartitionAlteration
from icesql.spec.properties import WRITE_DISTRIBUTION_MODE
from icesql.spec.sorting import SortDirection
from icesql.table.table import Table


def alter_partitioning(statement: PartitionAlteration, table: Table, *, case_sensitive: bool) -> None:
    match statement:
        case s.AddPartitionField(field=field):
            table.update_spec().add_field(_reference(field), field.name).commit()
        case s.DropPartitionField(field=field):
            table.update_spec().remove_field(_what(field, table)).commit()
        case s.ReplacePartitionField(old=old, new=new):
            table.update_spec().remove_field(_what(old, table)).add_field(_reference(new), new.name).commit()
        case s.WriteOrder():
            _write_order(statement, table, case_sensitive=case_sensitive)


def _reference(term: s.TransformTerm) -> Reference:
    return Reference(".".join(term.column), None if term.transform.is_identity else term.transform)


def _what(term: s.TransformTerm, table: Table) -> Reference | str:
    """A bare name that is no column is a partition field's name."""
    name = ".".join(term.column)
    if term.plain and len(term.column) == 1 and table.schema.find(name, case_sensitive=False) is None:
        return name
    return _reference(term)


def _write_order(statement: s.WriteOrder, table: Table, *, case_sensitive: bool) -> None:
    """Sort order and distribution mode, in one commit."""
    order = table.replace_sort_order().case_sensitive(case_sensitive)
    for term in statement.order:
        add = order.asc if term.direction is SortDirection.ASC else order.desc
        add(_reference(term.term), term.null_order)
    transaction = table.transaction()
    transaction.add(order)
    if statement.distribution_mode is not None:
        transaction.add(table.update_properties().set(WRITE_DISTRIBUTION_MODE, statement.distribution_mode))
    transaction.commit()
