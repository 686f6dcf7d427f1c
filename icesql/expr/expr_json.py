"""Predicates as JSON, in the two forms of the REST protocol.

The *term* form (``{"type": "eq", "term": "id", "value": 5}``) is what every released client sends and reads; it is written by default. The
*operand* form of the expressions specification (``{"type": "eq", "left": {...}, "right": 5}``) is read as well and written on request.

The expressions specification compares null-safely and with two truth values, SQL with three. Trees are written unchanged; with
``null_safe=True`` the ``not-null`` tests (writing) or ``is-null`` alternatives (reading) are added that keep the same rows.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from icesql.errors import InvalidArgumentError, UnsupportedError, unknown_case
from icesql.expr.rewrite import FLIPPED, map_leaves, push_not
from icesql.expr.tree import (
    FALSE,
    TRUE,
    AlwaysFalse,
    AlwaysTrue,
    And,
    BoundReference,
    Expression,
    Not,
    Op,
    Or,
    Predicate,
    Reference,
    Term,
)
from icesql.spec.json.types import type_from_json, type_to_json
from icesql.spec.json.values import from_json as value_from_json
from icesql.spec.json.values import to_json as value_to_json
from icesql.spec.schema import Schema
from icesql.spec.transforms import Transform, parse_transform

_UNARY = frozenset({Op.IS_NULL, Op.NOT_NULL, Op.IS_NAN, Op.NOT_NAN})
_SETS = frozenset({Op.IN, Op.NOT_IN})
_NULL_IS_TRUE = frozenset({Op.NOT_EQ, Op.NOT_IN, Op.NOT_STARTS_WITH})
"""Leaves that the specification (and Java) finds true for null."""


# -- writing -----------------------------------------------------------------------------------------------------


def expression_to_json(expression: Expression, *, operands: bool = False, null_safe: bool = False) -> Any:
    """A JSON value (objects and arrays). ``operands`` writes the newer form; ``null_safe`` keeps SQL's meaning for two-valued readers.

    Raises UnsupportedError for patterns of LIKE, which the specification lacks: write ``without_patterns`` where more rows may match.
    """
    return _write(_guarded(expression, Op.NOT_NULL, And) if null_safe else expression, operands)


def _guarded(expression: Expression, check: Op, join: type[And] | type[Or]) -> Expression:
    def guard(leaf: Predicate) -> Expression:
        if leaf.op not in _NULL_IS_TRUE:
            return leaf
        return join(leaf, Predicate(check, leaf.term))

    return map_leaves(push_not(expression), guard)


def _write(expression: Expression, operands: bool) -> Any:
    match expression:
        case AlwaysTrue():
            return True
        case AlwaysFalse():
            return False
        case And(left=left, right=right):
            return {"type": "and", "left": _write(left, operands), "right": _write(right, operands)}
        case Or(left=left, right=right):
            return {"type": "or", "left": _write(left, operands), "right": _write(right, operands)}
        case Not(child=child):
            return {"type": "not", "child": _write(child, operands)}
        case Predicate(op=Op.HOLDS):
            raise UnsupportedError(f"Cannot write predicate as JSON: the specification has no arithmetic: {expression.literal}")
        case Predicate(op=Op.LIKE | Op.NOT_LIKE):
            raise UnsupportedError(f"Cannot write predicate as JSON: the specification has no LIKE: {expression.term.name}")
        case Predicate():
            return _write_operands(expression) if operands else _write_term(expression)
        case _:
            raise unknown_case(expression)


def _write_term(leaf: Predicate) -> dict[str, Any]:
    written: dict[str, Any] = {"type": leaf.op.value, "term": _term(leaf.term)}
    if leaf.op in _SETS:
        written["values"] = [_literal(leaf.term, value) for value in leaf.literals]
    elif leaf.op not in _UNARY:
        written["value"] = _literal(leaf.term, leaf.literal)
    return written


def _term(term: Term) -> Any:
    if term.transform is None:
        return term.name
    return {"type": "transform", "transform": str(term.transform), "term": term.name}


def _write_operands(leaf: Predicate) -> dict[str, Any]:
    value = _operand(leaf.term)
    if leaf.op in _UNARY:
        return {"type": leaf.op.value, "child": value}
    if leaf.op in _SETS:
        return {"type": leaf.op.value, "child": value, "values": [_typed_literal(leaf.term, each) for each in leaf.literals]}
    return {"type": leaf.op.value, "left": value, "right": _typed_literal(leaf.term, leaf.literal)}


def _operand(term: Term) -> dict[str, Any]:
    reference = {"type": "reference", "name": term.name}
    if term.transform is None:
        return reference
    arguments: list[Any] = [reference] if term.transform.width is None else [term.transform.width, reference]
    function = {"catalog": "iceberg_functions", "identifier": [term.transform.name]}
    return {"type": "apply", "function": function, "arguments": arguments}


def _typed_literal(term: Term, value: object) -> Any:
    if not isinstance(term, BoundReference):
        return _literal(term, value)
    return {"type": "literal", "value": _literal(term, value), "data-type": type_to_json(term.type)}


def _literal(term: Term, value: object) -> Any:
    return value_to_json(term.type, value) if isinstance(term, BoundReference) else _plain_literal(value)


def _plain_literal(value: object) -> Any:
    """An unbound literal in the single-value form of its Python type."""
    match value:
        case bool() | int() | float() | str():
            return value
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex().upper()
        case UUID():
            return str(value)
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case _:
            raise InvalidArgumentError(f"Cannot write literal as JSON: unsupported type {type(value).__name__}: {value!r}")


# -- reading -----------------------------------------------------------------------------------------------------


def expression_from_json(json: Any, schema: Schema | None = None, *, null_safe: bool = False) -> Expression:
    """An unbound tree from either form. ``schema`` is needed for references by field id, and to convert typed literals.

    Raises InvalidArgumentError that shows the part it cannot read.
    """
    tree = _Reader(schema).read(json)
    return _guarded(tree, Op.IS_NULL, Or) if null_safe else tree


class _Reader:
    def __init__(self, schema: Schema | None) -> None:
        self.schema = schema

    def read(self, json: Any) -> Expression:
        if isinstance(json, bool):
            return TRUE if json else FALSE
        kind = _kind(json)
        match kind:
            case "true" | "false":
                return TRUE if kind == "true" else FALSE
            case "literal" if isinstance(json.get("value"), bool):
                return TRUE if json["value"] else FALSE
            case "and":
                return And(self.read(_part(json, "left")), self.read(_part(json, "right")))
            case "or":
                return Or(self.read(_part(json, "left")), self.read(_part(json, "right")))
            case "not":
                return Not(self.read(_part(json, "child")))
            case _:
                return self._leaf(_operator(kind, json), json)

    def _leaf(self, op: Op, json: Mapping[str, Any]) -> Predicate:
        if op in _UNARY:
            return Predicate(op, self._term(json["term"] if "term" in json else _part(json, "child")))
        if op in _SETS:
            term = self._term(json["term"] if "term" in json else _part(json, "child"))
            return Predicate(op, term, self._literals(term, _part(json, "values")))
        if "term" in json:
            term = self._term(json["term"])
            return Predicate(op, term, (self._literal(term, _part(json, "value")),))
        return self._comparison(op, _part(json, "left"), _part(json, "right"))

    def _comparison(self, op: Op, left: Any, right: Any) -> Predicate:
        if _is_literal(left) and not _is_literal(right):
            if op not in FLIPPED:
                raise _unreadable("a literal may not be tested for a prefix", left)
            op, left, right = FLIPPED[op], right, left
        if not _is_literal(right):
            raise _unreadable("one side of a comparison must be a literal", right)
        term = self._term(left)
        return Predicate(op, term, (self._literal(term, right),))

    # -- terms -----------------------------------------------------------------------------------------------------
    def _term(self, json: Any) -> Reference:
        if isinstance(json, str):
            return Reference(json)
        match _kind(json):
            case "reference":
                return Reference(self._name(json))
            case "transform":
                inner = self._term(_part(json, "term"))
                return Reference(inner.name, _effective(parse_transform(str(_part(json, "transform")))))
            case "apply":
                return self._applied(json)
            case _:
                raise _unreadable("unknown term", json)

    def _name(self, json: Mapping[str, Any]) -> str:
        if "id" in json:
            if self.schema is None:
                raise _unreadable("a reference by field id needs a schema", json)
            return self.schema.name_of(json["id"])
        name = json.get("name", json.get("term"))
        if not isinstance(name, str):
            raise _unreadable("a reference needs a name", json)
        return name

    def _applied(self, json: Mapping[str, Any]) -> Reference:
        function, arguments = _function_name(_part(json, "function")), _part(json, "arguments")
        match arguments:
            case [argument]:
                return Reference(self._term(argument).name, _effective(_known_transform(function, json)))
            case [width, argument]:
                width = width["value"] if isinstance(width, Mapping) and "value" in width else width
                return Reference(self._term(argument).name, _known_transform(f"{function}[{width}]", json))
            case _:
                raise _unreadable("unknown function", json)

    # -- literals --------------------------------------------------------------------------------------------------
    def _literals(self, term: Reference, json: Any) -> tuple[object, ...]:
        data_type = None
        if isinstance(json, Mapping):
            data_type, json = json.get("data-type"), _part(json, "values")
        if not isinstance(json, list):
            raise _unreadable("values must be an array", json)
        return tuple(self._literal(term, each, data_type) for each in json)

    def _literal(self, term: Reference, json: Any, data_type: Any = None) -> object:
        if isinstance(json, Mapping):
            data_type, json = json.get("data-type", data_type), _part(json, "value")
        if json is None or isinstance(json, (list, Mapping)):
            raise _unreadable("a literal must be a value that is not null", json)
        return self._typed(term, json, data_type)

    def _typed(self, term: Reference, json: Any, data_type: Any) -> object:
        """The value in internal form where its type is known; binary and fixed values are hexadecimal text in JSON."""
        type_ = None if data_type is None else type_from_json(data_type)
        if type_ is None and self.schema is not None and term.transform is None and isinstance(json, str):
            field = self.schema.find(term.name)
            type_ = field.type if field is not None and str(field.type).startswith(("binary", "fixed")) else None
        if type_ is None or str(type_).startswith(("date", "time")):
            return json  # dates and times are ISO text, which binding reads
        return value_from_json(type_, json)


def _kind(json: Any) -> str:
    if isinstance(json, str):
        return json
    if not isinstance(json, Mapping) or not isinstance(json.get("type"), str):
        raise _unreadable("an object with a type is expected", json)
    return str(json["type"]).lower().replace("_", "-")


def _operator(kind: str, json: Any) -> Op:
    try:
        op = Op(kind)
    except ValueError:
        raise _unreadable("unknown type", json) from None
    if op in (Op.LIKE, Op.NOT_LIKE, Op.HOLDS):
        raise _unreadable("unknown type", json)
    if not isinstance(json, Mapping):
        raise _unreadable("an object is expected", json)
    return op


def _part(json: Mapping[str, Any], key: str) -> Any:
    if key not in json:
        raise _unreadable(f"missing field: {key}", json)
    return json[key]


def _is_literal(json: Any) -> bool:
    return not isinstance(json, Mapping) or json.get("type") == "literal"


def _function_name(json: Any) -> str:
    match json:
        case str():
            return json
        case [*_, str(name)]:
            return name
        case {"identifier": [*_, str(name)]}:
            return name
        case _:
            raise _unreadable("unknown function", json)


def _known_transform(text: str, json: Any) -> Transform:
    transform = parse_transform(text)
    if not transform.is_known:
        raise _unreadable("unknown function", json)
    return transform


def _effective(transform: Transform) -> Transform | None:
    return None if transform.is_identity else transform


def _unreadable(why: str, json: Any) -> InvalidArgumentError:
    return InvalidArgumentError(f"Cannot parse expression from JSON: {why}: {json!r}")
