"""MERGE INTO as Spark's own join: each joined row gets the number of the clause that takes it, and the values it comes back with.

The join, the conditions and the source are evaluated once: few rows come to the driver with their new values, many are kept by Spark
for the statement's duration. Unless many are likely, few are tried first.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow.compute as pc
from pyspark.sql import DataFrame

from icesql.errors import ValidationError
from icesql.expr.tree import TRUE
from icesql.spark.jvm.types import sql_type, to_spark_type
from icesql.spark.read.columns import quoted
from icesql.spark.row_level.affected_rows import POS, AffectedRows, affected_rows, may_be_many
from icesql.spark.row_level.assignments import assigned_columns
from icesql.spark.row_level.changes import COPY_ON_WRITE, RowLevelResult, change, check_changes, check_distribution, mode_of, written
from icesql.spark.row_level.checks import require_deterministic, require_deterministic_columns
from icesql.spark.row_level.few_rows import first_rows, in_driver, most_in_driver
from icesql.spark.row_level.field_order import in_order_of
from icesql.spark.row_level.file_numbers import FILE_NUMBER
from icesql.spark.row_level.merge_clauses import Action, Clause, ClauseKind, inserted_columns
from icesql.spark.row_level.merge_metrics import copied_rows, merge_metrics
from icesql.spark.row_level.merge_values import ACTION, MATCHED, JoinedRows, new_rows, partition_values, value_name
from icesql.spark.row_level.target import ROW_ID, Target
from icesql.spark.write.store_assignment import assigned_frame
from icesql.spark_errors import spark_message
from icesql.spec.types import ListType, MapType, PrimitiveType, StructType, Type
from icesql.table.after_commit import after_commit
from icesql.table.changes.append import AppendFiles

CARDINALITY = spark_message(
    "MERGE_CARDINALITY_VIOLATION",
    "The ON search condition of the MERGE statement matched a single row from the target table "
    "with multiple rows of the source table. This could result in the target row being operated on more than once "
    "with an update or delete operation and is not allowed.",
)
_SOURCE = "__in_source"
_KEYS = (MATCHED, ACTION)
_NONE = 0


def merge_rows(
    target: Target, source: str, source_alias: str, condition: str, clauses: Sequence[Clause], source_rows: DataFrame | None = None
) -> RowLevelResult:
    """``source``: text of a FROM item, perhaps with its alias, by which expressions name it. Columns that an INSERT leaves out
    get their write default, else null. ``source_rows``: the source as a frame, where the caller has it already.

    The merge itself is not committed yet. Raises Spark's AnalysisException for expressions that do not fit, ValidationError
    ``MERGE_CARDINALITY_VIOLATION`` where a target row matches several source rows.
    """
    if {clause.kind for clause in clauses} == {ClauseKind.NOT_MATCHED}:
        check_distribution(target, "write")
    else:
        check_changes(target, "merge")
    source_rows = source_rows or target.sql(f"SELECT * FROM {source}")
    try:
        return _Merge(target, source, source_alias, source_rows, condition, tuple(clauses)).run()
    finally:
        target.close()


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
            require_deterministic_columns(joined, ACTION)  # the values of a plain append may be up to chance
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
            return self._result(JoinedRows(kept, affected_rows(kept, self.target.files, many=many, keys=_KEYS)))
        finally:
            with after_commit("free the rows that MERGE kept in memory"):
                kept.unpersist()

    def _few(self, joined: DataFrame) -> JoinedRows | None:
        """The rows in the driver, if they are few enough."""
        columns = partition_values(self.target) if self._only_inserts or not self._copies else []
        rows = joined.select("*", *columns) if columns else joined
        most = most_in_driver(self.target, len(rows.columns), self.source_rows)
        values = None if most == 0 else in_driver(first_rows(rows, most), most)
        if values is None:
            return None
        return JoinedRows(joined, AffectedRows(values.select([FILE_NUMBER, POS, *_KEYS]), self.target.files), values)

    # -- the join ------------------------------------------------------------------------------------------------
    @property
    def _join(self) -> str:
        """Rows of the target that no source row matches are needed by NOT MATCHED BY SOURCE only, source rows by NOT MATCHED only."""
        if ClauseKind.NOT_MATCHED_BY_SOURCE in self.kinds:
            return "FULL OUTER JOIN" if ClauseKind.NOT_MATCHED in self.kinds else "LEFT OUTER JOIN"
        if ClauseKind.NOT_MATCHED not in self.kinds:
            return "INNER JOIN"
        return "LEFT ANTI JOIN" if self.kinds == {ClauseKind.NOT_MATCHED} else "RIGHT OUTER JOIN"

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
        values = [f"{self._value(i)} AS {value_name(i)}" for i in range(self.width)]
        query = f"SELECT {', '.join([*place, f'{matched} AS {MATCHED}', f'{self._action()} AS {ACTION}', *values])} FROM {self._from()}"
        keep = f"{ACTION} <> {_NONE} OR {MATCHED}" if self._checks_cardinality or self._copies else f"{ACTION} <> {_NONE}"
        return self.target.sql(f"SELECT * FROM ({query}) WHERE {keep}")

    def _place_columns(self) -> list[tuple[str, str]]:
        return [(FILE_NUMBER, "INT"), (POS, "BIGINT"), *([(ROW_ID, "BIGINT")] if self.target.keeps_lineage else [])]

    def _action(self) -> str:
        """The number (from 1) of the first clause of the row's kind whose condition is true, else 0."""
        alias = quoted(self.target.alias)
        in_target = "false" if self._join == "LEFT ANTI JOIN" else f"{alias}.{FILE_NUMBER} IS NOT NULL"
        tests = {
            ClauseKind.MATCHED: f"{in_target} AND {_SOURCE} IS NOT NULL",
            ClauseKind.NOT_MATCHED: f"NOT ({in_target})",
            ClauseKind.NOT_MATCHED_BY_SOURCE: f"{in_target} AND {_SOURCE} IS NULL",
        }
        branches = []
        for number, clause in enumerate(self.clauses, 1):
            kind = tests[ClauseKind(clause.kind)]
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
        return f"CASE {ACTION} {' '.join(branches)} END" if branches else "NULL"

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
        sees_both_sides = clause.kind is ClauseKind.MATCHED  # as the whole join does, which is analysed anyway
        values = [] if clause.action is Action.DELETE else self._clause_values(clause)
        if (clause.condition is None or sees_both_sides) and (clause.action is Action.DELETE or self._fit_as_they_are(values)):
            return values
        source = self.source if clause.kind is ClauseKind.NOT_MATCHED else self._sides(ClauseKind(clause.kind))
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

    def _sides(self, kind: ClauseKind) -> str:
        if kind is ClauseKind.NOT_MATCHED_BY_SOURCE:
            return self.target.relation
        return f"{self.target.relation} JOIN {self.source} ON {self.condition}"

    @property
    def _checks_cardinality(self) -> bool:
        """Not needed where every matched row is deleted whatever it matched, nor where none is touched."""
        matched = [clause for clause in self.clauses if clause.kind is ClauseKind.MATCHED]
        only_delete = len(matched) == 1 and matched[0].action is Action.DELETE and matched[0].condition is None
        return bool(matched) and not only_delete

    # -- the result ----------------------------------------------------------------------------------------------
    def _result(self, joined: JoinedRows) -> RowLevelResult:
        rows = joined.places
        if self._checks_cardinality and rows.where(rows.column(MATCHED)).positions()[1]:
            raise ValidationError(CARDINALITY)
        taken = [rows.where(pc.equal(rows.column(ACTION), n)).count for n in range(1, len(self.clauses) + 1)]
        deleted_positions = rows.where(pc.greater(rows.column(ACTION), _NONE)).positions()[0]
        replaced = self._replaced(rows) if self._copies else frozenset()
        adding_clauses = [
            n for n, (clause, count) in enumerate(zip(self.clauses, taken, strict=True), 1) if clause.action is not Action.DELETE and count
        ]
        added_rows = new_rows(self.target, joined, adding_clauses) if adding_clauses else None
        new_row_count = sum(taken[n - 1] for n in adding_clauses)
        if self._only_inserts:
            files = [] if added_rows is None else written(self.target, "write", added_rows, new_row_count)
            append = AppendFiles(self.target.table.operations, self.target.table.version).append_files(files)
            return RowLevelResult(builder=append)
        copied = copied_rows(self.target, deleted_positions, replaced) if self._copies else 0
        builder = change(self.target, "merge", deleted_positions, added_rows, replaced, new_row_count=new_row_count)
        return RowLevelResult(builder=builder, metrics=merge_metrics(self.clauses, taken, copied))

    @property
    def _only_inserts(self) -> bool:
        """No change of rows but a plain append, as an INSERT would be."""
        return self.kinds == {ClauseKind.NOT_MATCHED}

    @property
    def _copies(self) -> bool:
        return mode_of(self.target, "merge") == COPY_ON_WRITE

    def _replaced(self, rows: AffectedRows) -> frozenset[str]:
        """Files that copy-on-write replaces: those with a row of a kind that has clauses, whether or not a clause takes the row.

        The runtime does the same, and row ids are counted by it.
        """
        if ClauseKind.NOT_MATCHED_BY_SOURCE in self.kinds:
            # Spark asks for fewer files where it sees that no clause can take a row. The plan stays: conflicts are looked for under it.
            self.target.read.planner.tasks(TRUE)
            return frozenset(self.target.planned_tasks())
        return rows.where(rows.column(MATCHED)).paths()
