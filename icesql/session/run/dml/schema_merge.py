"""Tables that accept any schema (``write.spark.accept-any-schema``): rows match by name, may lack columns, and may bring new ones along."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.session.resolve.write_target import WriteTarget
from icesql.spec import types as I
from icesql.spec.case_folding import fold
from icesql.spec.promotion import can_promote
from icesql.spec.properties import SPARK_WRITE_ACCEPT_ANY_SCHEMA
from icesql.spec.schema import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


_ONE_TYPE_IN_SPARK = (
    (I.TimestampType, I.TimestamptzType, I.TimestampNanoType, I.TimestamptzNanoType),
    (I.StringType, I.UUIDType),
    (I.BinaryType, I.FixedType),
)


def accepts_any_schema(target: WriteTarget) -> bool:
    return target.table.metadata.properties.get(SPARK_WRITE_ACCEPT_ANY_SCHEMA, "false").lower() == "true"


def evolved(session: SessionState, target: WriteTarget, frame: DataFrame) -> WriteTarget:
    """The target after columns that only the rows have were added to the table, where table and writer ask for that.

    Raises InvalidArgumentError and Spark's errors for rows that do not fit, before the schema changes.
    """
    if not accepts_any_schema(target):
        return target
    if not _merges_schema(session, target):
        _check_dataset(frame.schema, target.table.metadata.schema, target)
        return target
    from icesql.spark.jvm.types import from_spark
    from icesql.spark.write.store_assignment import assigned_frame

    update = target.table.update_schema().case_sensitive(session.is_case_sensitive)
    update.union_by_name_with(from_spark(frame.schema))
    schema = update.schema()
    _check_dataset(frame.schema, schema, target)
    assigned_frame(session.spark, _filled(frame, schema), schema, table_name=target.resolved.dotted, by_name=True)
    if schema.fields != target.table.metadata.schema.fields:
        update.commit()
    return target


def filled(target: WriteTarget, frame: DataFrame) -> DataFrame:
    """The rows with null for the fields that their structs lack, where the table accepts any schema."""
    return _filled(frame, target.table.metadata.schema) if accepts_any_schema(target) else frame


def _filled(frame: DataFrame, schema: Schema) -> DataFrame:
    from icesql.spark.jvm.types import to_spark_type
    from icesql.spark.read.columns import quoted
    from icesql.spark.row_level.field_order import NULL, in_order_of

    wanted = {fold(field.name): to_spark_type(field.type) for field in schema.fields}
    names = [quoted(field.name) for field in frame.schema.fields]
    whole = [
        in_order_of(name, field.dataType, wanted.get(fold(field.name), field.dataType), instead=NULL)
        for name, field in zip(names, frame.schema.fields, strict=True)
    ]
    return frame if whole == names else frame.selectExpr(*(f"{text} AS {name}" for text, name in zip(whole, names, strict=True)))


def _merges_schema(session: SessionState, target: WriteTarget) -> bool:
    options = {key.lower(): value for key, value in target.options.items()}
    asked = options.get("mergeschema") or options.get("merge-schema") or session.conf("spark.sql.iceberg.merge-schema") or "false"
    return asked.lower() == "true"


def _check_dataset(given: Any, schema: Schema, target: WriteTarget) -> None:
    """Columns have the table's types or such as widen to them, come in its order, and required ones are there and never null; options
    ``check-ordering`` and ``check-nullability`` switch the last two off."""
    from icesql.spark.jvm.types import from_spark

    options = {key.lower(): value.lower() for key, value in target.options.items()}
    problems: list[str] = []
    if options.get("check-ordering") != "false":
        problems += _out_of_order(given, schema.as_struct())
    if options.get("check-nullability") != "false":
        problems += _not_required(given, schema)
    problems += _mistyped(from_spark(given).as_struct(), schema.as_struct())
    if problems:
        lines = "\n".join(f"* {problem}" for problem in problems)
        raise InvalidArgumentError(
            f"Cannot write incompatible dataset to table with schema:\n{schema}\n"
            f"Provided schema:\n{given.simpleString()}\nProblems:\n{lines}"
        )


def _out_of_order(given: Any, wanted: I.Type) -> list[str]:
    """The fields of a Spark struct, at any depth, that come before one which the table has before them."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(given, ArrayType) and isinstance(wanted, I.ListType):
        return _out_of_order(given.elementType, wanted.element)
    if isinstance(given, MapType) and isinstance(wanted, I.MapType):
        return _out_of_order(given.keyType, wanted.key) + _out_of_order(given.valueType, wanted.value)
    if not isinstance(given, StructType) or not isinstance(wanted, I.StructType):
        return []
    places = {fold(field.name): place for place, field in enumerate(wanted.fields)}
    known = [field for field in given.fields if fold(field.name) in places]
    inside = [_out_of_order(field.dataType, wanted.fields[places[fold(field.name)]].type) for field in known]
    late = [(a.name, b.name) for a, b in pairwise(known) if places[fold(b.name)] < places[fold(a.name)]]
    return [problem for problems in inside for problem in problems] + [
        f"{after} is out of order, before {before}" for before, after in late
    ]


def _mistyped(given: I.Type, wanted: I.Type, path: str = "") -> list[str]:
    """The fields, at any depth, whose types the table's fields of that name cannot hold without change. Others are left out."""
    match given, wanted:
        case I.StructType(), I.StructType():
            known = {fold(field.name): field for field in wanted.fields}
            pairs = [(field, known[fold(field.name)]) for field in given.fields if fold(field.name) in known]
            mistyped = [_mistyped(mine.type, theirs.type, f"{path}{theirs.name}.") for mine, theirs in pairs]
            return [problem for problems in mistyped for problem in problems]
        case I.ListType(), I.ListType():
            return _mistyped(given.element, wanted.element, f"{path}element.")
        case I.MapType(), I.MapType():
            return _mistyped(given.key, wanted.key, f"{path}key.") + _mistyped(given.value, wanted.value, f"{path}value.")
        case _:
            return _mistyped_field(given, wanted, path.removesuffix("."))


def _mistyped_field(given: I.Type, wanted: I.Type, name: str) -> list[str]:
    """As ``_mistyped``, for types that are not two structs, two lists or two maps."""
    if not isinstance(given, I.PrimitiveType) or not isinstance(wanted, I.PrimitiveType):
        return [] if given == wanted else [f"{name}: {given} cannot be read as a {wanted}"]
    same = any(isinstance(given, kinds) and isinstance(wanted, kinds) for kinds in _ONE_TYPE_IN_SPARK)
    return [] if same or can_promote(given, wanted, 2) else [f"{name}: {given} cannot be promoted to {wanted}"]


def _not_required(given: Any, schema: Schema) -> list[str]:
    nullable = {fold(field.name): field.nullable for field in given.fields}
    required = [field.name for field in schema.fields if field.required]
    missing = [f"{name} is required, but is missing" for name in required if fold(name) not in nullable]
    return missing + [f"{name} should be required, but is optional" for name in required if nullable.get(fold(name))]
