"""The rules for CREATE and REPLACE TABLE, with or without AS SELECT, and LIKE."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.columns import Columns
from icesql.parser.dialect.nodes import place
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.text.names import Span
from icesql.parser.text.tokens import Kind
from icesql.spark_errors import spark_message

QUERY_STARTS = ("SELECT", "VALUES", "TABLE", "FROM", "WITH", "MAP", "REDUCE")
_PLAIN_NUMBER = re.compile(r"(0|-?[1-9]\d*)|-?(0\.\d*[1-9]\d*|[1-9]\d*\.\d+)|0\.0+")  # numbers that Spark shows as they were written
_SERDE_FORMATS = ("textfile", "sequencefile", "rcfile")  # those that Spark lets stand beside ROW FORMAT SERDE


class CreateTable(Columns):
    def create_table(self) -> Any:
        """Read from CREATE or REPLACE; None if it is not about a table."""
        create, replace = True, False
        if self.accept("CREATE", "OR", "REPLACE"):
            replace = True
        elif self.accept("REPLACE"):
            create, replace = False, True
        else:
            self.expect("CREATE")
        external = [exp.ExternalProperty()] if self.accept("EXTERNAL") else []
        if not self.accept("TABLE"):
            return None
        exists = create and not replace and self.if_not_exists()
        table = self.table()
        if self.accept("LIKE"):
            return self._create_like(table, exists, external)
        columns = self._listed_columns()
        properties = self._clauses(external + self._provider())
        query = self._as_query()
        if query is not None:
            self._check_query(properties, bool(columns), create)
        return (nodes.CreateTable if create else nodes.ReplaceTable)(
            this=exp.Schema(this=table, expressions=columns) if columns else table,
            kind="TABLE",
            replace=replace and create,
            exists=exists,
            properties=exp.Properties(expressions=properties) if properties else None,
            expression=query,
        )

    def _create_like(self, table: Any, exists: bool, external: list[Any]) -> Any:
        properties = [exp.LikeProperty(this=self.table()), *external]
        seen: set[str] = set()
        while True:
            if not any(isinstance(property_, exp.FileFormatProperty) for property_ in properties):
                properties += self._provider()
            clause = self._clause(seen, properties)
            if clause is None:
                break
            properties.append(clause)
        self._check_storage(properties)
        self.expect_end()
        return nodes.CreateTable(this=table, kind="TABLE", exists=exists, properties=exp.Properties(expressions=properties))

    def _listed_columns(self) -> list[Any]:
        if not self.at("(") or self._opens_query():
            return []
        self.expect("(")
        columns: list[Any] = []
        while not self.at(")") or not columns:
            if columns:
                self.expect(",")
                self.refuse_table_constraint()
            columns.append(self.column())
        self.expect(")")
        return columns

    def _opens_query(self) -> bool:
        """Whether the brackets that open here hold a query: ``CREATE TABLE t (SELECT ...)``."""
        ahead = 1
        while self.peek(ahead).key == "(":
            ahead += 1
        word, following = self.peek(ahead), self.peek(ahead + 1)
        return word.key in ("SELECT", "WITH", "VALUES", "FROM", "TABLE") and following.key not in ("INT", "STRING", "BIGINT", ",", ")")

    def _as_query(self) -> Any:
        self.accept("AS")
        if self.at_end:
            if self.previous.key == "AS":
                self.no_alternative()
            self.expect_end()
            return None
        if self.token.key not in (*QUERY_STARTS, "("):
            self.no_alternative()
        return self.query()

    def _check_query(self, properties: list[Any], has_columns: bool, create: bool) -> None:
        form = "Create Table As Select (CTAS)" if create else "Replace Table As Select (RTAS)"
        if has_columns:
            self.fail(f"Operation not allowed: Schema may not be specified in a {form} statement.")
        partitioned = [property_ for property_ in properties if isinstance(property_, nodes.PartitionedBy)]
        if partitioned and isinstance(partitioned[0].expressions[0], exp.ColumnDef):
            self.fail(f"Operation not allowed: Partition column types may not be specified in {form}.")

    # -- the clauses behind the columns ----------------------------------------------------------------------------------
    def _provider(self) -> list[Any]:
        """USING stands right behind the columns, before all other clauses."""
        return [exp.FileFormatProperty(this=self.dotted_text())] if self.accept("USING") else []

    def _clauses(self, clauses: list[Any]) -> list[Any]:
        seen: set[str] = set()
        while (clause := self._clause(seen, clauses)) is not None:
            clauses.append(clause)
        self._check_storage(clauses)
        return clauses

    def _clause(self, seen: set[str], before: list[Any]) -> Any:
        for words, rule in _CLAUSES:
            if self.accept(*words):
                name = " ".join(words)
                if name in seen:
                    self.fail(f"Found duplicate clauses: {name}. Please, remove one of them.")
                seen.add(name)
                return rule(self, before)
        if self.accept("CLUSTER", "BY"):
            span = self.skip_balanced()
            self.fail_at(f"Transform is not supported: cluster_by{span.of(self.sql)}", span)
        return None

    def _partitioned_by(self, before: list[Any]) -> Any:
        start = self.token.start
        self.expect("(")
        columns: list[Any] = []
        terms: list[Any] = []
        while not self.at(")") or not (columns or terms):
            if columns or terms:
                self.expect(",")
            if self.token.is_identifier and self.peek().kind is Kind.WORD:
                columns.append(self.column())
            else:
                terms.append(self.transform(create_table=True))
        self.expect(")")
        if columns and (terms or any(isinstance(clause, nodes.ClusteredBy) for clause in before)):
            expressions = [self._text_of(term) for term in terms]
            expressions[:0] = [clustered_text(clause) for clause in before if isinstance(clause, nodes.ClusteredBy)]
            definitions = [f"{column.name} {self._text_of(column.args['kind'])}" for column in columns]
            shown = f"Expressions: {', '.join(expressions)} Columns: {', '.join(definitions)}"
            message = f"PARTITION BY: Cannot mix partition expressions and partition columns: {shown}"
            self.fail_at(message, Span(start, self.last_end))
        return place(nodes.PartitionedBy(expressions=columns or terms), start, self.last_end)

    def _text_of(self, node: Any) -> str:
        return str(self.sql[node.meta["start"] : node.meta["end"] + 1])

    def _clustered_by(self, before: list[Any]) -> Any:
        start = self.token.start
        if not self.at("("):
            self.mismatch("(")
        columns = self.in_brackets(self.path)
        if self.accept("SORTED", "BY"):
            span = Span(start, self.skip_balanced().end)
            self.fail_at(f"Transform is not supported: sorted_bucket{span.of(self.sql)}", span)
        self.expect("INTO")
        width_token = self.token
        clustered = nodes.ClusteredBy(expressions=columns, buckets=exp.Literal.number(self.integer()))
        self.expect("BUCKETS")
        text = clustered_text(clustered)
        if not 0 < int(clustered.args["buckets"].name) < 2**31:
            self.fail(f"Unsupported width for transform: {text}", width_token)
        if len(columns) > 1:
            self.fail_at(f"Cannot convert transform with more than one column reference: {text}", Span(start, self.last_end))
        return clustered

    def _location(self, before: list[Any]) -> Any:
        return exp.LocationProperty(this=self.string())

    def _comment(self, before: list[Any]) -> Any:
        return exp.SchemaCommentProperty(this=self.string())

    def _properties(self, before: list[Any]) -> Any:
        return exp.Properties(expressions=self.properties())

    def _options(self, before: list[Any]) -> Any:
        return nodes.Options(expressions=self.options())

    def options(self) -> list[Any]:
        """``('k' = 'v', a.b = 1 + 1)``: as ``properties``, but values may be any expressions; of a key given twice the last holds."""
        options: dict[str, Any] = {}
        self.expect("(")
        while not options or self.accept(","):
            key = self._property_key()
            self.accept_any("=", "==")
            if self.at_any(",", ")"):
                self.fail(f"Operation not allowed: A value must be specified for the key: {key}.")
            options[key] = exp.Property(this=exp.Literal.string(key), value=self._option_value())
        self.expect(")")
        return list(options.values())

    def _option_value(self) -> Any:
        """A plain constant as a string, else the expression."""
        start = self.position
        sign = "-" if self.peek().kind is Kind.NUMBER and self.accept("-") else ""
        token = self.token
        value: str | None = None
        if token.kind is Kind.STRING:
            value = self.text_value()
        elif token.kind is Kind.NUMBER and _PLAIN_NUMBER.fullmatch(sign + token.text):
            value = sign + self.next().text
        elif token.key in ("TRUE", "FALSE") and not sign:
            value = self.next().key.lower()
        if value is not None and self.at_any(",", ")"):
            return exp.Literal.string(value)
        self.position = start
        return self.expression_in(self.expression_until(","))

    def _collation(self, before: list[Any]) -> Any:
        return nodes.Collation(this=self.dotted_text())

    # -- Hive's storage clauses ------------------------------------------------------------------------------------------
    def _stored_as(self, before: list[Any]) -> Any:
        if self.accept("INPUTFORMAT"):
            input_format = self.string()
            self.expect("OUTPUTFORMAT")
            return nodes.StoredAs(this=input_format, output=self.string())
        return nodes.StoredAs(this=self.identifier())

    def _row_format(self, before: list[Any]) -> Any:
        """SERDE or DELIMITED. Raises SqlError for other line terminators than the newline."""
        if self.accept("SERDE"):
            serde = self.string()
            given = self.properties() if self.accept("WITH", "SERDEPROPERTIES") else []
            return nodes.RowFormat(serde=serde, expressions=given)
        self.expect("DELIMITED")
        node = nodes.RowFormat()
        if self.accept("FIELDS", "TERMINATED", "BY"):
            node.set("fields", self.string())
            if self.accept("ESCAPED", "BY"):
                node.set("escaped", self.string())
        if self.accept("COLLECTION", "ITEMS", "TERMINATED", "BY"):
            node.set("items", self.string())
        if self.accept("MAP", "KEYS", "TERMINATED", "BY"):
            node.set("keys", self.string())
        if self.accept("LINES", "TERMINATED", "BY"):
            token, delimiter = self.token, self.string()
            if delimiter.name != "\n":
                message = f"LINES TERMINATED BY only supports newline '\\n' right now: {delimiter.name}."
                self.fail(f"Operation not allowed: {message}", token)
            node.set("lines", delimiter)
        if self.accept("NULL", "DEFINED", "AS"):
            node.set("null", self.string())
        return node

    def _check_storage(self, properties: list[Any]) -> None:
        """Raises SqlError for clauses that Spark does not let stand together."""
        by_kind = {type(property_): property_ for property_ in properties}
        stored, rows = by_kind.get(nodes.StoredAs), by_kind.get(nodes.RowFormat)
        name = stored.name if stored is not None and stored.args.get("output") is None else ""
        if exp.FileFormatProperty in by_kind and (stored or rows):
            form = f"STORED AS {name.upper()}" if stored else "ROW FORMAT"
            self.fail(
                spark_message(
                    "INVALID_STATEMENT_OR_CLAUSE", f"The statement or clause: CREATE TABLE ... USING ... {form.strip()} is not valid."
                )
            )
        if rows is None or not name:
            return
        serde = rows.args.get("serde") is not None
        if name.lower() not in (_SERDE_FORMATS if serde else ("textfile",)):
            form, fitting = ("SERDE", "sequencefile, textfile, or rcfile") if serde else ("DELIMITED", "textfile")
            self.fail(f"Operation not allowed: ROW FORMAT {form} is only compatible with {fitting}, not {name.lower()}.")


def clustered_text(node: Any) -> str:
    """CLUSTERED BY as the transform that it is."""
    columns = (".".join(part.name for part in column.find_all(exp.Identifier, bfs=False)) for column in node.expressions)
    return f"bucket({node.args['buckets'].name}, {', '.join(columns)})"


_CLAUSES: tuple[tuple[tuple[str, ...], Callable[[CreateTable, list[Any]], Any]], ...] = (
    (("PARTITIONED", "BY"), CreateTable._partitioned_by),
    (("CLUSTERED", "BY"), CreateTable._clustered_by),
    (("LOCATION",), CreateTable._location),
    (("COMMENT",), CreateTable._comment),
    (("TBLPROPERTIES",), CreateTable._properties),
    (("OPTIONS",), CreateTable._options),
    (("DEFAULT", "COLLATION"), CreateTable._collation),
    (("STORED", "AS"), CreateTable._stored_as),
    (("ROW", "FORMAT"), CreateTable._row_format),
)
