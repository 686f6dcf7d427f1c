"""The strategy of rewrite_data_files: bin-packing, a sort order, a Z-order or a Hilbert curve, from the text of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.expr.tree import Reference
from icesql.parser.sort_orders import ParsedSortOrder, parse_sort_order
from icesql.parser.text.names import NameParts
from icesql.spec.case_folding import fold
from icesql.spec.metadata import TableMetadata
from icesql.spec.sorting import UNSORTED, SortDirection, SortOrder
from icesql.spec.types import GeographyType, GeometryType, ListType, MapType, StructType, VariantType
from icesql.table.changes.replace_sort_order import ReplaceSortOrder
from icesql.table.maintenance.rewrite_data_files import GroupWriter, RewriteDataFiles
from icesql.table.metadata.compatibility import check_sort_order

_UNORDERED = (StructType, ListType, MapType, VariantType, GeometryType, GeographyType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """``rewriter``: BIN-PACK, SORT, Z-ORDER or HILBERT. ``curve``: for the last two, places of columns in the table's schema."""

    rewriter: str = "BIN-PACK"
    order: SortOrder = UNSORTED
    curve: tuple[int, ...] = ()
    sort_order_id: int = 0


def strategy_of(metadata: TableMetadata, strategy: str | None, sort_order: str | None) -> Strategy:
    """Raises InvalidArgumentError, ValidationError and SqlError in the reference's words."""
    parsed = None if sort_order is None else parse_sort_order(sort_order)
    name = ("binpack" if parsed is None else "sort") if strategy is None else strategy.lower()
    if name == "binpack":
        if parsed is not None:
            raise InvalidArgumentError("Cannot set rewrite mode, it has already been set to BIN-PACK")
        return Strategy()
    if name != "sort":
        raise InvalidArgumentError(f"unsupported strategy: {strategy}. Only binpack or sort is supported", strategy=strategy)
    if parsed is None:
        return _table_order(metadata)
    if parsed.zorder:
        return Strategy(rewriter="Z-ORDER", curve=_curve_columns(metadata, parsed.zorder, "ZOrder"))
    if parsed.hilbert:
        return Strategy(rewriter="HILBERT", curve=_curve_columns(metadata, parsed.hilbert, "HILBERT"))
    return Strategy(rewriter="SORT", order=_order(metadata, parsed))


def _table_order(metadata: TableMetadata) -> Strategy:
    if metadata.sort_order.is_unsorted:
        raise InvalidArgumentError(
            f"Cannot sort data without a valid sort order, table '{metadata.location}' is unsorted and no sort order is provided"
        )
    return Strategy(rewriter="SORT", order=metadata.sort_order, sort_order_id=metadata.default_sort_order_id)


def _order(metadata: TableMetadata, parsed: ParsedSortOrder) -> SortOrder:
    builder = ReplaceSortOrder().case_sensitive(False)
    for term in parsed.terms:
        reference = Reference(".".join(term.term.column), term.term.transform)
        (builder.asc if term.direction is SortDirection.ASC else builder.desc)(reference, term.null_order)
    order = builder.sort_order(metadata)
    check_sort_order(order, metadata.schema)
    return order


def _curve_columns(metadata: TableMetadata, columns: Sequence[NameParts], curve: str) -> tuple[int, ...]:
    """Identity partition columns are the same for all rows of a file group, so they are left out."""
    schema, names = metadata.schema, [fold(field.name) for field in metadata.schema.fields]
    identity = {field.source_id for field in metadata.spec.fields if field.transform.is_identity}
    places = []
    for parts in columns:
        name = ".".join(parts)
        if fold(name) not in names:
            raise ValidationError(
                f"Cannot find column '{name}' in table schema (case sensitive = false): {schema.as_struct()}", column=name
            )
        place = names.index(fold(name))
        if isinstance(type_ := schema.fields[place].type, _UNORDERED):
            raise InvalidArgumentError(f"Cannot use column {name} of type {type_} in ZOrdering, the type is unsupported", column=name)
        if schema.fields[place].id not in identity:
            places.append(place)
    if not places:
        raise InvalidArgumentError(f"Cannot {curve}, all columns provided were identity partition columns and cannot be used")
    return tuple(places)


def writer_of(spark: Any, rewrite: RewriteDataFiles, strategy: Strategy) -> GroupWriter:
    from icesql.spark.jobs.running_jobs import in_this_group

    return in_this_group(spark, _writer_of(spark, rewrite, strategy))


def _writer_of(spark: Any, rewrite: RewriteDataFiles, strategy: Strategy) -> GroupWriter:
    from icesql.spark.maintenance.rewrite_files import AlongCurve, BinPack, Sorted
    from icesql.spark.write.hilbert import with_hilbert_values
    from icesql.spark.write.zorder import with_z_values

    if strategy.rewriter == "Z-ORDER":
        text_bytes, max_bytes = rewrite.options.var_length_contribution, rewrite.options.max_output_size
        return AlongCurve(spark, rewrite, partial(with_z_values, columns=strategy.curve, text_bytes=text_bytes, max_bytes=max_bytes))
    if strategy.rewriter == "HILBERT":
        return AlongCurve(spark, rewrite, partial(with_hilbert_values, columns=strategy.curve))
    return Sorted(spark, rewrite, strategy.order, strategy.sort_order_id) if strategy.rewriter == "SORT" else BinPack(spark, rewrite)
