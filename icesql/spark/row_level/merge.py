"""MERGE INTO as Spark's own join: each joined row gets the number of the clause that takes it, and the values it comes back with.

The join, the conditions and the source are evaluated once: few rows come to the driver with their new values, many are kept by Spark
for the statement's duration. Which of the two it is, is found by trying, unless many are likely.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType as SparkLong
from pyspark.sql.types import StructField
from pyspark.sql.types import StructType as SparkStruct

from icesql.errors import ValidationError
from icesql.spark.columns import quoted
from icesql.spark.distribution import partition_columns
from icesql.spark.local_rows import arrow_frame
from icesql.spark.row_level.assignments import Assignment, assigned_columns, below_table
from icesql.spark.row_level.changes import COPY_ON_WRITE, RowLevelResult, change, check_distribution, mode_of, written
from icesql.spark.row_level.checks import require_deterministic, require_deterministic_columns
from icesql.spark.row_level.few_rows import NewRows, first_rows, in_driver, most_in_driver
from icesql.spark.row_level.field_order import in_order_of
from icesql.spark.row_level.file_numbers import FILE_NUMBER
from icesql.spark.row_level.found_rows import POS, FoundRows, found_rows, may_be_many
from icesql.spark.row_level.target import LAST_UPDATED, ROW_ID, Target
from icesql.spark.store_assignment import assigned_frame, lineage_schema
from icesql.spark.types import from_spark, sql_type, to_spark_type
from icesql.spec.types import ListType, MapType, PrimitiveType, StructType, Type
from icesql.table.append import AppendFiles

CARDINALITY = (
    "[MERGE_CARDINALITY_VIOLATION] The ON search condition of the MERGE statement matched a single row from the target table "
    "with multiple rows of the source table. This could result in the target row being operated on more than once "
    "with an update or delete operation and is not allowed. SQLSTATE: 23K01"
)
_ACTION, _MATCHED, _SOURCE = "__action", "__matched", "__in_source"
_KEYS = (_MATCHED, _ACTION)
_NONE = 0


def _value_name(place: int) -> str:
    """The column of the join that holds a table column's new value."""
    return f"__value_{place}"


class Kind(str, Enum):
    MATCHED = "matched"
    NOT_MATCHED = "not matched"
    NOT_MATCHED_BY_SOURCE = "not matched by source"


class Action(str, Enum):
    """``*`` forms take every column of the table by its name in the source."""

    DELETE = "delete"
    UPDATE = "update"
    UPDATE_ALL = "update *"
    INSERT = "insert"
    INSERT_ALL = "insert *"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One WHEN clause; kind and action may be given as their text. ``condition``: SQL text."""

    kind: Kind | str
    action: Action | str
    condition: str | None = None
    assignments: tuple[Assignment, ...] = ()


def merge_rows(
    target: Target,
    source: str,
    source_alias: str | None,
    condition: str,
    clauses: Sequence[Clause],
    *,
    schema_evolution: bool = False,
    source_rows: DataFrame | None = None,
) -> RowLevelResult:
    """``source``: text of a FROM item, perhaps with its alias, by which expressions name it. Columns that an INSERT leaves out
    get their write default, else null. With ``schema_evolution`` the table first gets the columns and wider types of the
    source, in a commit of its own. ``source_rows``: the source as a frame, where the caller has it already.

    The merge itself is not committed yet. Raises Spark's AnalysisException for expressions that do not fit, ValidationError
    ``MERGE_CARDINALITY_VIOLATION`` where a target row matches several source rows.
    """
    alias = source_alias or _last_name(source)
    evolved = schema_evolution and evolve(target, source, clauses)
    source_rows = source_rows or target.sql(f"SELECT * FROM {source}")
    columns = source_rows.columns if evolved or schema_evolution else None
    clauses = [_written_out(target, alias, clause, columns) for clause in clauses]
    check_distribution(target, "write" if {clause.kind for clause in clauses} == {Kind.NOT_MATCHED} else "merge")
    try:
        return _Merge(target, source, alias, source_rows, condition, tuple(clauses)).run()
    finally:
        target.close()


def _last_name(source: str) -> str:
    """The name a FROM item without an alias goes by."""
    found = re.search(r"(?:`((?:[^`]|``)+)`|([\w$]+))\s*$", source)
    return "__source" if found is None else (found[1] or "").replace("``", "`") or found[2]


def evolve(target: Target, source: str, clauses: Sequence[Clause]) -> bool:
    """Add the source's columns to the table if a ``*`` clause takes them and the table allows it. True if the schema changed."""
    takes_all = any(Action(clause.action) in (Action.UPDATE_ALL, Action.INSERT_ALL) for clause in clauses)
    if not takes_all or target.metadata.properties.get("write.spark.auto-schema-evolution.enabled", "true").lower() != "true":
        return False
    before = target.metadata.current_schema_id
    target.table.update_schema().union_by_name_with(from_spark(target.sql(f"SELECT * FROM {source}").schema)).commit()
    return target.metadata.current_schema_id != before


