"""The rules for statements that call, look and set: CALL, SHOW, DESCRIBE, SET, CACHE, ANALYZE, EXECUTE IMMEDIATE, transactions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.catalog_rules import NAMESPACE_WORDS
from icesql.parser.dialect.reader import Reader
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.text.tokens import Kind

EXPLAIN_MODES = ("EXTENDED", "CODEGEN", "COST", "FORMATTED", "LOGICAL", "PRUNING")
_SET_PAIR = re.compile(r"(`(?:[^`]|``)+`|[\w.:\-/]+)\s*(?:=\s*(.*))?", re.DOTALL)
_QUERY_WORDS = frozenset({"SELECT", "VALUES", "TABLE", "FROM", "WITH"})
_NOT_CONFIGURATION = ("TIME", "VAR", "VARIABLE", "ROLE", "CATALOG")


class SessionStatements(Reader):
    # -- CALL ------------------------------------------------------------------------------------------------------------
    def call(self) -> Any:
        self.is_ours_alone = True
        self.expect("CALL")
        procedure = self.table()
        self.expect("(")
        arguments: list[Any] = []
        while not self.at(")"):
            if arguments and not self.accept(","):
                self.mismatch(",", ")")
            arguments.append(self._argument())
        self.expect(")")
        self.expect_end()
        return nodes.Call(this=procedure, expressions=arguments)

    def _argument(self) -> Any:
        first, name = self.position, None
        if self.token.is_identifier and self.peek().key == "=>":
            name = self.identifier()
            self.next()
        if self.token.key in _QUERY_WORDS:  # a subquery has brackets of its own
            self.no_alternative()
        value = self.expression_in(self.expression_until(","))
        self.commented(value, first)
        return value if name is None else exp.Kwarg(this=name, expression=value)

    # -- SHOW ------------------------------------------------------------------------------------------------------------
    def show(self) -> Any:
        """Read from SHOW; None for a form that is not about catalogs, namespaces, tables, functions or procedures."""
        self.expect("SHOW")
        kind = None
        if self.token.kind is Kind.WORD and self.peek().key == "FUNCTIONS":
            kind = exp.Var(this=self.expect_any("ALL", "SYSTEM", "USER"))
        for words, rule in _SHOW_FORMS:
            if self.accept(*words):
                node = nodes.Show(form=exp.Var(this=" ".join(words)), kind=kind)
                rule(self, node)
                self.expect_end()
                return node
        return None

    def _in_namespace(self) -> Any:
        return self.table() if self.accept_any("FROM", "IN") else None

    def _show_list(self, show: Any) -> None:
        """``[FROM | IN namespace] [[LIKE] 'pattern']``."""
        show.set("namespace", self._in_namespace())
        self._pattern(show)

    def _pattern(self, show: Any) -> None:
        if self.accept("LIKE") or self.token.kind is Kind.STRING:
            show.set("pattern", self.string())

    def _show_table_extended(self, show: Any) -> None:
        show.set("namespace", self._in_namespace())
        self.expect("LIKE")
        show.set("pattern", self.string())
        show.set("partition", self.brackets() if self.accept("PARTITION") else None)

    def _show_current(self, show: Any) -> None:
        self.expect_any(*NAMESPACE_WORDS)

    def _show_properties(self, show: Any) -> None:
        show.set("this", self.table())
        if self.accept("("):
            key = self.text_value() if self.token.kind is Kind.STRING else ".".join(self.name_parts())
            show.set("key", exp.Literal.string(key))
            self.expect(")")

    def _show_columns(self, show: Any) -> None:
        self.expect_any("FROM", "IN")
        show.set("this", self.table())
        show.set("namespace", self._in_namespace())

    def _show_create_table(self, show: Any) -> None:
        show.set("this", self.table())
        show.set("as_serde", self.accept("AS", "SERDE"))

    def _show_partitions(self, show: Any) -> None:
        show.set("this", self.table())
        show.set("partition", self.brackets() if self.accept("PARTITION") else None)

    def _show_functions(self, show: Any) -> None:
        show.set("namespace", self._in_namespace())
        if self.accept("LIKE") or self.token.kind is Kind.STRING or self.token.is_identifier:
            if self.token.kind is Kind.STRING:
                show.set("pattern", self.string())
            else:  # an old form: the function's full name
                show.set("old_name", self.table())

    # -- DESCRIBE --------------------------------------------------------------------------------------------------------
    def describe(self) -> Any:
        """Read from DESC | DESCRIBE. A word such as FUNCTION is a table's name when nothing follows it."""
        self.expect_any("DESC", "DESCRIBE")
        word, named = self.token.key, self.peek().is_identifier
        if word == "QUERY" and named:
            self.next()
            return nodes.Describe(kind=exp.Var(this="QUERY"), this=self.query())
        if word in ("SELECT", "WITH", "FROM", "VALUES", "MAP", "REDUCE", "(") and self.peek().kind is not Kind.END:
            return nodes.Describe(kind=exp.Var(this="QUERY"), this=self.query())
        if (named and word in ("FUNCTION", "PROCEDURE", *NAMESPACE_WORDS)) or (word == "FUNCTION" and self.peek().kind is Kind.STRING):
            self.next()
            node = nodes.Describe(kind=exp.Var(this=word))
            if word != "PROCEDURE":
                node.set("extended", self.at("EXTENDED") and self.peek().is_identifier and self.accept("EXTENDED"))
            node.set("this", self.table())
        else:
            node = self._describe_table()
        self.expect_end()
        return node

    def _describe_table(self) -> Any:
        if self.at("TABLE") and self.peek().is_identifier:
            self.next()
        node = nodes.Describe(kind=exp.Var(this="TABLE"))
        if self.token.key in ("EXTENDED", "FORMATTED") and self.peek().is_identifier:
            node.set("extended", bool(self.next()))
        node.set("this", self.table())
        if self.at("PARTITION", "(") and self.accept("PARTITION"):
            node.set("partition", self.brackets())
        if self.token.is_identifier and not self.at("AS", "JSON"):
            node.set("column", self.path())
        node.set("as_json", self.accept("AS", "JSON"))
        return node

    # -- SET, RESET ------------------------------------------------------------------------------------------------------
    def set_configuration(self) -> Any:
        """``SET``, ``SET -v``, ``SET key``, ``SET key = value``: the value is the raw text behind ``=``.

        None for variables, time zones and roles.
        """
        self.expect("SET")
        if self.at_end:
            return nodes.SetConfiguration()
        following = self.peek()
        ends = following.kind is Kind.END or following.key == ";"
        if self.token.key in _NOT_CONFIGURATION and following.key not in ("=", ".") and not ends:
            return None
        body = self.skip_rest().of(self.sql)
        if body.lower() == "-v":
            return nodes.SetConfiguration(verbose=True)
        match = _SET_PAIR.fullmatch(body)
        if match is None:
            return None
        value = None if match[2] is None else exp.Var(this=match[2])
        return nodes.SetConfiguration(this=exp.Var(this=match[1]), value=value)

    def reset_configuration(self) -> Any:
        self.expect("RESET")
        return nodes.ResetConfiguration(this=None if self.at_end else exp.Var(this=self.skip_rest().of(self.sql)))

    # -- tables in memory, statistics ------------------------------------------------------------------------------------
    def refresh_table(self) -> Any:
        """REFRESH [TABLE] t; None for functions and paths."""
        self.expect("REFRESH")
        if self.at("FUNCTION") or self.token.kind is Kind.STRING or not self.accept("TABLE"):
            return None
        node = nodes.RefreshTable(this=self.table())
        self.expect_end()
        return node

    def cache_table(self) -> Any:
        self.expect("CACHE")
        lazy = self.accept("LAZY")
        self.expect("TABLE")
        node = nodes.CacheTable(this=self.table(), lazy=lazy)
        node.set("options", self.properties() if self.accept("OPTIONS") else [])
        self.accept("AS")
        node.set("expression", None if self.at_end else self.query())
        return node

    def uncache_table(self) -> Any:
        self.expect("UNCACHE", "TABLE")
        exists = self.if_exists()
        node = nodes.UncacheTable(this=self.table(), exists=exists)
        self.expect_end()
        return node

    def analyze_table(self) -> Any:
        """ANALYZE TABLE t or TABLES [IN ns] [PARTITION (...)] COMPUTE STATISTICS ..."""
        self.expect("ANALYZE")
        if self.accept("TABLES"):
            node = nodes.AnalyzeTable(all=True, this=self._in_namespace())
        else:
            self.expect("TABLE")
            node = nodes.AnalyzeTable(this=self.table())
        node.set("partition", self.brackets() if self.accept("PARTITION") else None)
        self.expect("COMPUTE", "STATISTICS")
        node.set("rest", None if self.at_end else self.rest())
        return node

    def refused_command(self) -> Any:
        """LOAD DATA ... INTO TABLE t, MSCK REPAIR TABLE t, REPAIR TABLE t."""
        form, start = "LOAD DATA" if self.at("LOAD") else "MSCK REPAIR TABLE", self.token.start
        while self.token.kind is not Kind.END and not self.at("TABLE"):
            self.next()
        before = self.verbatim(start)
        if not self.accept("TABLE"):
            return None
        node = nodes.RefusedTableCommand(form=exp.Var(this=form), before=before, this=self.table())
        node.set("rest", None if self.at_end else self.rest())
        return node

    # -- EXECUTE IMMEDIATE, transactions ---------------------------------------------------------------------------------
    def execute_immediate(self) -> Any:
        """EXECUTE IMMEDIATE 'sql' [INTO ...] [USING ...]."""
        self.expect("EXECUTE", "IMMEDIATE")
        start = self.token.start
        sql = self.string() if self.token.kind is Kind.STRING else None
        if sql is None or not (self.at_end or self.at("INTO") or self.at("USING")):
            self.expression_until("INTO", "USING")
            sql = self.verbatim(start)
        return nodes.ExecuteImmediate(this=sql, rest=None if self.at_end else self.rest())

    def transaction(self) -> Any:
        """BEGIN, START TRANSACTION, COMMIT, ROLLBACK as whole statements; None otherwise."""
        first = self.next().key
        if first == "START" and not self.at("TRANSACTION"):
            return None
        self.accept_any("WORK", "TRANSACTION")
        self.accept(";")
        if self.position < len(self.tokens):
            return None
        return nodes.Transaction(this=exp.Var(this="START TRANSACTION" if first == "START" else first))


_SHOW_FORMS: tuple[tuple[tuple[str, ...], Callable[[SessionStatements, Any], None]], ...] = (
    (("TABLES",), SessionStatements._show_list),
    (("TABLE", "EXTENDED"), SessionStatements._show_table_extended),
    (("VIEWS",), SessionStatements._show_list),
    (("NAMESPACES",), SessionStatements._show_list),
    (("SCHEMAS",), SessionStatements._show_list),
    (("DATABASES",), SessionStatements._show_list),
    (("CATALOGS",), SessionStatements._pattern),
    (("CURRENT",), SessionStatements._show_current),
    (("TBLPROPERTIES",), SessionStatements._show_properties),
    (("COLUMNS",), SessionStatements._show_columns),
    (("CREATE", "TABLE"), SessionStatements._show_create_table),
    (("PARTITIONS",), SessionStatements._show_partitions),
    (("FUNCTIONS",), SessionStatements._show_functions),
    (("PROCEDURES",), SessionStatements._show_list),
)
