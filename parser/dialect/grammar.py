"""The grammar of the dialect: which rule reads a statement. Queries and what is Spark's own are sqlglot's to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from icesql.errors import SqlError
from icesql.parser.dialect import nodes
from icesql.parser.dialect.alter_rules import AlterTable
from icesql.parser.dialect.catalog_rules import NAMESPACE_WORDS, Catalog
from icesql.parser.dialect.create_rules import CreateTable
from icesql.parser.dialect.reader import OWN_FAILURES
from icesql.parser.dialect.relation_tokens import put_tables_back
from icesql.parser.dialect.row_rules import RowChanges
from icesql.parser.dialect.session_rules import EXPLAIN_MODES, SessionStatements
from icesql.parser.dialect.sqlglot_source import ParseError, exp
from icesql.parser.dialect.tokens import for_sqlglot
from icesql.parser.text.names import Span

Rule = Callable[["Parser"], Any]


class Parser(AlterTable, CreateTable, RowChanges, Catalog, SessionStatements):
    """sqlglot's parser of the dialect. ``parse`` raises sqlglot's ParseError."""

    reads_stock = False  # the tokens are made for sqlglot's own grammar

    def parse(self, raw_tokens: list[Any], sql: str | None = None) -> list[Any]:
        return self._raising(lambda: super(Parser, self).parse(raw_tokens, sql or ""))

    def parse_into(self, expression_types: Any, raw_tokens: list[Any], sql: str | None = None) -> list[Any]:
        tokens = for_sqlglot(raw_tokens, sql or "") if _are_ours(raw_tokens) else raw_tokens
        self.reads_stock = True
        try:
            return self._raising(lambda: super(Parser, self).parse_into(expression_types, tokens, sql or ""))
        finally:
            self.reads_stock = False

    @staticmethod
    def _raising(parse: Callable[[], list[Any]]) -> list[Any]:
        try:
            return parse()
        except SqlError as error:
            places = {"description": error.message, "line": error.line, "col": error.column}
            raise ParseError(str(error), [places]) from None
        except OWN_FAILURES as error:
            raise ParseError(f"Cannot parse statement: sqlglot fails on it: {error!r}") from error

    def _parse_statement(self) -> Any:
        """What sqlglot's parser asks for each statement of a script."""
        tokens = self._tokens
        if self.reads_stock or not _are_ours(tokens):
            return super()._parse_statement()
        self.tokens, self.position = tokens, 0
        statement_tree = self.statement()
        if statement_tree is not None:
            self._hand_over(tokens, len(tokens))
            return statement_tree
        self._hand_over(self.stock_tokens(tokens), 0)
        self.reads_stock = True
        try:
            tree = super()._parse_statement()
        finally:
            self.reads_stock = False
        if tree is not None:
            put_tables_back(tree, self.sql, self.tables_in_text(), self._expression_of_all)
        return tree

    def _hand_over(self, tokens: list[Any], index: int) -> None:
        """Let sqlglot's own rules go on at ``tokens[index]``. Release 29 keeps what it reads in an object of its own."""
        state: Any = getattr(self, "_core", self)
        state._tokens = tokens
        if hasattr(state, "_tokens_size"):
            state._tokens_size = len(tokens)
        state._index = index - 1
        self._advance()

    def _expression_of_all(self, span: Span) -> Any:
        """An expression of the text, whatever tokens are left."""
        reader = type(self).of(self.sql, self.dialect)
        reader.keeps_text, reader.known_tables = False, self.known_tables
        return reader.expression_in(span)

    def _parse_command(self) -> NoReturn:
        self._refuse_command(self._prev.text)

    def _parse_as_command(self, start: Any) -> NoReturn:
        self._refuse_command(start.text)

    def _refuse_command(self, word: str) -> NoReturn:
        self.raise_error(f"Cannot parse statement: the dialect has no tree for it: {word.upper()} ...")
        raise ParseError(f"Cannot parse statement: the dialect has no tree for it: {word.upper()} ...")

    # -- statements ------------------------------------------------------------------------------------------------------
    def statement(self) -> Any:
        """The tree of a statement that is ours; None for a query and for what is Spark's own, with the reader anywhere."""
        rule = self._rule()
        statement_tree = None if rule is None else rule(self)
        if statement_tree is not None and not self.keeps_text:
            statement_tree.add_comments(comment for token in self.tokens for comment in token.comments)
        return statement_tree

    def _explain(self) -> Any:
        self.is_ours_alone = True
        self.expect("EXPLAIN")
        mode = exp.Var(this=self.next().key) if self.token.key in EXPLAIN_MODES else None
        return nodes.Explain(mode=mode, this=self.tree(self.skip_rest(), reads_stock=False))

    def _rule(self) -> Rule | None:
        """The rule for a statement, by its first words; None for what Spark alone knows."""
        word, following = self.token.key, self.peek().key
        if (word, following) in _BY_WORDS:
            return _BY_WORDS[word, following]
        return _BY_WORD.get(word)

    def _create(self) -> Any:
        ahead = 1
        while self.peek(ahead).key in ("OR", "REPLACE", "EXTERNAL", "GLOBAL", "TEMPORARY", "TEMP"):
            ahead += 1
        kind = self.peek(ahead).key
        if kind == "TABLE":
            return self.create_table()
        if kind == "VIEW":
            return self.create_view()
        return self.create_namespace() if kind in NAMESPACE_WORDS and ahead == 1 else None

    def _set(self) -> Any:
        if self.at("SET", "CATALOG") and self.peek(2).key != "=":
            return self.use_catalog()
        return self.set_configuration()

    def _with(self) -> Any:
        """A WITH clause may stand before a query and before every statement that changes rows."""
        span = self.with_clause()
        for word, rule in _AFTER_WITH.items():
            if span is not None and self.at(word) and (word != "FROM" or self._inserts_behind()):
                return rule(self, self.ctes_in(span))
        return None

    def _inserts_behind(self) -> bool:
        """Whether an INSERT follows FROM and its relations."""
        start = self.position
        self._skip_to_insert()
        is_insert = self._at_insert()
        self.position = start
        return is_insert


