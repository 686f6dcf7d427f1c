"""Catalyst expressions that PySpark has no function for, as Columns."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql.types import DataType

from icesql.spark.jvm import classes
from icesql.spark.jvm.bridge import Bridge
from icesql.spark.jvm.handles import JavaObject


def if_else(bridge: Bridge, condition: Column, then: Column, otherwise: Column) -> Column:
    """SQL's IF, without the check of types that ``functions.when`` has."""
    return bridge.column(bridge.java_class(classes.IF)(*map(bridge.expression, (condition, then, otherwise))))


def shifted_right(bridge: Bridge, value: Column, bits: Column) -> Column:
    """``value >> bits``, where the number of bits is a column too."""
    return bridge.column(bridge.java_class(classes.SHIFT_RIGHT)(bridge.expression(value), bridge.expression(bits)))


def known_nullable(bridge: Bridge, column: Column) -> Column:
    """The column as it is; Catalyst does not look through it for fields to prune."""
    return bridge.column(bridge.java_class(classes.KNOWN_NULLABLE)(bridge.expression(column)))


def unscaled_decimal(bridge: Bridge, decimal: JavaObject) -> Column:
    """The unscaled value, a long, of an expression that is a decimal of at most 18 digits."""
    return bridge.column(bridge.java_class(classes.UNSCALED_VALUE)(decimal))


def default_value(bridge: Bridge, type_: DataType) -> Column:
    """Some value of a type, not null."""
    return bridge.column(bridge.module(classes.LITERALS).default(bridge.jvm_type(type_)))


MOST_DIGITS_OF_A_LONG = 18


def decimal_of(bridge: Bridge, unscaled: Column, precision: int, scale: int) -> Column:
    """The decimal of an unscaled value, a long; of at most 18 digits."""
    return bridge.column(bridge.java_class(classes.MAKE_DECIMAL)(bridge.expression(unscaled), precision, scale, False))


def internal_long(bridge: Bridge, column: Column, type_: JavaObject) -> Column:
    """The number that Spark keeps of a value of that JVM type: microseconds of timestamps, nanoseconds of times."""
    convert = bridge.java_class(classes.PRECISE_TIMESTAMP_CONVERSION)
    return bridge.column(convert(bridge.expression(column), type_, bridge.type_module("LongType")))


def time_type(bridge: Bridge) -> JavaObject:
    """Spark's TIME(6), which versions from 4.1 on have."""
    return bridge.java_class(classes.TIME_TYPE)(6)


def unresolved(bridge: Bridge, *parts: str) -> JavaObject:
    """A name that the analyser is to resolve where it stands."""
    return bridge.java_class(classes.UNRESOLVED_ATTRIBUTE)(bridge.seq(*parts))


def leaf_kinds(expression: JavaObject) -> frozenset[str]:
    """What the innermost parts of an expression are called in Catalyst: ``UnresolvedAttribute``, ``Literal``, ``ScalarSubquery`` ..."""
    leaves = expression.collectLeaves()
    return frozenset(str(leaves.apply(place).nodeName()) for place in range(leaves.size()))


def unresolved_names(expression: JavaObject) -> list[tuple[JavaObject, tuple[str, ...]]]:
    """The names in an expression that are not resolved yet, each with its parts."""
    leaves = expression.collectLeaves()
    attributes = [leaf for leaf in map(leaves.apply, range(leaves.size())) if leaf.nodeName() == "UnresolvedAttribute"]
    parts = [attribute.nameParts() for attribute in attributes]
    return [(leaf, tuple(str(names.apply(at)) for at in range(names.size()))) for leaf, names in zip(attributes, parts, strict=True)]


def resolved_in(bridge: Bridge, plan: JavaObject, parts: tuple[str, ...]) -> JavaObject | None:
    """The expression that a name is among the columns of a plan, ``None`` if it is none. Raises Spark's error for an ambiguous one."""
    option = plan.resolve(bridge.seq(*parts), bridge.state.conf().resolver())
    if option.isEmpty():
        return None
    column = option.get()
    return column.child() if column.nodeName() == "Alias" else column


def integer_constant(bridge: Bridge, expression: JavaObject) -> int | None:
    """The value of a constant expression. Raises ValueError where it is no constant."""
    if not expression.foldable():
        raise ValueError("no constant")
    value = expression.eval(bridge.empty_row)
    return None if value is None else int(value)
