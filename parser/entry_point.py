"""What the entry point ``sqlglot.dialects`` gives: the dialect for the sqlglot that users import.

Where that is compiled the dialect lives in the copy that is Python. Trees of stock nodes, queries above all, are then handed over as trees
of the user's sqlglot; those of statements that are Iceberg's stay trees of the copy, which print themselves (``tree.sql("iceberg")``).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from icesql.parser.dialect import iceberg as dialect
from icesql.parser.dialect.sqlglot_source import ParseError, exp, is_private_copy, users_module

_users_exp: Any = users_module("expressions")


class _NoCounterpart(Exception):
    """A node that the other sqlglot does not have."""


def handed_over(tree: Any, source: Any, target: Any) -> Any:
    """``tree``, of the nodes of the module ``source``, as nodes of ``target``; itself where one has no counterpart there."""
    try:
        return _node(tree, source, target)
    except _NoCounterpart:
        return tree


def _node(node: Any, source: Any, target: Any) -> Any:
    name = type(node).__name__
    if getattr(source, name, None) is not type(node) or not hasattr(target, name):
        raise _NoCounterpart(name)
    copy = getattr(target, name)(**{arg: _value(value, source, target) for arg, value in node.args.items()})
    copy.comments = node.comments
    copy.meta.update(node.meta)
    return copy


def _value(value: Any, source: Any, target: Any) -> Any:
    if isinstance(value, list):
        return [_value(item, source, target) for item in value]
    if isinstance(value, Enum):
        return target.DataType.Type[value.name]
    return _node(value, source, target) if hasattr(value, "arg_types") else value


Iceberg: Any = dialect.Iceberg
if is_private_copy:

    class Iceberg(users_module("dialects.spark").Spark):  # type: ignore[no-redef, misc]
        """Spark's SQL with Iceberg's statements, as Spark with Iceberg's extensions reads it."""

        def parse(self, sql: str, **options: Any) -> list[Any]:
            try:
                trees = dialect.Iceberg().parse(sql, **options)
            except ParseError as error:
                raise users_module("errors").ParseError(str(error), error.errors) from None
            return [tree and handed_over(tree, exp, _users_exp) for tree in trees]

        def generate(self, expression: Any, copy: bool = True, **options: Any) -> str:
            ours = expression if isinstance(expression, exp.Expression) else handed_over(expression, _users_exp, exp)
            if isinstance(ours, exp.Expression):
                return str(dialect.Iceberg().generate(ours, copy=copy, **options))
            return str(super().generate(expression, copy=copy, **options))
