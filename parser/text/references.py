"""Where a text names tables: one pass over its tokens, for everything Spark accepts.

Not a grammar: the scan follows brackets, knows in which clause it is, and so knows which words are relations. It never fails on text that
Spark would refuse; it then finds what looks like a table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from icesql.parser.text.names import ColumnChain, NameParts, Place, References, Span, TableReference
from icesql.parser.text.relations import read_relation
from icesql.parser.text.tokens import Kind, Token, tokenize


def table_references(text: str) -> tuple[TableReference, ...]:
    """Every table that ``text`` names, in order, targets of changes included (``place`` says which).

    Raises SqlError for unclosed strings, names and comments.
    """
    return references(text).tables


def references(text: str) -> References:
    """Tables, dotted columns and CTE names of a statement."""
    return _references(text) if len(text) <= 20_000 else _Scan(text).run()


@lru_cache(maxsize=256)
def _references(text: str) -> References:
    return _Scan(text).run()


def references_between(text: str, *spans: Span | None) -> References:
    """What the pieces of ``text`` read: targets of the statement left out."""
    everything = references(text)
    wanted = [span for span in spans if span is not None]

    def inside(start: int) -> bool:
        return any(span.start <= start < span.end for span in wanted)

    return References(
        tables=tuple(table for table in everything.tables if table.place is not Place.TARGET and inside(table.start)),
        chains=tuple(chain for chain in everything.chains if inside(chain.part_spans[0].start)),
        temporary=everything.temporary,
        scope_parents=everything.scope_parents,
    )


class _Frame:
    """One level of brackets. ``query``: clauses are meant here; ``in_from``: a comma brings another relation."""

    __slots__ = ("cte_list", "ctes", "expects", "in_from", "pending_cte", "query", "scope")

    def __init__(self, *, scope: int, query: bool, expects: bool = False) -> None:
        self.scope = scope  # of names: each SELECT has its own
        self.query = query
        self.expects = expects  # the next token begins a relation
        self.in_from = expects
        self.ctes: set[str] = set()
        self.cte_list = False  # within WITH a AS (...), b AS (...)
        self.pending_cte: str | None = None


_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE", "MAP", "REDUCE"})
_NOT_A_QUERY = frozenset({")", ",", ".", "=", "<", ">", "<>", "!=", "<=", ">=", "<=>", "||", "AND", "OR", "IS", "<EOF>", ";", "]"})
_ENDS_FROM = frozenset(
    {
        "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "WINDOW", "LIMIT", "OFFSET", "UNION", "EXCEPT",
        "MINUS", "SETMINUS", "INTERSECT", "SELECT", "WHEN", "SET",
    }
)  # fmt: skip
_VERBS_BEFORE_TABLE = frozenset(
    {
        "CREATE", "REPLACE", "DROP", "ALTER", "TRUNCATE", "INTO", "OVERWRITE", "REFRESH", "CACHE", "LAZY", "UNCACHE", "ANALYZE",
        "REPAIR", "SHOW", "DESCRIBE", "DESC", "EXTERNAL", "ON", "TEMPORARY",
    }
)  # fmt: skip
_SET_OPERATIONS = frozenset({"UNION", "EXCEPT", "MINUS", "SETMINUS", "INTERSECT"})
_STATEMENT_WORDS = frozenset({"UPDATE", "DELETE", "MERGE", "INSERT", "TABLE", "VIEW", "INTO", "DESCRIBE", "DESC", "OVERWRITE"})


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.i = 0
        self.tables: list[TableReference] = []
        self.chains: list[ColumnChain] = []
        self.temporary: set[str] = set()
        self.scopes = [-1]  # parent of each scope
        self.frames = [_Frame(scope=0, query=True)]
        self.merge = False
        self.in_hint = False
        self.brackets_end = 0
        self.cte_names: set[str] = set()

    def run(self) -> References:
        tokens = self.tokens
        while tokens[self.i].kind is not Kind.END:
            self.step(tokens[self.i])
        return References(
            tables=tuple(self.tables),
            chains=tuple(self.chains),
            temporary=frozenset(self.temporary),
            scope_parents=tuple(self.scopes),
        )

    def new_scope(self, parent: int) -> int:
        self.scopes.append(parent)
        return len(self.scopes) - 1

    def add(self, table: TableReference) -> None:
        self.tables.append(replace(table, scope=self.frames[-1].scope))

    # -- one token -------------------------------------------------------------------------------------------------------
    def step(self, token: Token) -> None:
        frame = self.frames[-1]
        if frame.expects:
            self.relation(token, frame)
            return
        kind, key = token.kind, token.key
        if kind is Kind.OPERATOR:
            self.operator(key, frame)
        elif (kind is Kind.WORD and frame.query and self.clause(key, frame)) or (
            kind is Kind.WORD and key == "TABLE" and self.table_argument()
        ):
            return
        elif kind is Kind.WORD or kind is Kind.QUOTED:
            self.name()
        else:
            self.i += 1

    def operator(self, key: str, frame: _Frame) -> None:
        self.i += 1
        if key == "(":
            query = self.begins_query()
            scope = self.new_scope(frame.scope) if query else frame.scope
            self.frames.append(_Frame(scope=scope, query=query))
        elif key in ("[", "{"):
            self.frames.append(_Frame(scope=frame.scope, query=False))
        elif key in (")", "]", "}"):
            self.close()
        elif key == "," and frame.in_from:
            frame.expects = True
        elif key == "," and frame.cte_list:
            self.cte_name(frame)
        elif key == "|>":
            frame.in_from = False
        elif key == ";" and len(self.frames) == 1:
            self.frames[0] = _Frame(scope=self.new_scope(-1), query=True)
            self.merge = False
        elif key == "/*+":
            self.in_hint = True
        elif key == "*/":
            self.in_hint = False

    def close(self) -> None:
        if len(self.frames) > 1:
            self.frames.pop()
        frame = self.frames[-1]
        if frame.pending_cte is not None and self.tokens[self.i].key != "AS" and self.tokens[self.i].key != "(":
            self.add_cte(frame, frame.pending_cte)
            self.temporary.add(frame.pending_cte)
            frame.pending_cte = None
            frame.cte_list = self.tokens[self.i].key == ","

    # -- words -----------------------------------------------------------------------------------------------------------
    def clause(self, key: str, frame: _Frame) -> bool:
        """Handle a word that steers the query; False if it is a name like any other."""
        previous = self.tokens[self.i - 1].key if self.i else ""
        if previous == ".":
            return False
        following = self.tokens[self.i + 1]
        if (key == "JOIN" or (key == "FROM" and previous != "DISTINCT")) and (following.is_identifier or following.key == "("):
            frame.expects = frame.in_from = True
        elif key == "LATERAL" and following.key == "VIEW":
            frame.in_from = False
            self.i += 1  # VIEW is read here too
        elif key in _ENDS_FROM:
            frame.in_from = False
            if key in _SET_OPERATIONS:
                frame.scope = self.new_scope(self.scopes[frame.scope])
        elif key == "USING" and self.merge:
            self.merge = False
            frame.expects = True
        elif (key == "WITH" and following.is_identifier and self.tokens[self.i + 2].key in ("AS", "(", "MAX")) or self.at_recursive():
            return self.with_clause(frame)
        elif key in _STATEMENT_WORDS:
            return self.statement_word(key, previous, following)
        else:
            return False
        self.i += 1
        return True

    def at_recursive(self) -> bool:
        return self.tokens[self.i].key == "WITH" and self.tokens[self.i + 1].key == "RECURSIVE"

    def with_clause(self, frame: _Frame) -> bool:
        self.i += 1
        recursive = self.tokens[self.i].key == "RECURSIVE" and self.tokens[self.i + 1].is_identifier
        if recursive and self.tokens[self.i + 1].key != "AS":
            self.i += 1
            self.cte_name(frame)
            if frame.pending_cte is not None:
                self.add_cte(frame, frame.pending_cte)
            return True
        self.cte_name(frame)
        return True

    def cte_name(self, frame: _Frame) -> None:
        token = self.tokens[self.i]
        if token.is_identifier:
            frame.pending_cte, frame.cte_list = token.name.lower(), True
            self.i += 1

    def statement_word(self, key: str, previous: str, following: Token) -> bool:
        """UPDATE t, DELETE FROM t, MERGE INTO t, INSERT INTO t, TABLE t, VIEW t: what stands behind is what the statement is about."""
        if key == "TABLE" and (self.table_query(previous, following) or (following.key == "(" and self.table_argument())):
            return True
        if key in ("UPDATE", "DESCRIBE", "DESC", "DELETE") and not self.begins_statement(previous):
            return False
        if key in ("DESCRIBE", "DESC") and (following.key == "QUERY" or self.query_begins_at(self.i + 1)):
            return False
        if previous == "THEN" and (following.key == "SET" or (key == "DELETE" and following.key != "FROM")):
            return False  # of MERGE
        if key == "INSERT":
            self.frames[-1].in_from = False
            return False
        if key == "MERGE":
            self.merge = self.begins_statement(previous)
            return False
        if key == "OVERWRITE" and previous != "INSERT":
            return False
        self.i += 1
        self.skip_words()
        if self.tokens[self.i].is_identifier and self.tokens[self.i].key not in ("TABLE", "VIEW", "AS", "DIRECTORY"):
            relation = read_relation(self.tokens, self.i, place=Place.TARGET)
            self.i = relation.position
            if relation.reference is not None:
                self.add(relation.reference)
        return True

    def begins_statement(self, previous: str) -> bool:
        return self.i == 0 or previous in (";", ")", "EXPLAIN", "BEGIN", "THEN", "ELSE", "DO", "EXTENDED", "FORMATTED", "COST", "CODEGEN")

    def skip_words(self) -> None:
        """FROM of DELETE FROM, IF [NOT] EXISTS, EXTENDED of DESCRIBE EXTENDED, TABLE of INSERT INTO TABLE."""
        skipped = ("FROM", "IF", "NOT", "EXISTS", "EXTENDED", "FORMATTED", "TABLE", "RELATION")
        while self.tokens[self.i].key in skipped and self.tokens[self.i + 1].is_identifier:
            self.i += 1

    def table_query(self, previous: str, following: Token) -> bool:
        """``TABLE t`` as a query or a function's argument."""
        if previous in _VERBS_BEFORE_TABLE or not following.is_identifier:
            return False
        relation = read_relation(self.tokens, self.i + 1, place=Place.TABLE)
        self.i = relation.position
        if relation.reference is not None and not self.is_cte(relation.reference.parts):
            self.add(relation.reference)
        return True

    def table_argument(self) -> bool:
        """``TABLE t`` or ``TABLE(t)`` among a function's arguments."""
        bracketed = self.tokens[self.i + 1].key == "("
        at = self.i + 1 + bracketed
        if not self.tokens[at].is_identifier or self.query_begins_at(at):
            return False
        relation = read_relation(self.tokens, at, place=Place.TABLE)
        if relation.reference is None or (bracketed and self.tokens[relation.position].key != ")"):
            return False
        self.i = relation.position + bracketed
        if not self.is_cte(relation.reference.parts):
            self.add(relation.reference)
        return True

    # -- names -----------------------------------------------------------------------------------------------------------
    def relation(self, token: Token, frame: _Frame) -> None:
        """The token where FROM, JOIN, a comma or a bracket promised a relation."""
        if token.key == "LATERAL" and self.tokens[self.i + 1].key != ".":
            self.i += 1
            return
        frame.expects = False
        if token.key == "(":
            self.i += 1
            query = self.begins_query()
            scope = self.new_scope(frame.scope) if query else frame.scope
            self.frames.append(_Frame(scope=scope, query=True, expects=not query))
            return
        if token.key in _QUERY_WORDS and self.query_begins_at(self.i):
            frame.in_from = False
            return
        if not token.is_identifier:
            return
        read = read_relation(self.tokens, self.i, place=Place.FROM)
        self.i = read.position
        if read.reference is not None and not self.is_cte(read.reference.parts):
            self.add(read.reference)

    def add_cte(self, frame: _Frame, name: str) -> None:
        frame.ctes.add(name)
        self.cte_names.add(name)

    def is_cte(self, parts: NameParts) -> bool:
        if len(parts) != 1 or (name := parts[0].lower()) not in self.cte_names:
            return False
        return any(name in frame.ctes for frame in self.frames)

    def begins_query(self) -> bool:
        """Whether a query begins at the current token, behind any number of opening brackets."""
        if self.i >= self.brackets_end:  # a run of brackets is looked through once
            self.brackets_end = self.i
            while self.tokens[self.brackets_end].key == "(":
                self.brackets_end += 1
        return self.query_begins_at(self.brackets_end)

    def query_begins_at(self, at: int) -> bool:
        token = self.tokens[at]
        if token.key not in _QUERY_WORDS:
            return False
        following = self.tokens[at + 1]
        if following.key in _NOT_A_QUERY:
            return False
        if token.key == "SELECT" or token.key == "VALUES":
            return True
        return following.is_identifier or (following.key == "(" and token.key != "TABLE")

    def name(self) -> None:
        """A plain or dotted name in an expression; remembered if it has two parts at least."""
        tokens, start = self.tokens, self.i
        self.i += 1
        while tokens[self.i].key == "." and tokens[self.i + 1].is_identifier:
            self.i += 2
        following = tokens[self.i]
        star = following.key == "." and tokens[self.i + 1].key == "*"
        count = (self.i - start + 1) // 2
        if count < 2 or following.key == "(":
            return
        pieces = tokens[start : self.i : 2]
        self.chains.append(
            ColumnChain(
                parts=tuple(piece.name for piece in pieces),
                part_spans=tuple(Span(piece.start, piece.end) for piece in pieces),
                star=star or self.in_hint,
                scope=self.frames[-1].scope,
            )
        )
