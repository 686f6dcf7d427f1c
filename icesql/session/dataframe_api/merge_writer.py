"""A writer with the verbs of Spark's MergeIntoWriter. Its Columns become calls in the expressions of a frozen MERGE statement."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icesql.errors import SqlError
from icesql.parser import statements as s
from icesql.parser.statements import MergeAction, MergeKind
from icesql.parser.text.edits import quote
from icesql.parser.text.identifiers import parse_name
from icesql.session.dispatch import run_statement
from icesql.session.resolve.resolved import MetadataTable, Missing, ResolvedTable, SparkOwned, StoredView, TemporaryView
from icesql.session.resolve.resolver import not_found, readable, resolve
from icesql.session.run.dml.merge import subquery_in_condition
from icesql.spark.functions.column_functions import ColumnFunctions
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from icesql.session.session import Session
    from icesql.session.state.session_state import SessionState

_ORDER = (MergeKind.MATCHED, MergeKind.NOT_MATCHED, MergeKind.NOT_MATCHED_BY_SOURCE)
_SPARKS_VERBS = {
    MergeKind.MATCHED: "whenMatched",
    MergeKind.NOT_MATCHED: "whenNotMatched",
    MergeKind.NOT_MATCHED_BY_SOURCE: "whenNotMatchedBySource",
}
_ALL = {"UPDATE": MergeAction.UPDATE_ALL, "INSERT": MergeAction.INSERT_ALL}
_SOME = {"UPDATE": MergeAction.UPDATE, "INSERT": MergeAction.INSERT}
_SUBQUERIES = frozenset({"ListQuery", "ScalarSubquery", "Exists"})


@dataclass(frozen=True, slots=True)
class _Clause:
    """``action``: DELETE, UPDATE or INSERT; ``assignments`` are ``None`` for ``*``."""

    kind: MergeKind
    condition: Column | None
    action: str
    assignments: Mapping[str, Column] | None = None


class MergeWriter:
    """``session.merge_into(df, "db.t", F.col("t.id") == df.id).whenMatched().updateAll().whenNotMatched().insertAll().merge()``"""

    def __init__(self, session: Session, frame: DataFrame, name: str, condition: Column) -> None:
        self._session, self._frame, self._name, self._condition = session, frame, name, condition
        self._clauses: list[_Clause] = []
        self._evolves = False

    def whenMatched(self, condition: Column | None = None) -> WhenMatched:
        return WhenMatched(self, MergeKind.MATCHED, condition)

    def whenNotMatched(self, condition: Column | None = None) -> WhenNotMatched:
        return WhenNotMatched(self, MergeKind.NOT_MATCHED, condition)

    def whenNotMatchedBySource(self, condition: Column | None = None) -> WhenMatched:
        return WhenMatched(self, MergeKind.NOT_MATCHED_BY_SOURCE, condition)

    def withSchemaEvolution(self) -> MergeWriter:
        self._evolves = True
        return self

    def merge(self) -> None:
        """One commit. Raises as MERGE does."""
        if not self._clauses:
            raise SqlError(
                spark_message(
                    "NO_MERGE_ACTION_SPECIFIED",
                    "df.mergeInto needs to be followed by at least one of whenMatched/whenNotMatched/whenNotMatchedBySource.",
                )
            )
        with self._session.statement() as state, state.view_of(self._frame) as view, ColumnFunctions(state.spark) as functions:
            parts = tuple(parse_name(self._name))
            match resolve(state, parts):
                case SparkOwned():
                    self._merge_by_spark()
                case TemporaryView() if state.temporary_views.find(parts) is None:
                    self._merge_by_spark()
                case Missing():
                    raise not_found(state, parts)
                case ResolvedTable() | MetadataTable() | StoredView() | TemporaryView():
                    run_statement(state, _Frozen(state, self._frame, parts, view, functions).statement(self))

    def _merge_by_spark(self) -> None:
        writer = self._frame.mergeInto(self._name, self._condition)
        for clause in self._clauses:
            when = getattr(writer, _SPARKS_VERBS[clause.kind])(clause.condition)
            verb = clause.action.lower() + ("All" if clause.assignments is None and clause.action != "DELETE" else "")
            writer = getattr(when, verb)(*(() if clause.assignments is None else (clause.assignments,)))
        (writer.withSchemaEvolution() if self._evolves else writer).merge()

    def _with(self, clause: _Clause) -> MergeWriter:
        self._clauses.append(clause)
        return self


class _When:
    def __init__(self, writer: MergeWriter, kind: MergeKind, condition: Column | None) -> None:
        self._writer, self._kind, self._condition = writer, kind, condition

    def _then(self, action: str, assignments: Mapping[str, Column] | None = None) -> MergeWriter:
        return self._writer._with(_Clause(self._kind, self._condition, action, assignments))


class WhenMatched(_When):
    """Also for rows that no row of the source matches, which have no ``updateAll`` that could be done."""

    def updateAll(self) -> MergeWriter:
        return self._then("UPDATE")

    def update(self, assignments: Mapping[str, Column]) -> MergeWriter:
        return self._then("UPDATE", assignments)

    def delete(self) -> MergeWriter:
        return self._then("DELETE")


class WhenNotMatched(_When):
    def insertAll(self) -> MergeWriter:
        return self._then("INSERT")

    def insert(self, assignments: Mapping[str, Column]) -> MergeWriter:
        return self._then("INSERT", assignments)


class _Frozen:
    """The frozen statement of a merge; its text holds its expressions, one a line. ``view``: the temporary view that shows the frame."""

    def __init__(self, session: SessionState, frame: DataFrame, table: tuple[str, ...], view: str, functions: ColumnFunctions) -> None:
        self._frame, self._table, self._view, self._functions = frame, table, view, functions
        self._text = ""
        self._key: Callable[[str], str] = session.name_key
        target = readable(session, table)
        self._full_name = table if target is None else target.parts
        columns = [] if target is None else [field.name for field in target.table.schema.fields]
        self._columns, self._first_column = frozenset(self._keys(columns)), columns[0] if columns else ""

    def statement(self, writer: MergeWriter) -> s.Merge:
        for place, condition in (("SEARCH", writer._condition), *((clause.action, clause.condition) for clause in writer._clauses)):
            self._refuse_subquery(place, condition)
        source, condition = self._span(self._view), self._span(self._expression(writer._condition, MergeKind.MATCHED))
        kinds = [[clause for clause in writer._clauses if clause.kind is kind] for kind in _ORDER]
        clauses = tuple(self._clause(clause, is_last=clause is kind[-1]) for kind in kinds for clause in kind)
        return s.Merge(
            text=self._text,
            target=s.TableName(parts=self._table, start=0, end=0),
            schema_evolution=writer._evolves,
            source=source,
            source_alias=self._view,
            condition=condition,
            clauses=clauses,
        )

    def _span(self, expression: str) -> s.Span:
        """The place of an expression, added to the text."""
        start = len(self._text)
        self._text += f"{expression}\n"
        return s.Span(start, start + len(expression))

    def _clause(self, clause: _Clause, *, is_last: bool) -> s.MergeClause:
        """SQL has a condition on all but the last clause of a kind; here the first without one takes all the rows that are left."""
        start = len(self._text)
        condition = None if is_last else self._span("true")
        if clause.condition is not None:
            condition = self._span(self._expression(clause.condition, clause.kind))
        action, assignments = self._action(clause)
        return s.MergeClause(
            kind=clause.kind, action=action, condition=condition, assignments=assignments, span=s.Span(start, len(self._text))
        )

    def _action(self, clause: _Clause) -> tuple[MergeAction, tuple[s.Assignment, ...]]:
        if clause.action == "DELETE":
            return MergeAction.DELETE, ()
        if clause.assignments is None:
            return _ALL[clause.action], ()
        given = [(tuple(parse_name(key)), self._value(value, clause.kind)) for key, value in clause.assignments.items()]
        if not given:  # an UPDATE of nothing
            given = [((self._first_column,), quote(self._table[-1], self._first_column))]
        return _SOME[clause.action], tuple(self._assignment(column, value) for column, value in given)

    def _assignment(self, column: tuple[str, ...], value: str) -> s.Assignment:
        return s.Assignment(column=column, key=self._span(quote(*column)), value=self._span(value), is_default=value == "DEFAULT")

    def _refuse_subquery(self, place: str, condition: Column | None) -> None:
        if condition is None:
            return
        expression = self._functions.expression(condition)
        if not _SUBQUERIES.isdisjoint(self._functions.leaf_kinds(expression)):
            raise subquery_in_condition(place, str(expression.toString()))

    # -- Columns -------------------------------------------------------------------------------------------------
    def _expression(self, column: Column, kind: MergeKind) -> str:
        """A name of the source stays a name, for those who look at the statement; all else is a call."""
        functions = self._functions
        expression = functions.expression(column)
        if any(kind.startswith("UnresolvedStar") for kind in functions.leaf_kinds(expression)):
            raise SqlError(
                spark_message("INVALID_USAGE_OF_STAR_OR_REGEX", f"Invalid usage of '*' in MergeIntoTable: {expression.toString()}.")
            )
        if expression.nodeName() == "UnresolvedAttribute" and kind is not MergeKind.NOT_MATCHED_BY_SOURCE:
            ((_, parts),) = functions.names(expression)
            below = self._below_source(parts) if kind is MergeKind.NOT_MATCHED or self._below_target(parts) is None else None
            if below is not None:
                return quote(self._view, *below)
        meant = {leaf: column for leaf, parts in functions.names(expression) if (column := self._meant(parts, kind)) is not None}
        return functions.call(functions.replaced(expression, meant))

    def _value(self, column: Column, kind: MergeKind) -> str:
        expression = self._functions.expression(column)
        names = [parts for _, parts in self._functions.names(expression)]
        is_default = expression.nodeName() == "UnresolvedAttribute" and len(names[0]) == 1 and names[0][0].upper() == "DEFAULT"
        return "DEFAULT" if is_default else self._expression(column, kind)

    def _meant(self, parts: tuple[str, ...], kind: MergeKind) -> Any:
        """The column that a name means, ``None`` where Spark is to say that, or that it means none or two."""
        below = self._below_target(parts)
        is_bare = below == parts
        if below is not None and (not is_bare or kind is MergeKind.NOT_MATCHED_BY_SOURCE):
            return self._functions.name((self._table[-1], *below))
        if kind is MergeKind.NOT_MATCHED_BY_SOURCE or (is_bare and kind is MergeKind.MATCHED):
            return None
        return self._functions.column_of(self._frame, parts)

    def _below_target(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """The path below the table, if the name is one of its columns."""
        for length in range(len(parts) - 1, -1, -1):
            is_qualifier = self._keys(parts[:length]) == self._keys(self._full_name[len(self._full_name) - length :])
            if is_qualifier and self._key(parts[length]) in self._columns:
                return parts[length:]
        return None

    def _below_source(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        """The path below the frame, if the name is one of its columns and its first part names only that."""
        whole = self._functions.column_of(self._frame, parts)
        known = self._keys(self._frame.columns)
        for start in range(len(parts)) if whole is not None else ():
            if known.count(self._key(parts[start])) == 1:
                below = self._functions.column_of(self._frame, parts[start:])
                return parts[start:] if below is not None and below.semanticEquals(whole) else None
        return None

    def _keys(self, parts: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self._key, parts))
