"""Trees of the dialect back to SQL. Pretty, each clause of a statement stands on a line of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from icesql.parser.dialect import nodes
from icesql.parser.dialect.row_rules import WITH_ARG
from icesql.parser.dialect.sqlglot_source import Spark, exp

_Types = exp.DataType.Type
_NO_WORDS = ("", None, False)


class Generator(Spark.Generator):
    EXPRESSIONS_WITHOUT_NESTED_CTES: ClassVar[set[Any]] = set()
    TABLESAMPLE_SEED_KEYWORD = "REPEATABLE"

    TYPE_MAPPING = {
        **Spark.Generator.TYPE_MAPPING,
        _Types.TIME: "TIME", _Types.UUID: "UUID", _Types.NULL: "VOID", _Types.CHAR: "CHAR", _Types.VARCHAR: "VARCHAR",
        _Types.TIMESTAMP_NS: "TIMESTAMP_NS", _Types.TIMESTAMPLTZ: "TIMESTAMP_LTZ", _Types.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
        _Types.VARIANT: "VARIANT", _Types.GEOMETRY: "GEOMETRY", _Types.GEOGRAPHY: "GEOGRAPHY",
    }  # fmt: skip

    # -- pieces ----------------------------------------------------------------------------------------------------------
    def words(self, *pieces: Any) -> str:
        """Those that are there, joined by blanks."""
        return " ".join(str(piece) for piece in pieces if piece not in _NO_WORDS)

    def lines(self, *pieces: Any) -> str:
        """As ``words``; a line each where the output is pretty."""
        return str(self.sep()).join(str(piece) for piece in pieces if piece not in _NO_WORDS)

    def flat(self, found: Iterable[Any]) -> str:
        return ", ".join(self.sql(node) for node in found)

    def listed(self, found: Iterable[Any], *, wrap: bool = False) -> str:
        """``(a, b)``; ``wrap``: a line each where the output is pretty."""
        pieces = [self.sql(node) for node in found]
        if not (wrap and self.pretty and len(pieces) > 1):
            return f"({', '.join(pieces)})"
        inner = ",\n".join(self._indented(piece) for piece in pieces)
        return f"(\n{inner}\n)"

    def _indented(self, text: str) -> str:
        return "\n".join("  " + line if line else line for line in text.split("\n"))

    def after(self, words: str, node: Any) -> str:
        """``words`` and the node, or nothing where there is no node."""
        return f"{words} {self.sql(node)}" if node else ""

    def pairs(self, words: str, found: list[Any] | None) -> str:
        return f"{words} {self.listed(found, wrap=True)}" if found else ""

    def verbatim_sql(self, node: Any) -> str:
        return str(node.this)

    generated_sql = verbatim_sql

    def property_sql(self, node: Any) -> str:
        return f"{self.sql(node, 'this')} = {self.sql(node, 'value')}" if type(node) is exp.Property else super().property_sql(node)

    def table_sql(self, node: Any, *arguments: Any, **named: Any) -> str:
        """A table with its time travel and its options, which sqlglot has no better place for than its hints."""
        version, hints = node.args.get("version"), node.args.get("hints") or []
        has_options = bool(hints) and isinstance(hints[0], nodes.WriteOptions)
        if version is None and not has_options:
            return str(super().table_sql(node, *arguments, **named))
        options = f"WITH {self.listed(hints[0].expressions)}" if has_options else ""
        travel = "" if version is None else f"{version.name} AS OF {self.sql(version, 'expression')}"
        name = ".".join(self.sql(part) for part in node.parts)
        plain = node.copy()
        for arg in ("db", "catalog", "version", "hints"):
            plain.set(arg, None)
        plain.set("this", nodes.Verbatim(this=self.words(name, travel, options)))
        return str(super().table_sql(plain, *arguments, **named))

    # -- columns ---------------------------------------------------------------------------------------------------------
    def anonymous_sql(self, node: Any) -> str:
        """Functions that sqlglot does not know, transforms among them, keep their case."""
        return f"{node.name}({self.flat(node.expressions)})" if isinstance(node.this, str) else str(super().anonymous_sql(node))

    def datatype_sql(self, node: Any) -> str:
        if node.this == _Types.STRUCT and not node.expressions:
            return "STRUCT<>"
        if node.this == _Types.USERDEFINED and node.args.get("kind"):
            return self.words(node.args["kind"]) + (self.listed(node.expressions) if node.expressions else "")
        collate = node.args.get("collate")
        sql = str(super().datatype_sql(node))
        return sql if collate is None or "COLLATE" in sql else f"{sql} COLLATE {self.sql(collate)}"

    def columndef_sql(self, node: Any, sep: str = " ") -> str:
        in_struct = isinstance(node.parent, exp.DataType)
        kind, constraints = self.sql(node, "kind"), [self.sql(constraint) for constraint in node.args.get("constraints") or []]
        name = f"{self.sql(node, 'this')}:" if in_struct else self.sql(node, "this")
        return self.words(name, kind, *constraints, self.sql(node, "position"))

    def position_sql(self, node: Any) -> str:
        return self.after("AFTER", node.args.get("this")) or "FIRST"

    def namedfield_sql(self, node: Any) -> str:
        return self.words(self.sql(node, "this"), self.after("AS", node.args.get("alias")))

    def sortterm_sql(self, node: Any) -> str:
        desc, nulls_first = node.args.get("desc"), node.args.get("nulls_first")
        nulls = "" if nulls_first is not bool(desc) else f"NULLS {'FIRST' if nulls_first else 'LAST'}"
        return self.words(self.sql(node, "this"), "DESC" if desc else "", nulls)

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
        return self.alter(node, "DROP COLUMNS", _if_exists(node), self.listed(node.expressions))

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
        return self.alter(node, "UNSET TBLPROPERTIES", _if_exists(node), self.listed(node.expressions))

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
        return self.alter(node, "DROP", self.sql(node, "kind"), _if_exists(node), self.sql(node, "name"))

    def duration_sql(self, node: Any) -> str:
        return self.words(self.sql(node, "this"), self.sql(node, "unit"))

    # -- tables, views, namespaces ---------------------------------------------------------------------------------------
    def droptable_sql(self, node: Any) -> str:
        return self.words("DROP TABLE", _if_exists(node), self.sql(node, "this"), "PURGE" if node.args.get("purge") else "")

    def truncatetable_sql(self, node: Any) -> str:
        if not isinstance(node, nodes.TruncateTable):
            return str(super().truncatetable_sql(node))
        return self.words("TRUNCATE TABLE", self.sql(node, "this"), self.after("PARTITION", node.args.get("partition")))

    def createview_sql(self, node: Any) -> str:
        args = node.args
        kinds = (("OR REPLACE", "replace"), ("GLOBAL", "global_temporary"), ("TEMPORARY", "temporary"))
        exists = "IF NOT EXISTS" if args.get("exists") else ""
        head = self.words("CREATE", *(words for words, arg in kinds if args.get(arg)), "VIEW", exists, self.sql(node, "this"))
        columns = " " + self.listed(args["columns"]) if args.get("columns") else ""
        query = args.get("expression")
        return self.lines(
            head + columns,
            self.after("COMMENT", args.get("comment")),
            self.pairs("TBLPROPERTIES", args.get("properties")),
            *(self.sql(clause) for clause in args.get("clauses") or []),
            self.after("USING", args.get("using")),
            self.pairs("OPTIONS", args.get("options")),
            "" if query is None else f"AS{self.sep()}{self.sql(query)}",
        )

    def viewcolumn_sql(self, node: Any) -> str:
        return self.words(self.sql(node, "this"), self.after("COMMENT", node.args.get("comment")))

    def dropview_sql(self, node: Any) -> str:
        return self.words("DROP VIEW", _if_exists(node), self.sql(node, "this"))

    def alterviewproperties_sql(self, node: Any) -> str:
        given = self.pairs("SET TBLPROPERTIES", node.args.get("set"))
        if not given:
            given = self.words("UNSET TBLPROPERTIES", _if_exists(node), self.listed(node.args["unset"]))
        return self.words("ALTER VIEW", self.sql(node, "this"), given)

    def renameview_sql(self, node: Any) -> str:
        return self.words("ALTER VIEW", self.sql(node, "this"), self.after("RENAME TO", node.args["to"]))

    def alterviewas_sql(self, node: Any) -> str:
        return self.lines(f"ALTER VIEW {self.sql(node, 'this')} AS", self.sql(node, "expression"))

    def createnamespace_sql(self, node: Any) -> str:
        args = node.args
        head = self.words("CREATE", self.sql(node, "kind"), "IF NOT EXISTS" if args.get("exists") else "", self.sql(node, "this"))
        return self.lines(
            head,
            self.after("COMMENT", args.get("comment")),
            self.after("LOCATION", args.get("location")),
            self.pairs("WITH DBPROPERTIES", args.get("properties")),
            self.after("DEFAULT COLLATION", args.get("collation")),
        )

    def dropnamespace_sql(self, node: Any) -> str:
        cascade = "CASCADE" if node.args.get("cascade") else ""
        return self.words("DROP", self.sql(node, "kind"), _if_exists(node), self.sql(node, "this"), cascade)

    def alternamespace_sql(self, node: Any) -> str:
        args = node.args
        unset = f"UNSET DBPROPERTIES {self.listed(args['unset'])}" if args.get("unset") else ""
        change = self.after("SET LOCATION", args.get("location")) or self.pairs("SET DBPROPERTIES", args.get("set")) or unset
        return self.words("ALTER", self.sql(node, "kind"), self.sql(node, "this"), change)

    def commenton_sql(self, node: Any) -> str:
        comment = node.args.get("comment")
        return self.words(
            "COMMENT ON", self.sql(node, "kind"), self.sql(node, "this"), "IS", "NULL" if comment is None else self.sql(comment)
        )

    # -- statements that change rows -------------------------------------------------------------------------------------
    def insert_sql(self, node: Any) -> str:
        if isinstance(node.this, exp.Star):
            return "INSERT *"
        if isinstance(node.this, exp.Tuple):
            return f"INSERT {self.sql(node, 'this')} VALUES {self.sql(node, 'expression')}"
        if not _has_only(node, "this", "overwrite", "partition", "exists", "by_name", "where", "expression", WITH_ARG):
            return str(super().insert_sql(node))
        args, where = node.args, node.args.get("where")
        schema = node.this if isinstance(node.this, exp.Schema) else None
        partition = args.get("partition")
        head = self.words(
            "INSERT", "OVERWRITE" if args.get("overwrite") else "INTO", self.sql(node.this if schema is None else schema.this),
            "" if not partition else f"PARTITION {self.listed(partition.expressions)}",
            "IF NOT EXISTS" if args.get("exists") else "", "BY NAME" if args.get("by_name") else "",
            "" if schema is None else self.listed(schema.expressions), self.after("REPLACE WHERE", where),
        )  # fmt: skip
        return self.lines(self.sql(node, WITH_ARG), head, self.sql(node, "expression"))

    def multiinsert_sql(self, node: Any) -> str:
        return self.lines(self.sql(node, "ctes"), self.sql(node, "source"), *(self.sql(insert) for insert in node.expressions))

    def delete_sql(self, node: Any) -> str:
        if not _has_only(node, "this", "where", WITH_ARG):
            return str(super().delete_sql(node))
        return self.lines(self.sql(node, WITH_ARG), f"DELETE FROM {self.sql(node, 'this')}", self._where(node))

    def update_sql(self, node: Any) -> str:
        if not _has_only(node, "this", "expressions", "where", WITH_ARG):
            return str(super().update_sql(node))
        if not node.args.get("this"):  # of MERGE
            assigned = node.args["expressions"]
            return f"UPDATE SET {'*' if isinstance(assigned, exp.Star) else self.flat(assigned)}"
        return self.lines(
            self.sql(node, WITH_ARG), f"UPDATE {self.sql(node, 'this')}", f"SET {self.flat(node.expressions)}", self._where(node)
        )

    def _where(self, node: Any) -> str:
        where = node.args.get("where")
        return "" if not where else f"WHERE {self.sql(where, 'this')}"

    def merge_sql(self, node: Any) -> str:
        if not _has_only(node, "this", "using", "on", "whens", WITH_ARG):
            return str(super().merge_sql(node))
        evolution = "WITH SCHEMA EVOLUTION" if isinstance(node, nodes.EvolvingMerge) else ""
        return self.lines(
            self.sql(node, WITH_ARG),
            self.words("MERGE", evolution, "INTO", self.sql(node, "this")),
            f"USING {self.sql(node, 'using')}",
            f"ON {self.sql(node, 'on')}",
            *(self.sql(when) for when in node.args["whens"].expressions),
        )

    evolvingmerge_sql = merge_sql

    def when_sql(self, node: Any) -> str:
        kind = "MATCHED" if node.args["matched"] else "NOT MATCHED"
        source = "BY SOURCE" if node.args.get("source") else ""
        return self.words("WHEN", kind, source, self.after("AND", node.args.get("condition")), self.after("THEN", node.args["then"]))

    # -- statements that call, look and set ------------------------------------------------------------------------------
    def call_sql(self, node: Any) -> str:
        return f"CALL {self.sql(node, 'this')}{self.listed(node.expressions)}"

    def explain_sql(self, node: Any) -> str:
        return self.lines(self.words("EXPLAIN", self.sql(node, "mode")), self.sql(node, "this"))

    def use_sql(self, node: Any) -> str:
        return self.words("USE", self.sql(node, "kind"), self.sql(node, "this"))

    def usecatalog_sql(self, node: Any) -> str:
        return self.after("SET CATALOG", node.this)

    def show_sql(self, node: Any) -> str:
        if not isinstance(node, nodes.Show):
            return str(super().show_sql(node))
        args, form = node.args, self.sql(node, "form")
        form = {"CURRENT": "CURRENT NAMESPACE", "COLUMNS": "COLUMNS IN"}.get(form, form)
        key = f"({self.sql(node, 'key')})" if args.get("key") else ""
        return self.words(
            "SHOW", self.sql(node, "kind"), form, self.sql(node, "this"), key, self.after("IN", args.get("namespace")),
            self.after("LIKE", args.get("pattern") or args.get("old_name")), self.after("PARTITION", args.get("partition")),
            "AS SERDE" if args.get("as_serde") else "",
        )  # fmt: skip

    def describe_sql(self, node: Any) -> str:
        if not isinstance(node, nodes.Describe):
            return str(super().describe_sql(node))
        args = node.args
        return self.words(
            "DESCRIBE", self.sql(node, "kind"), "EXTENDED" if args.get("extended") else "", self.sql(node, "this"),
            self.after("PARTITION", args.get("partition")), self.sql(node, "column"), "AS JSON" if args.get("as_json") else "",
        )  # fmt: skip

    def setconfiguration_sql(self, node: Any) -> str:
        value = "" if node.args.get("value") is None else f"= {self.sql(node, 'value')}"
        return self.words("SET", "-v" if node.args.get("verbose") else "", self.sql(node, "this"), value)

    def resetconfiguration_sql(self, node: Any) -> str:
        return self.words("RESET", self.sql(node, "this"))

    def refreshtable_sql(self, node: Any) -> str:
        return self.after("REFRESH TABLE", node.this)

    def cachetable_sql(self, node: Any) -> str:
        head = self.words("CACHE", "LAZY" if node.args.get("lazy") else "", "TABLE", self.sql(node, "this"))
        query = node.args.get("expression")
        options = self.pairs("OPTIONS", node.args.get("options"))
        return self.lines(self.words(head, options, "AS" if query is not None else ""), "" if query is None else self.sql(query))

    def uncachetable_sql(self, node: Any) -> str:
        return self.words("UNCACHE TABLE", _if_exists(node), self.sql(node, "this"))

    def analyzetable_sql(self, node: Any) -> str:
        table = node.args.get("this")
        what = self.words("TABLES", self.after("IN", table)) if node.args.get("all") else self.after("TABLE", table)
        partition = self.after("PARTITION", node.args.get("partition"))
        return self.words("ANALYZE", what, partition, "COMPUTE STATISTICS", self.sql(node, "rest"))

    def refusedtablecommand_sql(self, node: Any) -> str:
        return self.words(self.sql(node, "before"), self.after("TABLE", node.this), self.sql(node, "rest"))

    def executeimmediate_sql(self, node: Any) -> str:
        return self.words("EXECUTE IMMEDIATE", self.sql(node, "this"), self.sql(node, "rest"))

    def transaction_sql(self, node: Any) -> str:
        return self.sql(node, "this") if isinstance(node, nodes.Transaction) else str(super().transaction_sql(node))


def _has_only(node: Any, *args: str) -> bool:
    """Whether a statement, which may come from another dialect, has no clauses but these."""
    return not any(value for arg, value in node.args.items() if arg not in args)


def _if_exists(node: Any) -> str:
    return "IF EXISTS" if node.args.get("exists") else ""


def _own_nodes() -> dict[Any, Any]:
    """Newer releases find the methods of nodes that are their own only."""
    own = (node for node in vars(nodes).values() if isinstance(node, type) and issubclass(node, exp.Expression))
    return {node: getattr(Generator, f"{node.__name__.lower()}_sql") for node in own if hasattr(Generator, f"{node.__name__.lower()}_sql")}


_CHANGED = (exp.Insert, exp.Delete, exp.Update, exp.Merge, exp.When, exp.ColumnDef, exp.DataType, exp.Anonymous, exp.Property)
Generator.TRANSFORMS = {
    **Spark.Generator.TRANSFORMS,
    **_own_nodes(),
    **{node: getattr(Generator, f"{node.__name__.lower()}_sql") for node in _CHANGED},
    exp.LikeProperty: Generator.likeproperty_sql,
    exp.ExternalProperty: Generator.externalproperty_sql,
    exp.With: Generator.with_sql,  # Spark 4 knows recursive ones
}
