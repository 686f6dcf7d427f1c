"""The rules for what else stands in a catalog: DROP and TRUNCATE TABLE, views, namespaces, COMMENT ON."""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.reader import Reader
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.text.tokens import Kind

NAMESPACE_WORDS = ("NAMESPACE", "SCHEMA", "DATABASE")


class Catalog(Reader):
    def drop_table(self) -> Any:
        self.expect("DROP", "TABLE")
        exists = self.if_exists()
        node = nodes.DropTable(this=self.table(), exists=exists, purge=self.accept("PURGE"))
        self.expect_end()
        return node

    def truncate_table(self) -> Any:
        self.expect("TRUNCATE", "TABLE")
        table = self.table()
        node = nodes.TruncateTable(this=table, partition=self.brackets() if self.accept("PARTITION") else None)
        self.expect_end()
        return node

    # -- views -----------------------------------------------------------------------------------------------------------
    def create_view(self) -> Any:
        """Read from CREATE; None if it is not a view over a query (METRICS views)."""
        self.expect("CREATE")
        view = nodes.CreateView(replace=self.accept("OR", "REPLACE"), global_temporary=self.accept("GLOBAL"))
        view.set("temporary", self.accept("TEMPORARY") or self.accept("TEMP"))
        if not self.accept("VIEW"):
            return None
        temporary = view.args["temporary"] or view.args["global_temporary"]
        view.set("exists", self.if_not_exists())
        if view.args["replace"] and view.args["exists"] and not temporary:
            self.fail("CREATE VIEW with both IF NOT EXISTS and REPLACE is not allowed.")
        view.set("this", self.table())
        view.set("columns", self.in_brackets(self._view_column) if self.at("(") else [])
        if not self._view_clauses(view, temporary):
            return None
        if view.args.get("using") is None:
            self.expect("AS")
            view.set("expression", self.query())
        else:
            view.set("options", self.properties() if self.accept("OPTIONS") else [])
            self.expect_end()
        return view

    def _view_column(self) -> Any:
        return nodes.ViewColumn(this=self.identifier(), comment=self.string() if self.accept("COMMENT") else None)

    def _view_clauses(self, view: Any, temporary: bool) -> bool:
        """Read up to AS, or to the provider of a temporary view; False for views that are not ours."""
        while not self.at("AS"):
            for word, arg in (("COMMENT", "comment"), ("TBLPROPERTIES", "properties")):
                if self.at(word) and view.args.get(arg):
                    self.fail(f"Found duplicate clauses: {word}. Please, remove one of them.")
            start = self.token.start
            if self.accept("COMMENT"):
                view.set("comment", self.string())
            elif self.accept("TBLPROPERTIES"):
                view.set("properties", self.properties())
            elif self.accept("WITH", "SCHEMA"):
                self.accept("TYPE")
                self.expect_any("BINDING", "COMPENSATION", "EVOLUTION")
                view.append("clauses", self.verbatim(start))
            elif self.accept("DEFAULT", "COLLATION"):
                self.name_parts()
                view.append("clauses", self.verbatim(start))
            elif self.at("WITH", "METRICS"):
                return False
            elif temporary and self.accept("USING"):
                view.set("using", self.dotted_text())
                return True
            else:
                self.mismatch("AS")
        return True

    def drop_view(self) -> Any:
        self.expect("DROP", "VIEW")
        exists = self.if_exists()
        node = nodes.DropView(this=self.table(), exists=exists)
        self.expect_end()
        return node

    def alter_view(self) -> Any:
        """Read from ALTER VIEW: properties, RENAME TO, AS."""
        self.expect("ALTER", "VIEW")
        view = self.table()
        if self.accept("AS"):
            return nodes.AlterViewAs(this=view, expression=self.query())
        if self.accept("SET", "TBLPROPERTIES"):
            node = nodes.AlterViewProperties(this=view, set=self.properties())
        elif self.accept("UNSET", "TBLPROPERTIES"):
            exists = self.if_exists()
            node = nodes.AlterViewProperties(this=view, unset=self.property_keys(), exists=exists)
        elif self.accept("RENAME", "TO"):
            node = nodes.RenameView(this=view, to=self.table())
        else:
            self.no_alternative()
        self.expect_end()
        return node

    # -- namespaces ------------------------------------------------------------------------------------------------------
    def create_namespace(self) -> Any:
        self.expect("CREATE")
        node = nodes.CreateNamespace(kind=exp.Var(this=self.expect_any(*NAMESPACE_WORDS)), exists=self.if_not_exists(), this=self.table())
        while not self.at_end:
            if self.accept("COMMENT"):
                node.set("comment", self.string())
            elif self.accept("LOCATION"):
                node.set("location", self.string())
            elif self.accept("WITH", "DBPROPERTIES") or self.accept("WITH", "PROPERTIES"):
                node.set("properties", self.properties())
            elif self.accept("DEFAULT", "COLLATION"):
                node.set("collation", self.dotted_text())
            else:
                self.no_alternative()
        self.expect_end()
        return node

    def drop_namespace(self) -> Any:
        self.expect("DROP")
        kind = exp.Var(this=self.expect_any(*NAMESPACE_WORDS))
        exists = self.if_exists()
        node = nodes.DropNamespace(this=self.table(), kind=kind, exists=exists)
        node.set("cascade", self.accept_any("RESTRICT", "CASCADE") == "CASCADE")
        self.expect_end()
        return node

    def alter_namespace(self) -> Any:
        self.expect("ALTER")
        node = nodes.AlterNamespace(kind=exp.Var(this=self.expect_any(*NAMESPACE_WORDS)), this=self.table())
        if self.accept("SET", "LOCATION"):
            node.set("location", self.string())
        elif self.accept("SET"):
            self.expect_any("DBPROPERTIES", "PROPERTIES")
            node.set("set", self.properties())
        else:
            self.expect("UNSET")
            self.expect_any("DBPROPERTIES", "PROPERTIES")
            node.set("unset", self.property_keys())
        self.expect_end()
        return node

    def comment_on(self) -> Any:
        self.expect("COMMENT", "ON")
        kind = exp.Var(this=self.expect_any("TABLE", *NAMESPACE_WORDS))
        table = self.table()
        self.expect("IS")
        node = nodes.CommentOn(this=table, kind=kind, comment=None if self.accept("NULL") else self.string())
        self.expect_end()
        return node

    def use(self) -> Any:
        self.expect("USE")
        kind = None
        if self.token.key in NAMESPACE_WORDS and self.peek().is_identifier:
            kind = exp.Var(this=self.next().key)
        node = nodes.Use(this=self.table(), kind=kind)
        self.expect_end()
        return node

    def use_catalog(self) -> Any:
        self.expect("SET", "CATALOG")
        node = nodes.UseCatalog(this=self.string() if self.token.kind is Kind.STRING else self.identifier())
        self.expect_end()
        return node
