"""Trees of statements that change rows to statements: conditions, assignments and queries become spans of the text again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.row_rules import WITH_ARG
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.frozen.columns import ColumnValues, maybe_span, parts_of, properties_of, read_by, span_of, table_name
from icesql.parser.statements import dml as s
from icesql.parser.statements.base import Statement
from icesql.parser.text.names import Span


def _condition(node: Any) -> Span | None:
    where = node.args.get("where")
    return None if where is None else span_of(where.this)


def _alias(node: Any) -> str | None:
    return node.alias or None


def _assignments(assignments: list[Any], text: str) -> tuple[s.Assignment, ...]:
    return tuple(_assignment(node.this, node.expression, text) for node in assignments)


def _assignment(key: Any, value: Any, text: str) -> s.Assignment:
    is_default = span_of(value).of(text).upper() == "DEFAULT"
    return s.Assignment(column=parts_of(key), key=span_of(key), value=span_of(value), is_default=is_default)


def _delete(node: Any, text: str, values: ColumnValues) -> Statement:
    ctes, condition = maybe_span(node.args.get(WITH_ARG)), _condition(node)
    return s.Delete(
        text=text, target=table_name(node.this), alias=_alias(node.this), condition=condition, ctes=ctes,
        references=read_by(text, ctes, condition),
    )  # fmt: skip


def _update(node: Any, text: str, values: ColumnValues) -> Statement:
    ctes, condition, assigned = maybe_span(node.args.get(WITH_ARG)), _condition(node), _assignments(node.expressions, text)
    return s.Update(
        text=text, target=table_name(node.this), alias=_alias(node.this), assignments=assigned, condition=condition, ctes=ctes,
        references=read_by(text, ctes, condition, *(assignment.value for assignment in assigned)),
    )  # fmt: skip


def _insert(node: Any, text: str, values: ColumnValues) -> Statement:
    return _one_insert(node, text, (node.args.get(WITH_ARG),))


def _one_insert(node: Any, text: str, before: tuple[Any, ...]) -> s.Insert:
    schema = node.this if isinstance(node.this, exp.Schema) else None
    target = node.this if schema is None else schema.this
    where, partition = maybe_span(node.args.get("where")), node.args.get("partition")
    pieces = tuple(span_of(piece) for piece in (*before, node.expression) if piece is not None)
    return s.Insert(
        text=text,
        target=table_name(target),
        mode=_mode(node.args["overwrite"], where),
        by_name=node.args["by_name"],
        columns=() if schema is None else tuple(parts_of(column) for column in schema.expressions),
        partition=() if partition is None else tuple(_partition_value(value) for value in partition.expressions),
        if_not_exists=node.args["exists"],
        options=tuple(pair for hint in target.args.get("hints") or () for pair in properties_of(hint.expressions)),
        where=where,
        query=pieces,
        references=read_by(text, *pieces, where),
    )


def _mode(overwrite: bool, where: Span | None) -> s.InsertMode:
    if where is not None:
        return s.InsertMode.REPLACE_WHERE
    return s.InsertMode.OVERWRITE if overwrite else s.InsertMode.APPEND


def _partition_value(node: Any) -> s.PartitionValue:
    column, value = (node.this, node.expression) if isinstance(node, exp.EQ) else (node, None)
    return s.PartitionValue(column=".".join(parts_of(column)), value=maybe_span(value))


def _multi_insert(node: Any, text: str, values: ColumnValues) -> Statement:
    before = (node.args.get("ctes"), node.args["source"])
    inserts = tuple(_one_insert(insert, text, before) for insert in node.expressions)
    return inserts[0] if len(inserts) == 1 else s.MultiInsert(text=text, inserts=inserts)


def _merge(node: Any, text: str, values: ColumnValues) -> Statement:
    target, source, whens = node.this, node.args["using"], node.args["whens"].expressions
    ctes, condition = maybe_span(node.args.get(WITH_ARG)), span_of(node.args["on"])
    clauses = tuple(_clause(when, text) for when in whens)
    return s.Merge(
        text=text,
        target=table_name(target),
        alias=_alias(target),
        schema_evolution=isinstance(node, nodes.EvolvingMerge),
        source=span_of(source),
        source_alias=source.meta["alias"],
        condition=condition,
        clauses=clauses,
        ctes=ctes,
        references=read_by(text, ctes, source, condition, *(clause.span for clause in clauses)),
    )


def _clause(when: Any, text: str) -> s.MergeClause:
    action, assigned = _action(when.args["then"], text)
    kind = s.MergeKind.NOT_MATCHED_BY_SOURCE if when.args["source"] else s.MergeKind.NOT_MATCHED
    return s.MergeClause(
        kind=s.MergeKind.MATCHED if when.args["matched"] else kind,
        action=action,
        condition=maybe_span(when.args.get("condition")),
        assignments=assigned,
        span=span_of(when),
    )


def _action(then: Any, text: str) -> tuple[s.MergeAction, tuple[s.Assignment, ...]]:
    if isinstance(then, exp.Update):
        if isinstance(then.args["expressions"], exp.Star):
            return s.MergeAction.UPDATE_ALL, ()
        return s.MergeAction.UPDATE, _assignments(then.expressions, text)
    if isinstance(then, exp.Insert):
        if isinstance(then.this, exp.Star):
            return s.MergeAction.INSERT_ALL, ()
        pairs = zip(then.this.expressions, then.expression.expressions, strict=True)
        return s.MergeAction.INSERT, tuple(_assignment(key, value, text) for key, value in pairs)
    return s.MergeAction.DELETE, ()


FORMS: dict[type, Callable[[Any, str, ColumnValues], Statement]] = {
    exp.Delete: _delete,
    exp.Update: _update,
    exp.Insert: _insert,
    nodes.MultiInsert: _multi_insert,
    exp.Merge: _merge,
    nodes.EvolvingMerge: _merge,
}
