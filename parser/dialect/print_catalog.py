"""Prints statements about tables, views and namespaces as a whole."""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.print_pieces import PrintPieces, if_exists


class PrintCatalog(PrintPieces):
    def droptable_sql(self, node: Any) -> str:
        return self.words("DROP TABLE", if_exists(node), self.sql(node, "this"), "PURGE" if node.args.get("purge") else "")

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
        return self.words("DROP VIEW", if_exists(node), self.sql(node, "this"))

    def alterviewproperties_sql(self, node: Any) -> str:
        given = self.pairs("SET TBLPROPERTIES", node.args.get("set"))
        if not given:
            given = self.words("UNSET TBLPROPERTIES", if_exists(node), self.listed(node.args["unset"]))
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
        return self.words("DROP", self.sql(node, "kind"), if_exists(node), self.sql(node, "this"), cascade)

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
