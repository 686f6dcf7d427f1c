"""The rules for types, columns with their options, transforms and sort terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from icesql.errors import nearest
from icesql.parser.dialect import nodes
from icesql.parser.dialect.nodes import place
from icesql.parser.dialect.reader import Reader
from icesql.parser.dialect.sqlglot_source import exp
from icesql.parser.dialect.token_reader import MAX_DEPTH
from icesql.parser.text.names import Span
from icesql.parser.text.tokens import Kind
from icesql.spark_errors import spark_message

_Types = exp.DataType.Type
SIMPLE_TYPES = {
    "BOOLEAN": _Types.BOOLEAN, "TINYINT": _Types.TINYINT, "BYTE": _Types.TINYINT, "SMALLINT": _Types.SMALLINT, "SHORT": _Types.SMALLINT,
    "INT": _Types.INT, "INTEGER": _Types.INT, "BIGINT": _Types.BIGINT, "LONG": _Types.BIGINT, "FLOAT": _Types.FLOAT,
    "REAL": _Types.FLOAT, "DOUBLE": _Types.DOUBLE, "DATE": _Types.DATE, "TIMESTAMP": _Types.TIMESTAMP,
    "TIMESTAMP_LTZ": _Types.TIMESTAMPLTZ, "TIMESTAMPTZ": _Types.TIMESTAMPLTZ, "TIMESTAMP_NTZ": _Types.TIMESTAMPNTZ,
    "TIMESTAMP_NS": _Types.TIMESTAMP_NS, "TIMESTAMPTZ_NS": _Types.USERDEFINED, "BINARY": _Types.BINARY, "UUID": _Types.UUID,
    "VOID": _Types.NULL, "UNKNOWN": _Types.NULL, "VARIANT": _Types.VARIANT,
}  # fmt: skip
TRANSFORM_NAMES = ("identity", "year", "years", "month", "months", "day", "days", "date", "hour", "hours", "date_hour")
WIDTH_TRANSFORM_NAMES = ("bucket", "truncate")
SRIDS = {4326: None, 3857: "EPSG:3857", 0: "SRID:0"}
_COLUMN_CONSTRAINTS = (("PRIMARY", "KEY"), ("UNIQUE",), ("CHECK", "("), ("REFERENCES",))
_TABLE_CONSTRAINTS = (("PRIMARY", "KEY"), ("FOREIGN", "KEY"), ("UNIQUE", "("), ("CHECK", "("))
_COLUMN_OPTIONS = ("COMMENT", "GENERATED", "FIRST", "AFTER", "CHECK", "PRIMARY", "UNIQUE", "REFERENCES", "CONSTRAINT")


class Columns(Reader):
    _type_depth = 0

    # -- types -----------------------------------------------------------------------------------------------------------
    def data_type(self) -> Any:
        """A type of Spark's or Iceberg's, as a DataType. Raises SqlError for what Iceberg has no type for."""
        if self._type_depth >= MAX_DEPTH:
            self.fail(f"Cannot parse type: it is nested deeper than {MAX_DEPTH} levels")
        self._type_depth += 1
        start = self.token.start
        try:
            return place(self._data_type(), start, self.last_end)
        finally:
            self._type_depth -= 1

    def _data_type(self) -> Any:
        token = self.token
        if token.kind is not Kind.WORD:
            self.no_alternative()
        self.next()
        key = token.key
        if key == "TIMESTAMP" and self.accept("WITHOUT", "TIME", "ZONE"):
            return exp.DataType(this=_Types.TIMESTAMPNTZ)
        if key in SIMPLE_TYPES:
            kind = SIMPLE_TYPES[key]
            return exp.DataType(this=kind, kind=key) if kind is _Types.USERDEFINED else exp.DataType(this=kind)
        if key in _TYPE_RULES:
            return _TYPE_RULES[key](self)
        if key == "INTERVAL":
            return self._interval(token.start)
        return self.fail(f'Unsupported data type "{key}".', token)

    def _interval(self, start: int) -> Any:
        while self.accept_any("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "TO"):
            pass
        span = Span(start, self.last_end)
        return self.fail_at(f"Not a supported type: {span.of(self.sql).lower()}", span)

    def _decimal(self) -> Any:
        start = self.previous.start
        sizes: list[int] = []
        if self.accept("("):
            sizes.append(self.integer())
            if self.accept(","):
                sizes.append(self.integer())
            self.expect(")")
        precision, scale = (*sizes, *(10, 0)[len(sizes) :])
        span = Span(start, self.last_end)
        if not 1 <= precision <= 38:
            self.fail_at(f"Cannot parse type: decimal precision must be between 1 and 38: {precision}", span)
        if scale > precision:
            self.fail_at(f"Cannot parse type: decimal scale ({scale}) is greater than precision ({precision})", span)
        return _sized(_Types.DECIMAL, *sizes)

    def _string(self) -> Any:
        return self._collated(exp.DataType(this=_Types.TEXT))

    def _collated(self, type_: Any) -> Any:
        if self.accept("COLLATE"):
            type_.set("collate", self.dotted_text())
        return type_

    def _sized_string(self) -> Any:
        word = self.previous
        if not self.at("("):
            self.fail(f'DataType "{word.key}" requires a length parameter, for example "{word.key}"(10).', word)
        size = self._size(word.key.lower(), least=0)
        return self._collated(_sized(_Types.VARCHAR if word.key == "VARCHAR" else _Types.CHAR, size))

    def _size(self, what: str, least: int = 1) -> int:
        self.expect("(")
        token = self.token
        size = self.integer()
        if size < least:
            self.fail(f"Cannot parse type: the length of {what} must be at least {least}: {size}", token)
        self.expect(")")
        return size

    def _time(self) -> Any:
        sizes: list[int] = []
        if self.accept("("):
            token = self.token
            sizes.append(self.integer())
            if sizes[0] > 6:
                self.fail("Cannot parse type: the precision of time must be at most 6", token)
            self.expect(")")
        return _sized(_Types.TIME, *sizes)

    def _fixed(self) -> Any:
        if self.accept("["):
            size = self.integer()
            self.expect("]")
        else:
            size = self._size("fixed")
        return _sized(_Types.USERDEFINED, size, kind="FIXED")

    def _geometry(self) -> Any:
        type_ = exp.DataType(this=_Types.GEOMETRY)
        if self.accept("("):
            type_.set("expressions", [exp.DataTypeParam(this=self._crs())])
            self.expect(")")
        return type_

    def _geography(self) -> Any:
        type_ = exp.DataType(this=_Types.GEOGRAPHY)
        if self.accept("("):
            parameters = [self._crs()]
            if self.accept(","):
                parameters.append(exp.Var(this=self.name().lower()))
            type_.set("expressions", [exp.DataTypeParam(this=parameter) for parameter in parameters])
            self.expect(")")
        return type_

    def _crs(self) -> Any:
        """A spatial reference: a string, a number, ``OGC:CRS84`` or a word."""
        token = self.token
        if token.kind is Kind.STRING:
            return self.string()
        if token.kind is Kind.NUMBER:
            srid = self.integer()
            if srid not in SRIDS:
                self.fail(f"Cannot parse type: the spatial reference is not supported: {srid}", token)
            return exp.Literal.number(srid)
        crs = self.name()
        while self.accept(":"):
            crs += ":" + self.next().text
        return exp.Var(this=crs)

    def _array(self) -> Any:
        self.expect("<")
        element = self.data_type()
        self.expect(">")
        return exp.DataType(this=_Types.ARRAY, expressions=[element], nested=True)

    def _map(self) -> Any:
        self.expect("<")
        key = self.data_type()
        self.expect(",")
        value = self.data_type()
        self.expect(">")
        return exp.DataType(this=_Types.MAP, expressions=[key, value], nested=True)

    def _struct(self) -> Any:
        fields: list[Any] = []
        if not self.accept("<>"):
            self.expect("<")
            while not self.at(">"):
                if fields:
                    self.expect(",")
                fields.append(self._field())
            self.expect(">")
        return exp.DataType(this=_Types.STRUCT, expressions=fields, nested=True)

    def _field(self) -> Any:
        name = self.identifier()
        self.accept(":")
        field = exp.ColumnDef(this=name, kind=self.data_type(), constraints=[])
        if self.accept("NOT", "NULL"):
            field.append("constraints", exp.ColumnConstraint(kind=exp.NotNullColumnConstraint()))
        if self.accept("COMMENT"):
            field.append("constraints", exp.ColumnConstraint(kind=exp.CommentColumnConstraint(this=self.string())))
        return field

    # -- columns ---------------------------------------------------------------------------------------------------------
    def column(self, *, nested: bool = False, placed: bool = False) -> Any:
        """``name type`` and its options in any order, each once. ``nested``: the name may be dotted; ``placed``: FIRST | AFTER may come."""
        first, start = self.position, self.token.start
        name = self.path() if nested else self.identifier()
        self.accept(":")
        column = exp.ColumnDef(this=name, kind=self.data_type(), constraints=[])
        seen: set[str] = set()
        while (option := self._column_option(column, placed)) is not None:
            if option in seen:
                shown = ".".join(part.name for part in name.flatten()) if isinstance(name, exp.Dot) else name.name
                self.fail(f"Column option {option} is specified more than once for column {shown}")
            seen.add(option)
        return self.commented(place(column, start, self.last_end), first)

    def columns(self) -> list[Any]:
        """A comma list of columns, up to the closing bracket or the end; names may be dotted, and FIRST | AFTER follow."""
        nested = [self.column(nested=True, placed=True)]
        while self.accept(","):
            self.refuse_table_constraint()
            nested.append(self.column(nested=True, placed=True))
        return nested

    def _column_option(self, column: Any, placed: bool) -> str | None:
        option: Any
        if self.accept("NOT", "NULL"):
            word, option = "NOT NULL", exp.NotNullColumnConstraint()
        elif self.accept("COMMENT"):
            word, option = "COMMENT", exp.CommentColumnConstraint(this=self.string())
        elif self.accept("DEFAULT"):
            word, option = "DEFAULT", exp.DefaultColumnConstraint(this=self.default())
        elif self.accept("GENERATED"):
            word, option = "GENERATED", self._generated()
        elif placed and (position := self.column_position()) is not None:
            column.set("position", position)
            return "POSITION"
        else:
            self._refuse_constraint(*_COLUMN_CONSTRAINTS)
            return None
        column.append("constraints", exp.ColumnConstraint(kind=option))
        return word

    def refuse_table_constraint(self) -> None:
        """Where a column's definition may begin, but for the first."""
        self._refuse_constraint(*_TABLE_CONSTRAINTS)

    def _refuse_constraint(self, *begins: tuple[str, ...]) -> None:
        """Iceberg's tables have none."""
        if any(self.at(*words) for words in begins):
            feature = "The feature is not supported: Table does not support table constraint"
            self.fail(spark_message("UNSUPPORTED_FEATURE.TABLE_OPERATION", f"{feature}."))

    def default(self) -> Any:
        """A DEFAULT expression: up to the next column option, comma or bracket."""
        first, start, depth = self.position, self.token.start, 0
        while self.position < len(self.tokens) and not (depth == 0 and self._ends_default(first)):
            depth += (self.token.key in ("(", "[")) - (self.token.key in (")", "]"))
            self.position += 1
        if self.position == first:
            self.no_alternative()
        return self.expression_in(Span(start, self.last_end))

    def _ends_default(self, first: int) -> bool:
        if self.at_any(",", ")", ";", *_COLUMN_OPTIONS):
            return True
        return self.at("NOT", "NULL") and self.position > first and self.previous.key != "IS"

    def _generated(self) -> Any:
        start = self.previous.start
        self.expect_any("ALWAYS", "BY")
        self.accept("DEFAULT")
        self.expect("AS")
        if self.accept("IDENTITY"):
            if self.at("("):
                self.skip_balanced()
        else:
            self.skip_balanced()
        return nodes.Generated(this=self.sql[start : self.last_end])

    def column_position(self) -> Any:
        if self.accept("FIRST"):
            return nodes.Position()
        return nodes.Position(this=self.identifier()) if self.accept("AFTER") else None

    # -- transforms ------------------------------------------------------------------------------------------------------
    def transform(self, *, create_table: bool = False) -> Any:
        """One transform or plain column. The width is the first integer among the arguments, wherever it stands.

        ``create_table``: with the refusals of Spark's parser for PARTITIONED BY, which wants a bucket's width first.
        """
        start = self.token.start
        if not (self.token.is_identifier and self.peek().key == "("):
            return self.path()
        function = self.name()
        arguments = self._transform_arguments()
        span = Span(start, self.last_end)
        self._check_transform(function, arguments, span, create_table)
        return place(nodes.Transform(this=function, expressions=arguments), span.start, span.end)

    def _check_transform(self, function: str, arguments: list[Any], span: Span, create_table: bool) -> None:
        name, text = function.lower(), span.of(self.sql)
        numbers = [int(argument.name) for argument in arguments if isinstance(argument, exp.Literal)]
        columns = [argument for argument in arguments if not isinstance(argument, exp.Literal)]
        if create_table and name == "bucket" and arguments and not isinstance(arguments[0], exp.Literal):
            first = ".".join(part.name for part in arguments[0].find_all(exp.Identifier, bfs=False))
            self.fail_at(f"Invalid number of buckets: {first}.", span)
        if name not in (*TRANSFORM_NAMES, *WIDTH_TRANSFORM_NAMES):
            self.fail_at(f"Transform is not supported: {text}{nearest(name, (*TRANSFORM_NAMES, *WIDTH_TRANSFORM_NAMES))}", span)
        if name in WIDTH_TRANSFORM_NAMES and not numbers:
            self.fail_at(f"Cannot find width for transform: {text}", span)
        if name in WIDTH_TRANSFORM_NAMES and not 0 < numbers[0] < 2**31:
            self.fail_at(f"Unsupported width for transform: {text}", span)
        if not columns:
            self.fail_at(f"Not enough arguments for transform {function}", span)
        if len(columns) > 1:
            self.fail_at(f"Cannot convert transform with more than one column reference: {text}", span)
        if create_table and numbers and name in TRANSFORM_NAMES:
            self.fail_at(f"Too many arguments for transform {function}", span)

    def _transform_arguments(self) -> list[Any]:
        terms: list[Any] = []
        self.expect("(")
        while not self.at(")"):
            if terms:
                self.expect(",")
            terms.append(self.path() if self.token.is_identifier else exp.Literal(this=str(self._whole_number()), is_string=False))
        self.expect(")")
        return terms

    def _whole_number(self) -> int:
        sign = -1 if self.accept("-") else 1
        token = self.token
        digits = token.text.rstrip("lLsSyY")
        if token.kind is not Kind.NUMBER or not digits.isdigit() or len(digits) > 100:
            self.no_alternative()
        self.next()
        return sign * int(digits)

    def sort_term(self) -> Any:
        """``term [ASC | DESC] [NULLS FIRST | LAST]``; nulls come first by default, last under DESC."""
        term = self.transform()
        desc = self.accept_any("ASC", "DESC") == "DESC"
        nulls_first = self.expect_any("FIRST", "LAST") == "FIRST" if self.accept("NULLS") else not desc
        return nodes.SortTerm(this=term, desc=desc, nulls_first=nulls_first)


def _sized(type_: Any, *sizes: int, **more: str) -> Any:
    return exp.DataType(this=type_, expressions=[exp.DataTypeParam(this=exp.Literal.number(size)) for size in sizes], **more)


_TYPE_RULES: dict[str, Callable[[Columns], Any]] = {
    "DECIMAL": Columns._decimal, "DEC": Columns._decimal, "NUMERIC": Columns._decimal, "STRING": Columns._string,
    "CHAR": Columns._sized_string, "CHARACTER": Columns._sized_string, "VARCHAR": Columns._sized_string, "TIME": Columns._time,
    "FIXED": Columns._fixed, "GEOMETRY": Columns._geometry, "GEOGRAPHY": Columns._geography, "ARRAY": Columns._array,
    "MAP": Columns._map, "STRUCT": Columns._struct,
}  # fmt: skip
