"""Catalyst expressions as trees of Python values. A Catalyst expression's JSON is a list of its nodes in pre-order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Node:
    """One Catalyst node: short class name, its JSON fields, children, and its place in pre-order."""

    kind: str
    fields: dict[str, Any]
    children: tuple[Node, ...]
    index: int


def catalyst_tree(text: str) -> Node:
    """The nodes of one Catalyst expression in JSON form."""
    return _tree(iter(enumerate(json.loads(text))))


def _tree(nodes: Iterator[tuple[int, dict[str, Any]]]) -> Node:
    index, fields = next(nodes)
    count = int(fields["num-children"])
    return Node(str(fields["class"]).rsplit(".", 1)[-1], fields, tuple(_tree(nodes) for _ in range(count)), index)


def type_of(node: Node) -> str | None:
    """Spark's name of the node's type as far as the JSON tells it."""
    if node.kind == "GetStructField":
        inner = node.children[0].fields.get("dataType") if node.children[0].kind == "AttributeReference" else _struct_type(node.children[0])
        if isinstance(inner, dict) and inner.get("type") == "struct":
            type_ = inner["fields"][int(node.fields["ordinal"])]["type"]
            return type_ if isinstance(type_, str) else None
        return None
    type_ = node.fields.get("dataType")
    return type_ if isinstance(type_, str) else None


def _struct_type(node: Node) -> Any:
    if node.kind == "AttributeReference":
        return node.fields.get("dataType")
    if node.kind != "GetStructField":
        return None
    outer = _struct_type(node.children[0])
    if not (isinstance(outer, dict) and outer.get("type") == "struct"):
        return None
    return outer["fields"][int(node.fields["ordinal"])]["type"]


def column_name(node: Node) -> str | None:
    """Dotted name of a column or of a struct's field, ``None`` for any other expression."""
    if node.kind == "AttributeReference":
        return str(node.fields["name"])
    if node.kind == "GetStructField":
        outer, parent = _struct_type(node.children[0]), column_name(node.children[0])
        if parent is not None and isinstance(outer, dict) and outer.get("type") == "struct":
            return f"{parent}.{outer['fields'][int(node.fields['ordinal'])]['name']}"
    return None
