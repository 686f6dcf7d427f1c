"""Column definitions and partition terms of statements -> schemas, specs and sort orders of tables to be made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from icesql.errors import NotFoundError, SqlError, UnsupportedError, ValidationError, nearest
from icesql.parser.statements.ddl import ColumnDefinition, SortTerm, TransformTerm
from icesql.parser.text.tokens import tokenize
from icesql.session.resolve.ambiguous_columns import refuse_doubled, refuse_doubled_within
from icesql.spark_errors import spark_message
from icesql.spec.case_folding import fold, name_key
from icesql.spec.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
from icesql.spec.schema import Schema
from icesql.spec.sorting import SortField, SortOrder
from icesql.spec.transforms import Transform
from icesql.spec.types import NestedField, children

_SPARKS_TRANSFORMS = ("bucket", "years", "months", "days", "hours")  # as its parser spells them
_SUFFIXES = {"bucket": "bucket", "truncate": "trunc", "year": "year", "month": "month", "day": "day", "hour": "hour", "void": "null"}


def table_schema(columns: Sequence[ColumnDefinition], *, case_sensitive: bool = False) -> Schema:
    """A schema whose ids are unique, to be assigned afresh. Raises SqlError for two columns of one name, UnsupportedError for
    generated columns."""
    key = name_key(case_sensitive=case_sensitive)
    refuse_doubled((column.name for column in columns), key)
    for column in columns:
        refuse_doubled_within(column.name, column.type, key)
        if column.generated_text is not None:
            raise UnsupportedError(
                spark_message(
                    "UNSUPPORTED_FEATURE.TABLE_OPERATION",
                    f"The feature is not supported: Table does not support "
                    f"{'identity' if _is_identity(column.generated_text) else 'generated'} columns: {column.name}.",
                )
            )
    first = 1 + max((_highest_id(column) for column in columns), default=0)
    return Schema(tuple(_field(column, first + index) for index, column in enumerate(columns)))


def _is_identity(generated: str) -> bool:
    keys = [token.key for token in tokenize(generated)]
    return ("AS", "IDENTITY") in pairwise(keys)


def _highest_id(column: ColumnDefinition) -> int:
    return max((field.id for field in _descendants(children(column.type))), default=0)


def _descendants(fields: Iterable[NestedField]) -> Iterable[NestedField]:
    for field in fields:
        yield field
        yield from _descendants(children(field.type))


def _field(column: ColumnDefinition, field_id: int) -> NestedField:
    default = default_value(column)
    return NestedField(field_id, column.name, column.type, column.required, column.comment, default, default)


def default_value(column: ColumnDefinition) -> object | None:
    """The DEFAULT of a column in the type's internal form. Raises SqlError where it is no constant that fits."""
    if column.default_text is None:
        return None
    if column.default is None:
        raise SqlError(f"Cannot use DEFAULT of column {column.name}: not a constant: {column.default_text}")
    if column.default.value is None:
        return None
    from icesql.spec.values.literals import literal

    converted: object = literal(column.type, column.default.value)
    return converted


def find_column(schema: Schema, path: Sequence[str]) -> NestedField:
    """A column by its parts, in any case. Raises ValidationError ``Cannot find ...`` with the nearest name."""
    name = ".".join(path)
    field = schema.find(name) or schema.find(name, case_sensitive=False)
    if field is None:
        raise ValidationError(
            f"Cannot find field '{name}' in struct: {schema.as_struct()}.{nearest(name, schema.ids_by_name)}", column=name
        )
    return field


def partition_spec(terms: Sequence[TransformTerm], schema: Schema, *, case_sensitive: bool = False) -> PartitionSpec:
    """The spec of CREATE TABLE: default names have no width (``id_bucket``, ``s_trunc``)."""
    _refuse_repeated_terms(terms)
    fields = []
    for index, term in enumerate(terms):
        source = _partition_source(schema, term, case_sensitive)
        name = term.name or default_name(term.transform, schema.names_by_id[source.id])
        fields.append(
            PartitionField(source_ids=(source.id,), field_id=PARTITION_FIELD_ID_START + index, transform=term.transform, name=name)
        )
    return PartitionSpec(spec_id=0, fields=tuple(fields))


def _partition_source(schema: Schema, term: TransformTerm, case_sensitive: bool) -> NestedField:
    """Spark resolves the columns of its own transforms as it does all columns; those only Iceberg knows must be spelled exactly."""
    name = ".".join(term.column)
    field = schema.find(name)
    if field is None and (term.function is None or term.function in _SPARKS_TRANSFORMS):
        field = schema.find(name, case_sensitive=case_sensitive)
    if field is None:
        hint = nearest(name, schema.ids_by_name)
        raise NotFoundError(f"Couldn't find column {name} in the schema: it is missing or is in a map or array.{hint}", column=name)
    return field


def _refuse_repeated_terms(terms: Sequence[TransformTerm]) -> None:
    """Raises SqlError for one transform, whatever its width, on one column twice."""
    seen: set[tuple[str, str]] = set()
    for term in terms:
        column = ".".join(term.column)
        key = (term.transform.name, fold(column))
        if key in seen:
            raise SqlError(f"Found duplicate column(s) in the partitioning: {column}")
        seen.add(key)


def default_name(transform: Transform, column: str) -> str:
    return column if transform.is_identity else f"{column}_{_SUFFIXES.get(transform.name, transform.name)}"


def sort_order(terms: Sequence[SortTerm], schema: Schema) -> SortOrder:
    fields = tuple(
        SortField(
            source_ids=(find_column(schema, term.term.column).id,),
            transform=term.term.transform,
            direction=term.direction,
            null_order=term.null_order,
        )
        for term in terms
    )
    return SortOrder(order_id=1 if fields else 0, fields=fields)
