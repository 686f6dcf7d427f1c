"""Prints CREATE TABLE and ALTER TABLE."""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.print_pieces import PrintPieces, if_exists
from icesql.parser.dialect.sqlglot_source import exp


class PrintTables(PrintPieces):
    # -- CREATE TABLE ----------------------------------------------------------------------------------------------------
    def createtable_sql(self, node: Any) -> str:
        return self._create_table(node, "CREATE OR REPLACE" if node.args.get("replace") else "CREATE")

    def replacetable_sql(self, node: Any) -> str:
        return self._create_table(node, "REPLACE")

    def _create_table(self, node: Any, verb: str) -> str:
        schema = node.this if isinstance(node.this, exp.Schema) else None
        properties = node.args.get("properties")
        clauses = list(properties.expressions) if properties is not None else []
        external = any(isinstance(clause, exp.ExternalProperty) for clause in clauses)
        like = [self.sql(clause) for clause in clauses if isinstance(clause, exp.LikeProperty)]
        name = self.sql(node.this if schema is None else schema.this)
        exists = "IF NOT EXISTS" if node.args.get("exists") else ""
        head = self.words(verb, "EXTERNAL" if external else "", "TABLE", exists, name, *like)
        columns = "" if schema is None else " " + self.listed(schema.expressions, wrap=True)
        query = node.args.get("expression")
        rest = [clause for clause in clauses if not isinstance(clause, exp.ExternalProperty | exp.LikeProperty)]
        ordered = sorted(rest, key=lambda clause: not isinstance(clause, exp.FileFormatProperty))  # USING comes first
        body = "" if query is None else f"AS{self.sep()}{self.sql(query)}"
        return self.lines(head + columns, *(self._clause(clause) for clause in ordered), body)

    def _clause(self, clause: Any) -> str:
        match clause:
            case exp.Properties():
                return self.pairs("TBLPROPERTIES", clause.expressions)
            case exp.FileFormatProperty():
                return f"USING {self.sql(clause, 'this')}"
            case _:
                return str(self.sql(clause))

    def externalproperty_sql(self, node: Any) -> str:
        return "EXTERNAL"

    def likeproperty_sql(self, node: Any) -> str:
        return self.after("LIKE", node.this)

    def partitionedby_sql(self, node: Any) -> str:
        return f"PARTITIONED BY {self.listed(node.expressions)}"

    def clusteredby_sql(self, node: Any) -> str:
        return f"CLUSTERED BY {self.listed(node.expressions)} INTO {self.sql(node, 'buckets')} BUCKETS"

    def options_sql(self, node: Any) -> str:
        return self.pairs("OPTIONS", node.expressions)

    def collation_sql(self, node: Any) -> str:
        return self.after("DEFAULT COLLATION", node.this)

    def storedas_sql(self, node: Any) -> str:
        output = node.args.get("output")
        if output is None:
            return self.after("STORED AS", node.this)
        return self.words("STORED AS", self.after("INPUTFORMAT", node.this), self.after("OUTPUTFORMAT", output))

    def rowformat_sql(self, node: Any) -> str:
        args = node.args
        if args.get("serde") is not None:
            return self.words(self.after("ROW FORMAT SERDE", args["serde"]), self.pairs("WITH SERDEPROPERTIES", node.expressions))
        delimiters = (("FIELDS", "fields"), ("ESCAPED", "escaped"), ("COLLECTION ITEMS", "items"), ("MAP KEYS", "keys"), ("LINES", "lines"))
        clauses = (self.after(f"{words} {'BY' if arg == 'escaped' else 'TERMINATED BY'}", args.get(arg)) for words, arg in delimiters)
        return self.words("ROW FORMAT DELIMITED", *clauses, self.after("NULL DEFINED AS", args.get("null")))

    # -- ALTER TABLE -----------------------------------------------------------------------------------------------------
    def alter(self, node: Any, *pieces: Any) -> str:
        return self.words("ALTER TABLE", self.sql(node, "this"), *pieces)

    def addcolumns_sql(self, node: Any) -> str:
        return self.alter(node, "ADD COLUMNS", self.listed(node.expressions, wrap=True))

    def dropcolumns_sql(self, node: Any) -> str:
        return self.alter(node, "DROP COLUMNS", if_exists(node), self.listed(node.expressions))

    def renamecolumn_sql(self, node: Any) -> str:
        if not isinstance(node, nodes.RenameColumn):
            return str(super().renamecolumn_sql(node))
        return self.alter(node, "RENAME COLUMN", self.sql(node, "column"), "TO", self.sql(node, "to"))

    def replacecolumns_sql(self, node: Any) -> str:
        return self.alter(node, "REPLACE COLUMNS", self.listed(node.expressions, wrap=True))

    def altercolumns_sql(self, node: Any) -> str:
        verb = "CHANGE" if node.expressions[0].args.get("definition") is not None else "ALTER"
        return self.alter(node, verb, "COLUMN", self.flat(node.expressions))

    def columnchange_sql(self, node: Any) -> str:
        args, column = node.args, self.sql(node, "this")
        flags = {"set_not_null": "SET NOT NULL", "drop_not_null": "DROP NOT NULL", "drop_default": "DROP DEFAULT"}
        changes = (
            self.sql(node, "definition"),
            self.after("TYPE", args.get("dtype")),
            self.after("COMMENT", args.get("comment")),
            self.after("SET DEFAULT", args.get("default")),
            *(words for arg, words in flags.items() if args.get(arg)),
            self.sql(node, "position"),
        )
        return self.words(column, *changes)

    def settableproperties_sql(self, node: Any) -> str:
        return self.alter(node, self.pairs("SET TBLPROPERTIES", node.expressions))

    def unsettableproperties_sql(self, node: Any) -> str:
        return self.alter(node, "UNSET TBLPROPERTIES", if_exists(node), self.listed(node.expressions))

    def renametable_sql(self, node: Any) -> str:
        return self.alter(node, self.after("RENAME TO", node.args["to"]))

    def settablelocation_sql(self, node: Any) -> str:
        return self.alter(node, self.sql(node, "partition"), self.after("SET LOCATION", node.args["location"]))

    def setdefaultcollation_sql(self, node: Any) -> str:
        return self.alter(node, self.after("DEFAULT COLLATION", node.args["collation"]))

    def refusedalter_sql(self, node: Any) -> str:
        return self.alter(node, self.sql(node, "form"), self.sql(node, "rest"))

    def addpartitionfield_sql(self, node: Any) -> str:
        return self.alter(node, self.after("ADD PARTITION FIELD", node.args["field"]))

    def droppartitionfield_sql(self, node: Any) -> str:
        return self.alter(node, self.after("DROP PARTITION FIELD", node.args["field"]))

    def replacepartitionfield_sql(self, node: Any) -> str:
        return self.alter(node, self.after("REPLACE PARTITION FIELD", node.args["field"]), self.after("WITH", node.args["by"]))

    def writeorder_sql(self, node: Any) -> str:
        ordering, terms = self.sql(node, "ordering"), self.flat(node.expressions)
        words = {"ORDERED": f"ORDERED BY {terms}", "LOCALLY": f"LOCALLY ORDERED BY {terms}"}.get(ordering, ordering)
        return self.alter(node, "WRITE", "DISTRIBUTED BY PARTITION" if node.args.get("distributed") else "", words)

    def setidentifierfields_sql(self, node: Any) -> str:
        return self.alter(node, "SET IDENTIFIER FIELDS", self.flat(node.expressions))

    def dropidentifierfields_sql(self, node: Any) -> str:
        return self.alter(node, "DROP IDENTIFIER FIELDS", self.flat(node.expressions))

    def createref_sql(self, node: Any) -> str:
        args = node.args
        verb = " OR ".join(word for word, said in (("CREATE", args["create"]), ("REPLACE", args["replace"])) if said)
        name = self.words(self.sql(node, "kind"), "IF NOT EXISTS" if args.get("exists") else "", self.sql(node, "name"))
        keep = self.words(self.sql(node, "keep"), "SNAPSHOTS") if args.get("keep") else ""
        retention = self.words(keep, self.sql(node, "max_age"))
        return self.alter(
            node, verb, name, self.after("AS OF VERSION", args.get("version")), self.after("RETAIN", args.get("retain")),
            f"WITH SNAPSHOT RETENTION {retention}" if retention else "",
        )  # fmt: skip

    def dropref_sql(self, node: Any) -> str:
        return self.alter(node, "DROP", self.sql(node, "kind"), if_exists(node), self.sql(node, "name"))

    def duration_sql(self, node: Any) -> str:
        return self.words(self.sql(node, "this"), self.sql(node, "unit"))
