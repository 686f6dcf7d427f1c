"""Prints INSERT, DELETE, UPDATE and MERGE."""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.print_pieces import PrintPieces, has_only
from icesql.parser.dialect.row_rules import WITH_ARG
from icesql.parser.dialect.sqlglot_source import exp


class PrintRowChanges(PrintPieces):
    def insert_sql(self, node: Any) -> str:
        if isinstance(node.this, exp.Star):
            return "INSERT *"
        if isinstance(node.this, exp.Tuple):
            return f"INSERT {self.sql(node, 'this')} VALUES {self.sql(node, 'expression')}"
        if not has_only(node, "this", "overwrite", "partition", "exists", "by_name", "where", "expression", WITH_ARG):
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
        if not has_only(node, "this", "where", WITH_ARG):
            return str(super().delete_sql(node))
        return self.lines(self.sql(node, WITH_ARG), f"DELETE FROM {self.sql(node, 'this')}", self._where(node))

    def update_sql(self, node: Any) -> str:
        if not has_only(node, "this", "expressions", "where", WITH_ARG):
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
        if not has_only(node, "this", "using", "on", "whens", WITH_ARG):
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
