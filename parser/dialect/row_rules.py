"""The rules for statements that change rows: INSERT, DELETE, UPDATE, MERGE."""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.create_rules import QUERY_STARTS
from icesql.parser.dialect.nodes import place
from icesql.parser.dialect.reader import Reader
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.dialect.tokens import dialect_tokens
from icesql.parser.text.names import Place, Span
from icesql.parser.text.relations import read_relation
from icesql.parser.text.tokens import Kind, tokenize
from icesql.spark_errors import spark_message

WITH_ARG = "with_" if "with_" in exp.Insert.arg_types else "with"
_SELECT_NOTHING, _SELECT_FROM = (dialect_tokens(text, tokenize(text)) for text in ("SELECT 1", "SELECT * FROM"))
_NOT_ALIASES = frozenset({"SET", "WHERE", "USING", "ON", "WHEN", "SELECT", "VALUES", "FROM"})
_AFTER_A_CONDITION = ("LIMIT", "ORDER", "GROUP", "HAVING", "UNION", "EXCEPT", "INTERSECT", "FROM", "WHERE", "RETURNING")
_AFTER_A_NAME = frozenset(
    {"=", "==", "!=", "<>", "<", ">", "<=", ">=", "<=>", ".", "IS", "IN", "LIKE", "BETWEEN", "NOT", "AND", "OR", ")", ","}
)
_ORDER = ("MATCHED", "NOT MATCHED", "NOT MATCHED BY SOURCE")
_BY_TARGET = {"NOT MATCHED": "NOT MATCHED BY TARGET"}