def _written_out(target: Target, source_alias: str, clause: Clause, known: Sequence[str] | None) -> Clause:
    """The clause with ``*`` written out. ``known``: columns of the source, where those it lacks are left alone (schema evolution)."""
    kind, action = Kind(clause.kind), Action(clause.action)
    if action not in (Action.UPDATE_ALL, Action.INSERT_ALL):
        return replace(clause, kind=kind, action=action)
    present = None if known is None else {target.key(name) for name in known}
    assignments = tuple(
        Assignment((f.name,), f"{quoted(source_alias)}.{quoted(f.name)}")
        for f in target.metadata.schema.fields
        if present is None or target.key(f.name) in present
    )
    plain = Action.UPDATE if action is Action.UPDATE_ALL else Action.INSERT
    return replace(clause, kind=kind, action=plain, assignments=assignments)


@dataclass(frozen=True, slots=True)
class _Found:
    """The rows that clauses take: as a frame, their places, and ``values``, all columns of all of them, if they are few."""

    frame: DataFrame
    places: FoundRows
    values: pa.Table | None = None


class _Merge:
    def __init__(
        self, target: Target, source: str, source_alias: str, source_rows: DataFrame, condition: str, clauses: tuple[Clause, ...]
    ) -> None:
        self.target, self.source_rows, self.clauses, self.condition = target, source_rows, clauses, condition
        self.source = f"(SELECT *, true AS {_SOURCE} FROM {source}) AS {quoted(source_alias)}"
        self.source_alias = source_alias
        self.kinds = {clause.kind for clause in clauses}
        self.schema = target.metadata.schema
        self.width = len(self.schema.fields)

    def run(self) -> RowLevelResult:
        self._values = {n: self._checked_values(clause) for n, clause in enumerate(self.clauses, 1)}
        joined = self._joined()
        if self._only_inserts:
            require_deterministic_columns(joined, _ACTION)  # the values of a plain append may be up to chance
        elif self._copies:
            require_deterministic(joined)
        else:
            require_deterministic_columns(joined)
        few = self._few(joined)
        if few is not None:
            return self._result(few)
        kept = joined.persist()
        try:
            many = may_be_many(self.target.snapshot, self.source_rows)
            return self._result(_Found(kept, found_rows(kept, self.target.files, many=many, keys=_KEYS)))
        finally:
            kept.unpersist()

    def _few(self, joined: DataFrame) -> _Found | None:
        """The rows in the driver, if they are few enough."""
        columns = self._partition_columns() if self._only_inserts or not self._copies else []
        rows = joined.select("*", *columns) if columns else joined
        most = most_in_driver(self.target, len(rows.columns), self.source_rows)
        values = None if most == 0 else in_driver(first_rows(rows, most), most)
        if values is None:
            return None
        return _Found(joined, FoundRows(values.select([FILE_NUMBER, POS, *_KEYS]), self.target.files), values)

    def _partition_columns(self) -> list[Column]:
        """The partition values of the rows that come, for those who write them in the driver."""
        if not self._values_are_ready:
            return []
        places = {field.id: place for place, field in enumerate(self.schema.fields)}
        return partition_columns(self.target.spark, self.schema, self.target.metadata.spec, lambda i: F.col(_value_name(places[i])))

    @property
    def _values_are_ready(self) -> bool:
        """Whether the values of the join are of the table's types, so that all that is left to check of them is nulls."""
        return all(isinstance(field.type, PrimitiveType) for field in self.schema.fields)

    # -- the join ------------------------------------------------------------------------------------------------
    @property
    def _join(self) -> str:
        """Rows of the target that no source row matches are needed by NOT MATCHED BY SOURCE only, source rows by NOT MATCHED only."""
        if Kind.NOT_MATCHED_BY_SOURCE in self.kinds:
            return "FULL OUTER JOIN" if Kind.NOT_MATCHED in self.kinds else "LEFT OUTER JOIN"
        if Kind.NOT_MATCHED not in self.kinds:
            return "INNER JOIN"
        return "LEFT ANTI JOIN" if self.kinds == {Kind.NOT_MATCHED} else "RIGHT OUTER JOIN"

    def _from(self) -> str:
        if self._join == "LEFT ANTI JOIN":
            return f"{self.source} LEFT ANTI JOIN {self.target.relation} ON {self.condition}"
        return f"{self.target.relation} {self._join} {self.source} ON {self.condition}"

    def _joined(self) -> DataFrame:
        """Rows that some clause takes, and matched rows that none takes where cardinality must be checked."""
        alias = quoted(self.target.alias)
        target_side = self._join != "LEFT ANTI JOIN"
        place = [
            f"{alias}.{name} AS {name}" if target_side else f"CAST(NULL AS {type_}) AS {name}" for name, type_ in self._place_columns()
        ]
        matched = f"({alias}.{FILE_NUMBER} IS NOT NULL AND {_SOURCE} IS NOT NULL)" if target_side else "false"
        values = [f"{self._value(i)} AS {_value_name(i)}" for i in range(self.width)]
        query = f"SELECT {', '.join([*place, f'{matched} AS {_MATCHED}', f'{self._action()} AS {_ACTION}', *values])} FROM {self._from()}"
        keep = f"{_ACTION} <> {_NONE} OR {_MATCHED}" if self._checks_cardinality or self._copies else f"{_ACTION} <> {_NONE}"
        return self.target.sql(f"SELECT * FROM ({query}) WHERE {keep}")

    def _place_columns(self) -> list[tuple[str, str]]:
        return [(FILE_NUMBER, "INT"), (POS, "BIGINT"), *([(ROW_ID, "BIGINT")] if self.target.keeps_lineage else [])]

    def _action(self) -> str:
        """The number (from 1) of the first clause of the row's kind whose condition is true, else 0."""
        alias = quoted(self.target.alias)
        in_target = "false" if self._join == "LEFT ANTI JOIN" else f"{alias}.{FILE_NUMBER} IS NOT NULL"
        tests = {
            Kind.MATCHED: f"{in_target} AND {_SOURCE} IS NOT NULL",
            Kind.NOT_MATCHED: f"NOT ({in_target})",
            Kind.NOT_MATCHED_BY_SOURCE: f"{in_target} AND {_SOURCE} IS NULL",
        }
        branches = []
        for number, clause in enumerate(self.clauses, 1):
            kind = tests[Kind(clause.kind)]
            test = kind if clause.condition is None else f"{kind} AND ({clause.condition})"
            branches.append(f"WHEN {test} THEN {number}")
        return f"CASE {' '.join(branches)} ELSE {_NONE} END"

    def _value(self, place: int) -> str:
        """One column's value by the clause that takes the row; null where the row is deleted."""
        branches = [
            f"WHEN {number} THEN {self._typed(self._values[number][place], self.schema.fields[place].type)}"
            for number, clause in enumerate(self.clauses, 1)
            if clause.action is not Action.DELETE
        ]
        return f"CASE {_ACTION} {' '.join(branches)} END" if branches else "NULL"

    def _typed(self, value: str, wanted: Type) -> str:
        """In the column's own type, so that the clauses' types need not agree. Whether they may be assigned was checked before."""
        return value if isinstance(wanted, StructType | ListType | MapType) else f"CAST({value} AS {sql_type(wanted)})"

    def _clause_values(self, clause: Clause) -> list[str]:
        if clause.action is Action.UPDATE:
            return assigned_columns(self.schema, clause.assignments, self.target.alias, named=False, key=self.target.key)
        return inserted_columns(self.target, clause.assignments)

    # -- checks --------------------------------------------------------------------------------------------------
    def _checked_values(self, clause: Clause) -> list[str]:
        """SQL text of the columns that a clause sets, struct fields in the columns' own order; none for DELETE.

        Store assignment is checked for each clause by itself, so that a CASE over all of them cannot hide a type that does not fit.
        """
        sees_both_sides = clause.kind is Kind.MATCHED  # as the whole join does, which is analysed anyway
        values = [] if clause.action is Action.DELETE else self._clause_values(clause)
        if (clause.condition is None or sees_both_sides) and (clause.action is Action.DELETE or self._fit_as_they_are(values)):
            return values
        source = self.source if clause.kind is Kind.NOT_MATCHED else self._sides(Kind(clause.kind))
        where = "" if clause.condition is None else f" WHERE {clause.condition}"
        if clause.action is Action.DELETE:
            self.target.sql(f"SELECT 1 FROM {source}{where}")  # a condition sees only the sides that its kind of row has
            return []
        named = [f"{v} AS {quoted(f.name)}" for v, f in zip(values, self.schema.fields, strict=True)]
        frame = self.target.sql(f"SELECT {', '.join(named)} FROM {source}{where}")
        assigned_frame(self.target.spark, frame, self.schema, table_name=self.target.table.name, by_name=True, fill=False)
        if all(isinstance(field.type, PrimitiveType) for field in self.schema.fields):
            return values
        wanted = [to_spark_type(field.type) for field in self.schema.fields]
        return [in_order_of(*each) for each in zip(values, [given.dataType for given in frame.schema.fields], wanted, strict=True)]

    def _fit_as_they_are(self, values: Sequence[str]) -> bool:
        """True if the values are the source's columns of the table's names and types, and none of them is required."""
        given = {field.name: field.dataType for field in self.source_rows.schema.fields}
        return all(
            isinstance(field.type, PrimitiveType)
            and field.optional
            and value in (column := f"{quoted(self.source_alias)}.{quoted(field.name)}", f"({column})")
            and given.get(field.name) == to_spark_type(field.type)
            for field, value in zip(self.schema.fields, values, strict=True)
        )

    def _sides(self, kind: Kind) -> str:
        if kind is Kind.NOT_MATCHED_BY_SOURCE:
            return self.target.relation
        return f"{self.target.relation} JOIN {self.source} ON {self.condition}"

    @property
    def _checks_cardinality(self) -> bool:
        """Not needed where every matched row is deleted whatever it matched, nor where none is touched."""
        matched = [clause for clause in self.clauses if clause.kind is Kind.MATCHED]
        only_delete = len(matched) == 1 and matched[0].action is Action.DELETE and matched[0].condition is None
        return bool(matched) and not only_delete

    # -- the result ----------------------------------------------------------------------------------------------
    def _result(self, found: _Found) -> RowLevelResult:
        rows = found.places
        if self._checks_cardinality and rows.where(rows.column(_MATCHED)).positions()[1]:
            raise ValidationError(CARDINALITY)
        taken = [rows.where(pc.equal(rows.column(_ACTION), n)).count for n in range(1, len(self.clauses) + 1)]
        gone = rows.where(pc.greater(rows.column(_ACTION), _NONE)).positions()[0]
        replaced = self._replaced(rows) if self._copies else frozenset()
        comes = [
            n for n, (clause, count) in enumerate(zip(self.clauses, taken, strict=True), 1) if clause.action is not Action.DELETE and count
        ]
        come = self._new_rows(found, comes) if comes else None
        coming = sum(taken[n - 1] for n in comes)
        if self._only_inserts:
            files = [] if come is None else written(self.target, "write", come, coming)
            append = AppendFiles(self.target.table.operations, self.target.table.version).append_files(files)
            return RowLevelResult(builder=append)
        builder = change(self.target, "merge", gone, come, replaced, coming=coming)
        return RowLevelResult(builder=builder, metrics=self._metrics(taken, gone, replaced))

    @property
    def _only_inserts(self) -> bool:
        """No change of rows but a plain append, as an INSERT would be."""
        return self.kinds == {Kind.NOT_MATCHED}

    @property
    def _copies(self) -> bool:
        return mode_of(self.target, "merge") == COPY_ON_WRITE

    def _replaced(self, rows: FoundRows) -> frozenset[str]:
        """Files that copy-on-write replaces: those with a row of a kind that has clauses, whether or not a clause takes the row.

        The runtime does the same, and row ids are counted by it.
        """
        if Kind.NOT_MATCHED_BY_SOURCE in self.kinds:
            return frozenset(self.target.planned_tasks())
        return rows.where(rows.column(_MATCHED)).paths()

    def _new_rows(self, found: _Found, numbers: Sequence[int]) -> DataFrame | NewRows:
        """What the clauses of those numbers bring."""
        if found.values is None:
            return self._fitted(found.frame, numbers)
        columns = found.frame.columns
        rows = found.values.filter(pc.is_in(found.values[_ACTION], pa.array(numbers, found.values[_ACTION].type)))
        if self._values_are_ready and not self._lacks_values(rows):
            return self._ready(rows, found)
        return self._fitted(arrow_frame(self.target.spark, rows.select(columns), found.frame.schema), numbers)

    def _lacks_values(self, rows: pa.Table) -> bool:
        """Whether a required column has a null."""
        return any(field.required and rows[_value_name(i)].null_count for i, field in enumerate(self.schema.fields))

    def _ready(self, rows: pa.Table, found: _Found) -> NewRows:
        values = {field.name: rows[_value_name(i)] for i, field in enumerate(self.schema.fields)}
        if self.target.keeps_lineage:
            values |= {ROW_ID: rows[ROW_ID], LAST_UPDATED: pa.nulls(len(rows), pa.int64())}
        fields = [StructField(field.name, to_spark_type(field.type)) for field in self.schema.fields]
        if self.target.keeps_lineage:
            fields += [StructField(name, SparkLong()) for name in (ROW_ID, LAST_UPDATED)]
        partition = rows.select(range(len(found.frame.columns), rows.num_columns))
        table = pa.Table.from_arrays([*values.values(), *partition.columns], [*values, *partition.column_names])
        return NewRows(self.target.spark, table, SparkStruct(fields))

    def _fitted(self, frame: DataFrame, numbers: Sequence[int]) -> DataFrame:
        names = [f.name for f in self.schema.fields]
        values = [f"{_value_name(i)} AS {quoted(name)}" for i, name in enumerate(names)]
        lineage = [ROW_ID, f"CAST(NULL AS BIGINT) AS {LAST_UPDATED}"] if self.target.keeps_lineage else []
        rows = frame.where(f"{_ACTION} IN ({', '.join(map(str, numbers))})").selectExpr(*values, *lineage)
        schema = lineage_schema(self.schema) if self.target.keeps_lineage else self.schema
        return assigned_frame(self.target.spark, rows, schema, table_name=self.target.table.name, by_name=True, fill=False)

    def _metrics(self, taken: Sequence[int], gone: Mapping[str, Any], replaced: frozenset[str]) -> dict[str, int]:
        """``taken``: how many rows each clause took."""
        counts = dict.fromkeys(_METRICS, 0)
        for clause, count in zip(self.clauses, taken, strict=True):
            for key in _counted(clause):
                counts[key] += count
        counts["copied"] = self._copied(gone, replaced) if self._copies else 0
        return {f"spark.merge-into.num-target-rows-{key}": count for key, count in counts.items()}

    def _copied(self, gone: Mapping[str, Any], replaced: frozenset[str]) -> int:
        """Rows that copy-on-write carries over unchanged."""
        tasks = self.target.planned_tasks()
        total = 0
        for path in gone.keys() | replaced:
            deleted = self.target.existing_deletes.bitmap(tasks[path])
            total += tasks[path].data_file.record_count - len(gone.get(path, ())) - (len(deleted) if deleted else 0)
        return total


