"""The rules for ALTER TABLE: Iceberg's own forms first, then Spark's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.columns import Columns
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.text.tokens import Kind

_LARGEST_INT, _LARGEST_LONG = 2**31 - 1, 2**63 - 1
_UNITS = ("DAYS", "HOURS", "MINUTES")
_REF_VERBS = (("CREATE", "OR", "REPLACE"), ("CREATE",), ("REPLACE",), ("DROP",))


class AlterTable(Columns):
    def _is_iceberg_form(self) -> bool:
        """Whether a form that only Iceberg knows follows the table's name."""
        if self.at("WRITE") or self.at("SET", "IDENTIFIER") or self.at("DROP", "IDENTIFIER"):
            return True
        if any(self.at(verb, "PARTITION", "FIELD") for verb in ("ADD", "DROP", "REPLACE")):
            return True
        return any(self.at(*verb, kind) for verb in _REF_VERBS for kind in ("BRANCH", "TAG"))

    def alter_table(self) -> Any:
        self.expect("ALTER", "TABLE")
        table = self.table()
        self.is_ours_alone = self._is_iceberg_form()
        for words, rule in _FORMS:
            if self.accept(*words):
                change = rule(self, table)
                self.expect_end()
                return change
        if (partition := self._partition_before("SET", "LOCATION")) is not None:
            change = nodes.SetTableLocation(this=table, location=self.string(), partition=partition)
            self.expect_end()
            return change
        return self._refused(table) or self.no_alternative()

    # -- columns ---------------------------------------------------------------------------------------------------------
    def _add_columns(self, table: Any) -> Any:
        bracketed = self.accept("(")
        columns = self.columns()
        if bracketed:
            self.expect(")")
        return nodes.AddColumns(this=table, expressions=columns)

    def _replace_columns(self, table: Any) -> Any:
        self.expect("(")
        columns = self.columns()
        self.expect(")")
        self.expect_end()
        for column in columns:
            if any(isinstance(constraint.kind, exp.NotNullColumnConstraint) for constraint in column.args["constraints"]):
                self.fail("NOT NULL is not supported in Hive-style REPLACE COLUMNS.")
            if column.args.get("position") is not None:
                name = list(column.this.find_all(exp.Identifier, bfs=False))[-1].name
                self.fail(f"Operation not allowed: Column position is not supported in Hive-style REPLACE COLUMNS: {name}")
        return nodes.ReplaceColumns(this=table, expressions=columns)

    def _drop_columns(self, table: Any) -> Any:
        exists = self.if_exists()
        return nodes.DropColumns(this=table, expressions=self.in_brackets(self.path, optional=True), exists=exists)

    def _rename_column(self, table: Any) -> Any:
        column = self.path()
        self.expect("TO")
        return nodes.RenameColumn(this=table, column=column, to=self.identifier())

    def _alter_columns(self, table: Any) -> Any:
        hive = self.previous.key == "CHANGE"
        if not self.accept("COLUMN"):
            self.accept("COLUMNS")
        column = self.path()
        if hive and self.token.is_identifier and self.peek().kind is Kind.WORD and not self._begins_change():
            return nodes.AlterColumns(this=table, expressions=[self._hive_change(column)])
        changes = [self._change(column)]
        while self.accept(","):
            changes.append(self._change(self.path()))
        return nodes.AlterColumns(this=table, expressions=changes)

    def _begins_change(self) -> bool:
        if self.at("TYPE"):
            return self.peek().is_identifier
        return self.at("AFTER") or any(self.at(verb, what) for verb in ("SET", "DROP") for what in ("NOT", "DEFAULT"))

    def _change(self, column: Any) -> Any:
        if self.accept("TYPE"):
            return nodes.ColumnChange(this=column, dtype=self.data_type())
        if self.accept("COMMENT"):
            return nodes.ColumnChange(this=column, comment=self.string())
        if self.accept("SET", "NOT", "NULL"):
            return nodes.ColumnChange(this=column, set_not_null=True)
        if self.accept("DROP", "NOT", "NULL"):
            return nodes.ColumnChange(this=column, drop_not_null=True)
        if self.accept("SET", "DEFAULT"):
            return nodes.ColumnChange(this=column, default=self.default())
        if self.accept("DROP", "DEFAULT"):
            return nodes.ColumnChange(this=column, drop_default=True)
        position = self.column_position()
        if position is None:
            self.fail("Operation not allowed: ALTER TABLE table ALTER COLUMN requires a TYPE, a SET/DROP, a COMMENT, or a FIRST/AFTER.")
        return nodes.ColumnChange(this=column, position=position)

    def _hive_change(self, column: Any) -> Any:
        start = self.token
        definition = self.column(placed=True)
        last = list(column.find_all(exp.Identifier, bfs=False))[-1]
        if definition.name.lower() != last.name.lower():
            message = "Renaming column is not supported in Hive-style ALTER COLUMN, please run RENAME COLUMN instead."
            self.fail(f"Operation not allowed: {message}", start)
        if any(isinstance(constraint.kind, exp.NotNullColumnConstraint) for constraint in definition.args["constraints"]):
            message = "NOT NULL is not supported in Hive-style ALTER COLUMN, please run ALTER COLUMN ... SET/DROP NOT NULL instead."
            self.fail(f"Operation not allowed: {message}", start)
        return nodes.ColumnChange(this=column, definition=definition)

    # -- the table -------------------------------------------------------------------------------------------------------
    def _set_properties(self, table: Any) -> Any:
        return nodes.SetTableProperties(this=table, expressions=self.properties())

    def _unset_properties(self, table: Any) -> Any:
        exists = self.if_exists()
        return nodes.UnsetTableProperties(this=table, expressions=self.property_keys(), exists=exists)

    def _rename_table(self, table: Any) -> Any:
        return nodes.RenameTable(this=table, to=self.table())

    def _set_location(self, table: Any) -> Any:
        return nodes.SetTableLocation(this=table, location=self.string())

    def _set_collation(self, table: Any) -> Any:
        return nodes.SetDefaultCollation(this=table, collation=self.dotted_text())

    def _partition_before(self, *keys: str) -> Any:
        """``PARTITION (...)`` followed by ``keys``, all read; else nothing is."""
        if not self.at("PARTITION", "("):
            return None
        mark, start = self.position, self.token.start
        self.next()
        partition = self.verbatim(start, self.skip_balanced().end)
        if self.accept(*keys):
            return partition
        self.position = mark
        return None

    def _refused(self, table: Any) -> Any:
        for keys in _REFUSED:
            if self.accept(*keys):
                return nodes.RefusedAlter(this=table, form=exp.Var(this=" ".join(keys)), rest=None if self.at_end else self.rest())
        return None

    # -- Iceberg's own forms ---------------------------------------------------------------------------------------------
    def _named_field(self) -> Any:
        term = self.transform()
        return nodes.NamedField(this=term, alias=self.identifier() if self.accept("AS") else None)

    def _add_partition_field(self, table: Any) -> Any:
        return nodes.AddPartitionField(this=table, field=self._named_field())

    def _drop_partition_field(self, table: Any) -> Any:
        return nodes.DropPartitionField(this=table, field=self.transform())

    def _replace_partition_field(self, table: Any) -> Any:
        field = self.transform()
        self.expect("WITH")
        return nodes.ReplacePartitionField(this=table, field=field, by=self._named_field())

    def _set_identifier_fields(self, table: Any) -> Any:
        return nodes.SetIdentifierFields(this=table, expressions=self.listed(self.path))

    def _drop_identifier_fields(self, table: Any) -> Any:
        return nodes.DropIdentifierFields(this=table, expressions=self.listed(self.path))

    def _write_order(self, table: Any) -> Any:
        """``[DISTRIBUTED BY PARTITION] [[LOCALLY] ORDERED BY ... | UNORDERED]``, in any order."""
        distributed, ordering = False, None
        terms: list[Any] = []
        while not self.at_end:
            start = self.token
            if self.at("DISTRIBUTED"):
                if distributed:
                    self.fail("ALTER TABLE contains multiple distribution clauses")
                self.expect("DISTRIBUTED", "BY", "PARTITION")
                distributed = True
                continue
            kind, terms = self._ordering()
            if ordering is not None:
                self.fail("ALTER TABLE contains multiple ordering clauses", start)
            ordering = kind
        self.expect_end()
        if not distributed and ordering is None:
            self.fail("ALTER TABLE has no changes: missing both distribution and ordering clauses")
        return nodes.WriteOrder(this=table, expressions=terms, ordering=ordering and exp.Var(this=ordering), distributed=distributed)

    def _ordering(self) -> tuple[str, list[Any]]:
        if self.accept("UNORDERED"):
            return "UNORDERED", []
        kind = "LOCALLY" if self.accept("LOCALLY") else "ORDERED"
        if not self.at("ORDERED"):
            self.mismatch("ORDERED") if kind == "LOCALLY" else self.mismatch("DISTRIBUTED", "LOCALLY", "ORDERED", "UNORDERED")
        self.expect("ORDERED", "BY")
        return kind, self.in_brackets(self.sort_term, optional=True)

    # -- branches and tags -----------------------------------------------------------------------------------------------
    def _create_ref(self, table: Any, kind: str, *, create: bool, replace: bool) -> Any:
        exists = create and not replace and self.if_not_exists()
        ref = nodes.CreateRef(this=table, kind=exp.Var(this=kind), name=self.identifier(), create=create, replace=replace, exists=exists)
        if self.accept("AS", "OF", "VERSION"):
            ref.set("version", self._signed_integer())
        if self.accept("RETAIN"):
            ref.set("retain", self._duration(self._signed_integer()))
        if kind == "BRANCH" and self.accept("WITH"):
            self.expect("SNAPSHOT", "RETENTION")
            self._snapshot_retention(ref)
        return ref

    def _snapshot_retention(self, ref: Any) -> None:
        token, amount = self.token, self._signed_integer()
        if not self.accept("SNAPSHOTS"):
            ref.set("max_age", self._duration(amount, "SNAPSHOTS"))
            return
        if int(amount.name) > _LARGEST_INT:
            self.fail(f"Cannot set snapshot retention: at most {_LARGEST_INT} snapshots can be kept: {amount.name}", token)
        ref.set("keep", amount)
        if not self.at_end:
            ref.set("max_age", self._duration(self._signed_integer()))

    def _drop_ref(self, table: Any, kind: str) -> Any:
        exists = self.if_exists()
        return nodes.DropRef(this=table, kind=exp.Var(this=kind), name=self.identifier(), exists=exists)

    def _duration(self, amount: Any, *also: str) -> Any:
        if self.token.key not in _UNITS:
            self.mismatch(*also, *_UNITS)
        return nodes.Duration(this=amount, unit=exp.Var(this=self.next().key))

    def _signed_integer(self) -> Any:
        negative, token = self.accept("-"), self.token
        value = self.integer()
        if value > _LARGEST_LONG:
            self.fail(f'For input string: "{token.text[:40]}"', token)
        return exp.Literal(this=str(-value if negative else value), is_string=False)


