"""Trees of ALTER TABLE to statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.frozen.columns import (
    ColumnValues,
    keys_of,
    maybe_span,
    parts_of,
    position_of,
    properties_of,
    span_of,
    table_name,
    text_of,
)
from icesql.parser.frozen.folding import fold
from icesql.parser.statements import alter as s

_LARGEST_LONG = 2**63 - 1
_UNIT_MS = {"DAYS": 86_400_000, "HOURS": 3_600_000, "MINUTES": 60_000}
_MODES = {"ORDERED": "range", "LOCALLY": None, "UNORDERED": "none"}


def alter_statement(node: Any, text: str, values: ColumnValues) -> s.AlterTable:
    """The statement of an ``Alteration``."""
    return _FORMS[type(node)](node, values, {"text": text, "table": table_name(node.this)})


Common = dict[str, Any]


def _add_columns(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.AddColumns(**common, columns=values.columns(node.expressions))


def _replace_columns(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.ReplaceColumns(**common, columns=values.columns(node.expressions))


def _drop_columns(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.DropColumns(**common, columns=tuple(parts_of(column) for column in node.expressions), if_exists=node.args["exists"])


def _rename_column(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.RenameColumn(**common, column=parts_of(node.args["column"]), new_name=node.args["to"].name)


def _alter_columns(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.AlterColumns(**common, changes=tuple(_change(change, values) for change in node.expressions))


def _change(node: Any, values: ColumnValues) -> s.ColumnChange:
    column, args = parts_of(node.this), node.args
    if (definition := args.get("definition")) is not None:
        new = values.column(definition)
        return s.ColumnChange(column=column, type=new.type, type_text=new.type_text, comment=new.comment, position=new.position)
    dtype, default = args.get("dtype"), args.get("default")
    default_text = None if default is None else span_of(default).of(values.text)
    return s.ColumnChange(
        column=column,
        type=None if dtype is None else values.type(dtype),
        type_text=None if dtype is None else span_of(dtype).of(values.text),
        comment=text_of(args.get("comment")),
        position=position_of(args.get("position")),
        set_not_null=bool(args.get("set_not_null")),
        drop_not_null=bool(args.get("drop_not_null")),
        default_text=default_text,
        default=None if default_text is None else fold(default_text),
        drop_default=bool(args.get("drop_default")),
    )


def _set_properties(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.SetTableProperties(**common, properties=properties_of(node.expressions))


def _unset_properties(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.UnsetTableProperties(**common, keys=keys_of(node.expressions), if_exists=node.args["exists"])


def _rename_table(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.RenameTable(**common, new_name=table_name(node.args["to"]))


def _set_location(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.SetTableLocation(**common, location=node.args["location"].name, partition=maybe_span(node.args.get("partition")))


def _set_collation(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.SetDefaultCollation(**common, collation=node.args["collation"].name)


def _refused(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    form = " ".join(word for word in node.args["form"].name.split() if word not in ("IF", "NOT", "EXISTS"))
    return s.RefusedAlter(**common, form="RENAME PARTITION" if form == "PARTITION" else form)


def _add_partition_field(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.AddPartitionField(**common, field=values.named_term(node.args["field"]))


def _drop_partition_field(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.DropPartitionField(**common, field=values.term(node.args["field"]))


def _replace_partition_field(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.ReplacePartitionField(**common, old=values.term(node.args["field"]), new=values.named_term(node.args["by"]))


def _write_order(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    """DISTRIBUTED gives hash; ORDERED BY alone range; LOCALLY ORDERED BY alone leaves the mode; UNORDERED alone none."""
    mode = "hash" if node.args["distributed"] else _MODES[node.args["ordering"].name]
    return s.WriteOrder(**common, order=tuple(values.sort_term(term) for term in node.expressions), distribution_mode=mode)


def _set_identifier_fields(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.SetIdentifierFields(**common, fields=tuple(parts_of(field) for field in node.expressions))


def _drop_identifier_fields(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    return s.DropIdentifierFields(**common, fields=tuple(parts_of(field) for field in node.expressions))


def _create_ref(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    args = node.args
    common |= {
        "name": args["name"].name, "create": args["create"], "replace": args["replace"], "if_not_exists": args["exists"],
        "snapshot_id": _whole(args.get("version")), "max_ref_age_ms": _milliseconds(args.get("retain")),
    }  # fmt: skip
    if args["kind"].name == "TAG":
        return s.CreateTag(**common)
    return s.CreateBranch(**common, min_snapshots_to_keep=_whole(args.get("keep")), max_snapshot_age_ms=_milliseconds(args.get("max_age")))


def _drop_ref(node: Any, values: ColumnValues, common: Common) -> s.AlterTable:
    kind = s.DropBranch if node.args["kind"].name == "BRANCH" else s.DropTag
    return kind(**common, name=node.args["name"].name, if_exists=node.args["exists"])


def _whole(node: exp.Literal | None) -> int | None:
    return None if node is None else int(node.name)


def _milliseconds(node: Any) -> int | None:
    """A duration longer than a long holds means for ever."""
    if node is None:
        return None
    return max(-_LARGEST_LONG - 1, min(int(node.this.name) * _UNIT_MS[node.args["unit"].name], _LARGEST_LONG))


_FORMS: dict[type, Callable[[Any, ColumnValues, Common], s.AlterTable]] = {
    nodes.AddColumns: _add_columns,
    nodes.ReplaceColumns: _replace_columns,
    nodes.DropColumns: _drop_columns,
    nodes.RenameColumn: _rename_column,
    nodes.AlterColumns: _alter_columns,
    nodes.SetTableProperties: _set_properties,
    nodes.UnsetTableProperties: _unset_properties,
    nodes.RenameTable: _rename_table,
    nodes.SetTableLocation: _set_location,
    nodes.SetDefaultCollation: _set_collation,
    nodes.RefusedAlter: _refused,
    nodes.AddPartitionField: _add_partition_field,
    nodes.DropPartitionField: _drop_partition_field,
    nodes.ReplacePartitionField: _replace_partition_field,
    nodes.WriteOrder: _write_order,
    nodes.SetIdentifierFields: _set_identifier_fields,
    nodes.DropIdentifierFields: _drop_identifier_fields,
    nodes.CreateRef: _create_ref,
    nodes.DropRef: _drop_ref,
}