class RowChanges(Reader):
    # -- what they share -------------------------------------------------------------------------------------------------
    def with_clause(self) -> Span | None:
        """``WITH [RECURSIVE] a [(c, ...)] AS (...), ...`` read whole, or None if no common table expression begins here."""
        if not self.at("WITH") or self.peek().key == "(":
            return None
        start = self.next().start
        self.accept("RECURSIVE")
        while True:
            self.name()
            if self.at("("):
                self.skip_balanced()
            if self.accept("MAX", "RECURSION", "LEVEL"):
                self.next()
            self.accept("AS")
            self.skip_balanced()
            if not self.accept(","):
                return Span(start, self.last_end)

    def ctes_in(self, span: Span) -> Any:
        """The tree of the WITH clause that stands there."""
        query = self.tree(span, behind=_SELECT_NOTHING)
        ctes = query.args.get(WITH_ARG)
        return self.verbatim(span.start, span.end) if ctes is None else place(ctes.pop(), span.start, span.end)

    def target(self) -> Any:
        """A table and its alias; a list of column names behind it is refused where rows are changed."""
        table = self.table()
        table.set("alias", self.table_alias())
        return table

    def table_alias(self) -> Any:
        """``[AS] name``."""
        if not self.accept("AS") and (not self.token.is_identifier or (self.token.key in _NOT_ALIASES and not self._is_clause_twice())):
            return None
        alias = self.identifier()
        if self.at("("):
            self.fail(f"Columns aliases are not allowed here: {alias.name}")
        return exp.TableAlias(this=alias)

    def _is_clause_twice(self) -> bool:
        """At ``SET SET`` or ``WHERE WHERE``: the first is an alias, unless the second is a column's name in the condition."""
        twice = self.token.key in ("SET", "WHERE") and self.peek().key == self.token.key
        return twice and not (self.peek(2).kind is Kind.END or self.peek(2).key in _AFTER_A_NAME)

    def _where(self) -> Any:
        return exp.Where(this=self.expression_in(self._condition())) if self.accept("WHERE") else None

    def _condition(self, *stops: str) -> Span:
        """One expression, which ends at ``stops`` and where another clause would begin (Spark has none behind a condition)."""
        start, first = self.token.start, self.position
        while not (self.at_end or self.token.key in (")", *stops)):
            if self._is_plain_word():
                self.next()
            elif self.token.key in _AFTER_A_CONDITION:
                break
            else:
                self.expression_until(*stops, *_AFTER_A_CONDITION)
        return Span(start, self.last_end) if self.position > first else self.no_alternative()

    def _is_plain_word(self) -> bool:
        """Whether a word that may begin a clause is a column's name here, or the FROM of IS DISTINCT FROM."""
        if self.at("FROM") and self.previous.key == "DISTINCT":
            return True
        return self.token.key in _AFTER_A_CONDITION and self.peek().key in _AFTER_A_NAME

    def _assignments(self, *stops: str) -> list[Any]:
        """``a.b = e, c = DEFAULT`` up to one of ``stops``."""
        return self.listed(lambda: self._assignment(stops))

    def _assignment(self, stops: tuple[str, ...]) -> Any:
        column = self.path()
        if not self.accept("=="):
            self.expect("=")
        return exp.EQ(this=column, expression=self.expression_in(self._condition(",", *stops)))

    # -- DELETE, UPDATE --------------------------------------------------------------------------------------------------
    def delete(self, ctes: Any) -> Any:
        self.expect("DELETE", "FROM")
        target = self.target()
        where = self._where()
        self.expect_end()
        return exp.Delete(this=target, where=where, **{WITH_ARG: ctes})

    def update(self, ctes: Any) -> Any:
        self.expect("UPDATE")
        target = self.target()
        self.expect("SET")
        assigned = self._assignments("WHERE")
        where = self._where()
        self.expect_end()
        return exp.Update(this=target, expressions=assigned, where=where, **{WITH_ARG: ctes})

    # -- INSERT ----------------------------------------------------------------------------------------------------------
    def insert(self, ctes: Any) -> Any:
        """Read from INSERT; None for INSERT OVERWRITE DIRECTORY, which is Spark's own."""
        return self._insert(ctes, several=False)

    def insert_from(self, ctes: Any) -> Any:
        """``FROM x INSERT INTO a SELECT ... INSERT INTO b SELECT ...``; None when no INSERT follows the FROM clause."""
        start = self.token.start
        self._skip_to_insert()
        if not self._at_insert():
            return None
        source = self.verbatim(start)
        inserts: list[Any] = []
        while self._at_insert():
            insert = self._insert(None, several=True)
            if insert is None:
                return None
            inserts.append(insert)
        self.expect_end()
        return nodes.MultiInsert(source=source, expressions=inserts, ctes=ctes)

    def _at_insert(self) -> bool:
        return self.at("INSERT", "INTO") or self.at("INSERT", "OVERWRITE")

    def _skip_to_insert(self) -> None:
        while not self.at_end and not self._at_insert():
            if self.at("(") or self.at("["):
                self.skip_balanced()
            else:
                self.next()

    def _insert(self, ctes: Any, *, several: bool) -> Any:
        self.expect("INSERT")
        overwrite = self.expect_any("INTO", "OVERWRITE") == "OVERWRITE"
        if overwrite and (self.at("DIRECTORY") or self.at("LOCAL", "DIRECTORY")):
            return None
        self.accept("TABLE")
        target = self.table()
        if self.at("WITH", "(") and self.accept("WITH"):
            target.set("hints", [nodes.WriteOptions(expressions=self.properties())])
        partition = self._partition()
        exists = self.if_not_exists()
        by_name = self.accept("BY", "NAME")
        columns = self.in_brackets(self.path, optional=True) if not by_name and self._opens_names() else []
        where = None
        if self.at("REPLACE", "WHERE"):
            if overwrite or columns or by_name or partition:
                self.no_alternative()
            self.expect("REPLACE", "WHERE")
            where = self.expression_in(self._replaced_rows())
        return exp.Insert(
            this=exp.Schema(this=target, expressions=columns) if columns else target,
            overwrite=overwrite,
            partition=partition,
            exists=exists,
            by_name=by_name,
            where=where,
            expression=self._body(several),
            **{WITH_ARG: ctes},
        )

    def _partition(self) -> Any:
        """``PARTITION (p = 1, q)``."""
        if not self.at("PARTITION", "("):
            return None
        self.expect("PARTITION")
        return exp.Partition(expressions=self.in_brackets(self._partition_value))

    def _partition_value(self) -> Any:
        column = self.path()
        return exp.EQ(this=column, expression=self._constant()) if self.accept("=") else column

    def _constant(self) -> Any:
        """A number, strings side by side, ``NULL``, ``DATE '...'`` and the like, or a parameter: no calls, no operators.

        Kept as text: sqlglot would make calls of some.
        """
        start = self.token.start
        self.accept_any("-", "?", ":")
        while self.token.kind in (Kind.STRING, Kind.NUMBER, Kind.WORD):
            self.next()
        if self.last_end <= start or not self.at_any(",", ")"):
            self.no_alternative()
        return self.verbatim(start)

    def _opens_names(self) -> bool:
        """Whether names in brackets come, and not a query."""
        if not self.at("("):
            return False
        at = 1
        while self.peek(at).is_identifier or self.peek(at).key in (",", "."):
            at += 1
        following = self.peek(at + 1)
        ends = following.kind is Kind.END or following.key in (";", "UNION", "EXCEPT", "INTERSECT")
        return self.peek(at).key == ")" and at > 1 and not ends

    def _replaced_rows(self) -> Span:
        """The condition of REPLACE WHERE: up to the query."""
        start = self.token.start
        end = self.expression_until(*QUERY_STARTS).end
        while self.at("FROM") and self.previous.key == "DISTINCT":
            self.next()
            end = self.expression_until(*QUERY_STARTS).end
        return Span(start, end)

    def _body(self, several: bool) -> Any:
        if self.token.key not in (*QUERY_STARTS, "("):
            self.no_alternative()
        if not several:
            return self.query()
        start = self.token.start
        self.next() if not self.at("(") else self.skip_balanced()
        self._skip_to_insert()
        return self.verbatim(start)

    # -- MERGE -----------------------------------------------------------------------------------------------------------
    def merge(self, ctes: Any) -> Any:
        """Clauses come in Spark's order: MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE."""
        self.expect("MERGE")
        evolution = self.accept("WITH", "SCHEMA", "EVOLUTION")
        self.expect("INTO")
        target = self.target()
        self.expect("USING")
        source = self._source()
        self.expect("ON")
        condition = self.expression_in(self.expression_until("WHEN"))
        whens = self._whens()
        self.expect_end()
        kind = nodes.EvolvingMerge if evolution else exp.Merge
        return kind(this=target, using=source, on=condition, whens=exp.Whens(expressions=whens), **{WITH_ARG: ctes})

    def _source(self) -> Any:
        """A table, a function or a query in brackets, with its alias; ``meta["alias"]`` is the alias."""
        start = self.token.start
        if not self.at("(") and not self.token.is_identifier:
            self.no_alternative()
        reference = None
        if not self.at("("):
            relation = read_relation((*(token.lexeme for token in self.tokens), self._end()), self.position, place=Place.FROM)
            self.position, reference = relation.position, relation.reference
        if reference is None:
            self.skip_balanced()
            alias = self.table_alias()
            name = alias.name if alias is not None else None
        else:
            if reference.time_travel is not None or reference.options:
                self.fail("mismatched input: the source of a MERGE is a table or a query in brackets")
            name = reference.alias
        source = self._relation_in(Span(start, self.last_end))
        source.meta["alias"] = name
        return source

    def _relation_in(self, span: Span) -> Any:
        query = self.tree(span, before=_SELECT_FROM)
        relation = query.find(exp.From)
        return self.verbatim(span.start, span.end) if relation is None else place(relation.this.pop(), span.start, span.end)

    def _whens(self) -> list[Any]:
        clauses: list[Any] = []
        kinds: list[str] = []
        while self.at("WHEN"):
            token = self.token
            kind, when = self._when()
            if kinds and _ORDER.index(kind) < _ORDER.index(kinds[-1]):
                self.fail(f"mismatched input 'WHEN': a {kind} clause may not follow {kinds[-1]}", token)
            clauses.append(when)
            kinds.append(kind)
        if not clauses:
            self.fail(spark_message("MERGE_WITHOUT_WHEN", "There must be at least one WHEN clause in a MERGE statement."))
        for kind in _ORDER:
            self._check_conditions(kind, [when for when, of_kind in zip(clauses, kinds, strict=True) if of_kind == kind])
        return clauses

    def _check_conditions(self, kind: str, whens: list[Any]) -> None:
        name = _BY_TARGET.get(kind, kind)
        for when in whens[:-1]:
            if when.args.get("condition") is None:
                code = f"NON_LAST_{name.replace(' ', '_')}_CLAUSE_OMIT_CONDITION"
                only_last = f"only the last {name} clause can omit the condition."
                message = spark_message(code, f"When there are more than one {name} clauses in a MERGE statement, {only_last}")
                self.fail_at(message, Span(when.meta["start"], when.meta["end"] + 1))

    def _when(self) -> tuple[str, Any]:
        first, start = self.position, self.token.start
        self.expect("WHEN")
        kind = self._when_kind()
        condition = self.expression_in(self.expression_until("THEN")) if self.accept("AND") else None
        self.expect("THEN")
        then = self._merge_insert() if kind == "NOT MATCHED" else self._merge_change(kind)
        when = exp.When(matched=kind == "MATCHED", source=kind == "NOT MATCHED BY SOURCE", condition=condition, then=then)
        return kind, self.commented(place(when, start, self.last_end), first)

    def _when_kind(self) -> str:
        if self.accept("MATCHED"):
            return "MATCHED"
        self.expect("NOT", "MATCHED")
        if self.accept("BY", "SOURCE"):
            return "NOT MATCHED BY SOURCE"
        self.accept("BY", "TARGET")
        return "NOT MATCHED"

    def _merge_change(self, kind: str) -> Any:
        if self.accept("DELETE"):
            return exp.Var(this="DELETE")
        if not self.at("UPDATE"):
            self.mismatch("DELETE", "UPDATE")
        self.expect("UPDATE", "SET")
        if self.at("*") and kind == "MATCHED":
            self.next()
            return exp.Update(expressions=exp.Star())
        return exp.Update(expressions=self._assignments("WHEN"))

    def _merge_insert(self) -> Any:
        self.expect("INSERT")
        if self.accept("*"):
            return exp.Insert(this=exp.Star())
        columns = self.in_brackets(self.path)
        self.expect("VALUES")
        opening = self.token
        values = self.in_brackets(lambda: self.expression_in(self.expression_until(",")))
        if len(values) != len(columns):
            self.fail("The number of inserted values cannot match the fields.", opening)
        return exp.Insert(this=exp.Tuple(expressions=columns), expression=exp.Tuple(expressions=values))
