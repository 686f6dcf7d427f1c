"""Filters that Catalyst pushes to a scan, translated to an ``icesql.expr`` predicate.

The predicate is true for every row for which the pushed filters are true; what cannot be translated so is left out. Values whose JSON
text is ambiguous (dates, timestamps, binary, large IN sets) are read from the JVM node itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from pyspark.sql import DataFrame

from icesql.errors import IcesqlError
from icesql.expr.binding import bind
from icesql.expr.rewrite import map_leaves
from icesql.expr.tree import FALSE, TRUE, And, Expression, Op, Or, Predicate, Reference, and_, not_, or_
from icesql.spark.functions.transforms import recognise
from icesql.spark.jvm.catalyst_tree import Node, catalyst_tree, column_name, type_of
from icesql.spark.jvm.handles import JavaObject
from icesql.spark.jvm.plans import filter_condition, optimised_plan
from icesql.spark.read.columns import VERSION
from icesql.spec.schema import Schema
from icesql.spec.transforms import DAY, YEAR
from icesql.spec.types import UUIDType


class _Unknown(Exception):
    """The expression, or a part that must not be left out, has no counterpart."""


JvmNode = Callable[[int], JavaObject]


def pushed_expression(filters: JavaObject, names: Mapping[str, str] = MappingProxyType({})) -> Expression:
    """The conjunction of a Scala Seq of Catalyst filters; those without a counterpart are left out.

    ``names`` maps names of the relation's columns to the table's where they differ.
    """
    parts = []
    for i in range(filters.size()):
        expression = filters.apply(i)
        parts.append(catalyst_expression(expression.toJSON(), expression.apply))
    pushed = and_(*parts)
    return map_leaves(pushed, lambda leaf: _renamed(leaf, names)) if names else pushed


def _renamed(leaf: Predicate, names: Mapping[str, str]) -> Predicate:
    term = leaf.term
    assert isinstance(term, Reference)
    top = next((t for t in (term.name, *_prefixes(term.name)) if t in names), None)
    if top is None:
        return leaf
    return replace(leaf, term=replace(term, name=names[top] + term.name[len(top) :]))


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(len(parts) - 1, 0, -1))


def exact_filter(frame: DataFrame, schema: Schema, names: Mapping[str, str]) -> Expression | None:
    """The filter of a frame over one relation as a bound expression that is true for exactly the same rows.

    ``None`` where the plan is more than a filter, or some part of it has no counterpart: subqueries, functions, uuids (text in Spark).
    """
    return exact_condition_of(optimised_plan(frame), schema, names)


def exact_condition_of(plan: JavaObject, schema: Schema, names: Mapping[str, str]) -> Expression | None:
    """As ``exact_filter``, of an optimised logical plan."""
    condition = filter_condition(plan)
    if condition is None or isinstance(condition, bool):
        return None if condition is None else TRUE if condition else FALSE
    try:
        translated = _Translation(condition.apply, exact=True).exact(_of_rows(catalyst_tree(condition.toJSON())))
        renamed = map_leaves(translated, lambda leaf: _renamed(leaf, names))
        bound = bind(schema, renamed)
    except (_Unknown, IcesqlError):
        return None
    return None if _compares_uuid(bound) else bound


def _of_rows(node: Node) -> Node:
    """The conjunction without the part that says which version is read."""
    if node.kind == "EqualTo" and any(child.fields.get("name") == VERSION.name for child in node.children):
        return _ALL
    if node.kind != "And":
        return node
    left, right = map(_of_rows, node.children)
    return right if left is _ALL else left if right is _ALL else replace(node, children=(left, right))


_ALL = Node("Literal", {"value": "true", "dataType": "boolean"}, (), -1)


def _compares_uuid(expression: Expression) -> bool:
    comparisons = []

    def seen(leaf: Predicate) -> Expression:
        comparisons.append(isinstance(getattr(leaf.term, "type", None), UUIDType) and leaf.op not in (Op.IS_NULL, Op.NOT_NULL))
        return leaf

    map_leaves(expression, seen)
    return any(comparisons)


def catalyst_expression(text: str, jvm_node: JvmNode | None = None) -> Expression:
    """A predicate implied by one Catalyst expression in JSON form; TRUE where nothing is known.

    ``jvm_node(i)`` gives the JVM's node at place ``i`` in pre-order.
    """
    return _Translation(jvm_node).implied(catalyst_tree(text))


_COMPARISONS = {
    "EqualTo": Op.EQ,
    "LessThan": Op.LT,
    "LessThanOrEqual": Op.LT_EQ,
    "GreaterThan": Op.GT,
    "GreaterThanOrEqual": Op.GT_EQ,
}
_FLIPPED = {Op.EQ: Op.EQ, Op.LT: Op.GT, Op.LT_EQ: Op.GT_EQ, Op.GT: Op.LT, Op.GT_EQ: Op.LT_EQ}
_INTEGERS = {"byte": 0, "short": 1, "integer": 2, "long": 3}


class _Translation:
    """``exact``: what is translated is true for the very same rows, so under a NOT nothing may be over-reported."""

    def __init__(self, jvm_node: JvmNode | None, *, exact: bool = False) -> None:
        self._jvm_node, self._exact = jvm_node, exact
        self._negated = False

    def implied(self, node: Node) -> Expression:
        """A predicate that holds wherever ``node`` is true: parts of a conjunction may be left out."""
        if node.kind == "And":
            return and_(*(self.implied(child) for child in node.children))
        if node.kind == "Or":
            return or_(*(self.implied(child) for child in node.children))
        try:
            return self.exact(node)
        except _Unknown:
            return TRUE

    def exact(self, node: Node) -> Expression:
        """The same predicate (three-valued). Raises _Unknown."""
        match node.kind:
            case "And":
                return And(self.exact(node.children[0]), self.exact(node.children[1]))
            case "Or":
                return Or(self.exact(node.children[0]), self.exact(node.children[1]))
            case "Not":
                return not_(self._under_not(node.children[0]))
            case "Literal":
                return self._constant(node)
            case "AttributeReference" | "GetStructField" if type_of(node) == "boolean":
                return Predicate(Op.EQ, self.term(node), (True,))
            case "IsNull":
                return Predicate(Op.IS_NULL, self._plain_term(node.children[0]))
            case "IsNotNull":
                return Predicate(Op.NOT_NULL, self._plain_term(node.children[0]))
            case "IsNaN":
                return Predicate(Op.IS_NAN, self._plain_term(node.children[0]))
            case "StartsWith":
                return self._starts_with(node)
            case "In":
                return self._in(node)
            case "InSet":
                return self._in_set(node)
            case "EqualNullSafe":
                return self._null_safe(node)
            case _:
                if node.kind in _COMPARISONS:
                    return self._comparison(node)
                raise _Unknown

    def _under_not(self, node: Node) -> Expression:
        outer, self._negated = self._negated, True
        try:
            return self.exact(node)
        finally:
            self._negated = outer

    def _constant(self, node: Node) -> Expression:
        if type_of(node) != "boolean" or (self._exact and node.fields.get("value") is None):
            raise _Unknown
        return TRUE if node.fields.get("value") == "true" else FALSE  # null keeps no row either; its negation over-reports

    def _comparison(self, node: Node) -> Expression:
        op, (left, right) = _COMPARISONS[node.kind], node.children
        if left.kind == "Literal":
            left, right, op = right, left, _FLIPPED[op]
        value = self.value(right)
        if value is None:
            raise _Unknown
        if left.kind == "Year":
            return self._year(op, left, value)
        return Predicate(op, self.term(left), (value,))

    def _year(self, op: Op, node: Node, value: Any) -> Expression:
        """``year(c) >= 2021`` is what the year transform counts, from 1970. Exact for dates and zoneless timestamps."""
        if type_of(node.children[0]) not in ("date", "timestamp_ntz"):
            raise _Unknown
        return Predicate(op, Reference(_name(node.children[0]), YEAR), (int(value) - 1970,))

    def _null_safe(self, node: Node) -> Expression:
        left, right = node.children
        if left.kind == "Literal":
            left, right = right, left
        value = self.value(right)
        if value is None:
            return Predicate(Op.IS_NULL, self._plain_term(left))
        term = self.term(left)
        return And(Predicate(Op.NOT_NULL, self._plain_term(left)), Predicate(Op.EQ, term, (value,)))

    def _starts_with(self, node: Node) -> Expression:
        prefix = self.value(node.children[1])
        if not isinstance(prefix, str):
            raise _Unknown
        return Predicate(Op.STARTS_WITH, self._plain_term(node.children[0]), (prefix,))

    def _in(self, node: Node) -> Expression:
        term, *items = node.children
        values = [self.value(item) for item in items]
        return self._membership(term, values)

    def _in_set(self, node: Node) -> Expression:
        if self._jvm_node is None:
            raise _Unknown
        jvm = self._jvm_node(node.index)
        type_ = type_of(node.children[0])
        if type_ in ("binary", None):
            raise _Unknown
        values = jvm.hset()
        nulls = [None] if values.contains(None) else []
        texts = str((values.excl(None) if nulls else values).mkString("\x00")).split("\x00")
        return self._membership(node.children[0], [*nulls, *(_internal(type_, text) for text in texts)])

    def _membership(self, term: Node, values: list[Any]) -> Expression:
        """A null among the values never makes a row match, so it is left out; NOT IN with a null over-reports."""
        present = tuple(v for v in values if v is not None)
        if self._exact and self._negated and len(present) < len(values):
            raise _Unknown
        if not present:
            return FALSE
        if len(present) == 1:
            return Predicate(Op.EQ, self.term(term), present)
        return Predicate(Op.IN, self.term(term), present)

    # -- terms and values ----------------------------------------------------------------------------------------
    def term(self, node: Node) -> Reference:
        if node.kind == "Cast":
            return self._cast(node)
        return self._plain_term(node)

    def _plain_term(self, node: Node) -> Reference:
        transformed = recognise(node)
        return transformed if transformed is not None else Reference(_name(node))

    def _cast(self, node: Node) -> Reference:
        transformed = recognise(node)
        if transformed is not None:
            return transformed
        (child,), target, source = node.children, type_of(node), type_of(node.children[0])
        if source in _INTEGERS and target in _INTEGERS and _INTEGERS[source] <= _INTEGERS[target]:
            return Reference(_name(child))
        if source == "timestamp_ntz" and target == "date":
            return Reference(_name(child), DAY)
        if source == "timestamp" and target == "date" and node.fields.get("timeZoneId") in ("UTC", "Etc/UTC", "Z", "GMT"):
            return Reference(_name(child), DAY)
        raise _Unknown

    def value(self, node: Node) -> Any:
        """A literal in internal form, ``None`` for null. Raises _Unknown for anything else."""
        if node.kind != "Literal":
            raise _Unknown
        text, type_ = node.fields.get("value"), type_of(node)
        if text is None:
            return None
        if type_ in ("date", "timestamp", "timestamp_ntz", "binary"):
            return self._jvm_value(node)
        return _internal(type_, text)

    def _jvm_value(self, node: Node) -> Any:
        if self._jvm_node is None:
            raise _Unknown
        value = self._jvm_node(node.index).value()
        return bytes(value) if isinstance(value, (bytes, bytearray)) else int(value)


def _name(node: Node) -> str:
    """Dotted name of a column or of a struct's field. Raises _Unknown."""
    name = column_name(node)
    if name is None:
        raise _Unknown
    return name


def _internal(type_: str | None, text: str) -> Any:
    if type_ in ("integer", "long", "short", "byte", "date", "timestamp", "timestamp_ntz"):
        return int(text)
    if type_ in ("float", "double"):
        return float(text.replace("Infinity", "inf"))
    if type_ == "boolean":
        return text == "true"
    if type_ == "string":
        return text
    if type_ is not None and type_.startswith("decimal"):
        return Decimal(text)
    raise _Unknown