def _ref_form(verb: tuple[str, ...], kind: str) -> tuple[tuple[str, ...], Callable[[AlterTable, Any], Any]]:
    if verb == ("DROP",):
        return (*verb, kind), lambda self, table: self._drop_ref(table, kind)
    create, replace = "CREATE" in verb, "REPLACE" in verb
    return (*verb, kind), lambda self, table: self._create_ref(table, kind, create=create, replace=replace)


_FORMS: tuple[tuple[tuple[str, ...], Callable[[AlterTable, Any], Any]], ...] = (
    (("ADD", "PARTITION", "FIELD"), AlterTable._add_partition_field),
    (("DROP", "PARTITION", "FIELD"), AlterTable._drop_partition_field),
    (("REPLACE", "PARTITION", "FIELD"), AlterTable._replace_partition_field),
    (("WRITE",), AlterTable._write_order),
    (("SET", "IDENTIFIER", "FIELDS"), AlterTable._set_identifier_fields),
    (("DROP", "IDENTIFIER", "FIELDS"), AlterTable._drop_identifier_fields),
    *(_ref_form(verb, kind) for verb in _REF_VERBS for kind in ("BRANCH", "TAG")),
    *((("ADD", word), AlterTable._add_columns) for word in ("COLUMN", "COLUMNS")),
    *((("DROP", word), AlterTable._drop_columns) for word in ("COLUMN", "COLUMNS")),
    (("RENAME", "COLUMN"), AlterTable._rename_column),
    (("REPLACE", "COLUMNS"), AlterTable._replace_columns),
    (("ALTER",), AlterTable._alter_columns),
    (("CHANGE",), AlterTable._alter_columns),
    (("SET", "TBLPROPERTIES"), AlterTable._set_properties),
    (("UNSET", "TBLPROPERTIES"), AlterTable._unset_properties),
    (("RENAME", "TO"), AlterTable._rename_table),
    (("SET", "LOCATION"), AlterTable._set_location),
    (("DEFAULT", "COLLATION"), AlterTable._set_collation),
)
_REFUSED = (
    ("ADD", "PARTITION"), ("ADD", "IF", "NOT", "EXISTS", "PARTITION"), ("DROP", "PARTITION"), ("DROP", "IF", "EXISTS", "PARTITION"),
    ("PARTITION",), ("RECOVER", "PARTITIONS"), ("CLUSTER", "BY"), ("ADD", "CONSTRAINT"), ("ADD", "PRIMARY", "KEY"),
    ("ADD", "FOREIGN", "KEY"), ("ADD", "UNIQUE"), ("ADD", "CHECK"), ("DROP", "CONSTRAINT"), ("SET", "SERDE"), ("SET", "SERDEPROPERTIES"),
)  # fmt: skip