def _are_ours(tokens: list[Any]) -> bool:
    return bool(tokens) and all(hasattr(token, "lexeme") for token in tokens)


def _without_ctes(rule: Callable[[Parser, Any], Any]) -> Rule:
    return lambda parser: rule(parser, None)


_AFTER_WITH: dict[str, Callable[[Parser, Any], Any]] = {
    "INSERT": Parser.insert,
    "DELETE": Parser.delete,
    "UPDATE": Parser.update,
    "MERGE": Parser.merge,
    "FROM": Parser.insert_from,
}
_BY_WORDS: dict[tuple[str, str], Rule] = {
    ("ALTER", "TABLE"): Parser.alter_table,
    ("DROP", "TABLE"): Parser.drop_table,
    ("DROP", "VIEW"): Parser.drop_view,
    ("ALTER", "VIEW"): Parser.alter_view,
    ("COMMENT", "ON"): Parser.comment_on,
    **{("DROP", word): Parser.drop_namespace for word in NAMESPACE_WORDS},
    **{("ALTER", word): Parser.alter_namespace for word in NAMESPACE_WORDS},
}
_BY_WORD: dict[str, Rule] = {
    "CALL": Parser.call,
    "EXPLAIN": Parser._explain,
    "WITH": Parser._with,
    **{word: _without_ctes(rule) for word, rule in _AFTER_WITH.items()},
    "TRUNCATE": Parser.truncate_table,
    "CREATE": Parser._create,
    "REPLACE": Parser.create_table,
    "SHOW": Parser.show,
    "DESC": Parser.describe,
    "DESCRIBE": Parser.describe,
    "USE": Parser.use,
    "SET": Parser._set,
    "RESET": Parser.reset_configuration,
    "REFRESH": Parser.refresh_table,
    "CACHE": Parser.cache_table,
    "UNCACHE": Parser.uncache_table,
    "ANALYZE": Parser.analyze_table,
    "EXECUTE": Parser.execute_immediate,
    "LOAD": Parser.refused_command,
    "MSCK": Parser.refused_command,
    "REPAIR": Parser.refused_command,
    "BEGIN": Parser.transaction,
    "START": Parser.transaction,
    "COMMIT": Parser.transaction,
    "ROLLBACK": Parser.transaction,
}