_METRICS = (
    "copied", "deleted", "updated", "inserted", "matched-updated", "matched-deleted", "not-matched-by-source-updated",
    "not-matched-by-source-deleted",
)  # fmt: skip


def _counted(clause: Clause) -> tuple[str, ...]:
    """The metrics that count a row which the clause takes."""
    if clause.action is Action.INSERT:
        return ("inserted",)
    verb = "updated" if clause.action is Action.UPDATE else "deleted"
    prefix = "matched" if clause.kind is Kind.MATCHED else "not-matched-by-source"
    return (verb, f"{prefix}-{verb}")


def inserted_columns(target: Target, assignments: Sequence[Assignment]) -> list[str]:
    """SQL text of every column of an inserted row. Raises as ``assigned_columns``; ValidationError for a nested key."""
    from icesql.spark.defaults import sql_literal

    schema = target.metadata.schema
    assignments = [Assignment(below_table(schema, a.column, target.alias, target.key), a.value) for a in assignments]
    nested = next((a for a in assignments if len(a.column) > 1), None)
    if nested is not None:
        raise ValidationError(f"INSERT assignment keys cannot be nested fields: {'.'.join(nested.column)} = {nested.value}")
    texts = assigned_columns(schema, assignments, target.alias, named=False, key=target.key)
    assigned = {target.key(a.column[0]) for a in assignments}
    return [
        text if target.key(field.name) in assigned else sql_literal(field.type, field.write_default)
        for text, field in zip(texts, schema.fields, strict=True)
    ]
