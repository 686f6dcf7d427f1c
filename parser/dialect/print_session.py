"""Prints CALL, EXPLAIN, SHOW, DESCRIBE and the statements that set a session up."""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.print_pieces import PrintPieces, if_exists


class PrintSession(PrintPieces):
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
        return self.words("UNCACHE TABLE", if_exists(node), self.sql(node, "this"))

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
