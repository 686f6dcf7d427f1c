"""CREATE TABLE, REPLACE TABLE, CREATE OR REPLACE TABLE, AS SELECT, LIKE."""

from __future__ import annotations

from dataclasses import dataclass, field

from icesql.parser import clauses, hive_format
from icesql.parser.base_statement import Statement
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import ColumnDefinition, CreateTable, CreateTableLike, Options, Properties, TransformTerm
from icesql.parser.names import Span, TableName
from icesql.parser.references import references_between
from icesql.parser.tokens import Kind
from icesql.parser.transform_terms import transform_term
from icesql.parser.types import TypeReader
from icesql.spec.transforms import IDENTITY, bucket


@dataclass(slots=True)
class _Clauses:
    """What the clauses behind the columns said; each may stand once."""

    seen: set[str] = field(default_factory=set)
    provider: str | None = None
    partitioning: list[TransformTerm] = field(default_factory=list)
    partition_columns: list[ColumnDefinition] = field(default_factory=list)
    location: str | None = None
    comment: str | None = None
    collation: str | None = None
    properties: Properties = ()
    options: Options = ()
    stored_as: Properties = ()
    row_format: Properties = ()


def create_table(cursor: Cursor) -> Statement | None:
    """Read from CREATE or REPLACE; None if it is not about a table."""
    create, replace = True, False
    if cursor.accept("CREATE", "OR", "REPLACE"):
        replace = True
    elif cursor.accept("REPLACE"):
        create, replace = False, True
    else:
        cursor.expect("CREATE")
    external = cursor.accept("EXTERNAL")
    if not cursor.accept("TABLE"):
        return None
    if_not_exists = create and not replace and clauses.if_not_exists(cursor)
    table = cursor.table_name()
    if cursor.accept("LIKE"):
        return _create_like(cursor, table, if_not_exists)
    types = TypeReader(cursor)
    columns = _columns(cursor, types)
    found = _Clauses(provider=_provider(cursor))
    _read_clauses(cursor, types, found)
    query = _query(cursor)
    if query is not None:
        _check_query(cursor, found, bool(columns), create)
    return CreateTable(
        text=cursor.text,
        table=table,
        create=create,
        replace=replace,
        if_not_exists=if_not_exists,
        external=external,
        columns=(*columns, *found.partition_columns),
        partitioning=tuple(found.partitioning),
        partition_columns=tuple(column.name for column in found.partition_columns),
        provider=found.provider,
        location=found.location,
        comment=found.comment,
        properties=found.properties,
        options=found.options,
        storage=found.stored_as + found.row_format,
        collation=found.collation,
        query=() if query is None else (query,),
        references=references_between(cursor, query),
    )


def _columns(cursor: Cursor, types: TypeReader) -> tuple[ColumnDefinition, ...]:
    if not cursor.at("(") or _opens_query(cursor):
        return ()
    cursor.expect("(")
    columns: list[ColumnDefinition] = []
    while not cursor.at(")") or not columns:
        if columns:
            cursor.expect(",")
            clauses.refuse_table_constraint(cursor)
        columns.append(clauses.column_definition(cursor, types))
    cursor.expect(")")
    return tuple(columns)


def _opens_query(cursor: Cursor) -> bool:
    """Whether the brackets that open here hold a query: ``CREATE TABLE t (SELECT ...)``."""
    ahead = 1
    while cursor.peek(ahead).key == "(":
        ahead += 1
    word, following = cursor.peek(ahead), cursor.peek(ahead + 1)
    return word.key in ("SELECT", "WITH", "VALUES", "FROM", "TABLE") and following.key not in ("INT", "STRING", "BIGINT", ",", ")")


def _query(cursor: Cursor) -> Span | None:
    cursor.accept("AS")
    if cursor.at_end or cursor.at(";"):
        if cursor.tokens[cursor.position - 1].key == "AS":
            cursor.no_alternative()
        return None
    if cursor.token.key not in ("SELECT", "WITH", "VALUES", "FROM", "TABLE", "(", "MAP", "REDUCE"):
        cursor.no_alternative()
    return clauses.rest(cursor)


def _check_query(cursor: Cursor, found: _Clauses, has_columns: bool, create: bool) -> None:
    form = "Create Table As Select (CTAS)" if create else "Replace Table As Select (RTAS)"
    if has_columns:
        cursor.fail(f"Operation not allowed: Schema may not be specified in a {form} statement.")
    if found.partition_columns:
        cursor.fail(f"Operation not allowed: Partition column types may not be specified in {form}.")


def _provider(cursor: Cursor) -> str | None:
    """USING stands right behind the columns, before all other clauses."""
    return ".".join(cursor.name_parts()) if cursor.accept("USING") else None


def _read_clauses(cursor: Cursor, types: TypeReader, found: _Clauses) -> None:
    while _read_clause(cursor, types, found):
        pass
    hive_format.check_together(cursor, found.provider, found.stored_as, found.row_format)


def _once(cursor: Cursor, found: _Clauses, clause: str) -> None:
    if clause in found.seen:
        cursor.fail(f"Found duplicate clauses: {clause}. Please, remove one of them.")
    found.seen.add(clause)


def _read_clause(cursor: Cursor, types: TypeReader, found: _Clauses) -> bool:
    if cursor.accept("PARTITIONED", "BY"):
        _once(cursor, found, "PARTITIONED BY")
        _partitioned_by(cursor, types, found)
    elif cursor.accept("CLUSTERED", "BY"):
        _once(cursor, found, "CLUSTERED BY")
        _clustered_by(cursor, found)
    elif cursor.accept("CLUSTER", "BY"):
        span = cursor.skip_balanced()
        cursor.fail_at(f"Transform is not supported: cluster_by{span.of(cursor.text)}", span)
    elif cursor.accept("LOCATION"):
        _once(cursor, found, "LOCATION")
        found.location = cursor.string()
    elif cursor.accept("COMMENT"):
        _once(cursor, found, "COMMENT")
        found.comment = cursor.string()
    elif cursor.accept("TBLPROPERTIES"):
        _once(cursor, found, "TBLPROPERTIES")
        found.properties = clauses.properties(cursor)
    elif cursor.accept("OPTIONS"):
        _once(cursor, found, "OPTIONS")
        found.options = clauses.options(cursor)
    elif cursor.accept("DEFAULT", "COLLATION"):
        _once(cursor, found, "DEFAULT COLLATION")
        found.collation = ".".join(cursor.name_parts())
    elif cursor.accept("STORED", "AS"):
        _once(cursor, found, "STORED AS")
        found.stored_as = hive_format.stored_as(cursor)
    elif cursor.accept("ROW", "FORMAT"):
        _once(cursor, found, "ROW FORMAT")
        found.row_format = hive_format.row_format(cursor)
    else:
        return False
    return True


def _partitioned_by(cursor: Cursor, types: TypeReader, found: _Clauses) -> None:
    start = cursor.token.start
    cursor.expect("(")
    first = True
    while not cursor.at(")") or first:
        if not first:
            cursor.expect(",")
        first = False
        if cursor.token.is_identifier and cursor.peek().kind is Kind.WORD:
            found.partition_columns.append(clauses.column_definition(cursor, types))
        else:
            found.partitioning.append(transform_term(cursor, create_table=True))
    cursor.expect(")")
    if not found.partition_columns:
        return
    if found.partitioning:
        expressions = ", ".join(term.text for term in found.partitioning)
        columns = ", ".join(f"{column.name} {column.type_text}" for column in found.partition_columns)
        message = f"PARTITION BY: Cannot mix partition expressions and partition columns: Expressions: {expressions} Columns: {columns}"
        cursor.fail_at(message, Span(start, cursor.last_end))
    found.partitioning = [
        TransformTerm(transform=IDENTITY, column=column.path, text=column.name, plain=True) for column in found.partition_columns
    ]


def _clustered_by(cursor: Cursor, found: _Clauses) -> None:
    start = cursor.token.start
    if not cursor.at("("):
        cursor.mismatch("(")
    columns = clauses.name_list(cursor)
    if cursor.accept("SORTED", "BY"):
        span = Span(start, cursor.skip_balanced().end)
        cursor.fail_at(f"Transform is not supported: sorted_bucket{span.of(cursor.text)}", span)
    cursor.expect("INTO")
    width_token = cursor.token
    width = cursor.integer()
    cursor.expect("BUCKETS")
    text = f"bucket({width}, {', '.join('.'.join(column) for column in columns)})"
    if not 0 < width < 2**31:
        cursor.fail(f"Unsupported width for transform: {text}", width_token)
    if len(columns) > 1:
        cursor.fail_at(f"Cannot convert transform with more than one column reference: {text}", Span(start, cursor.last_end))
    found.partitioning.append(TransformTerm(transform=bucket(width), column=columns[0], text=text, function="bucket"))


def _create_like(cursor: Cursor, table: TableName, if_not_exists: bool) -> CreateTableLike:
    source = cursor.table_name()
    found = _Clauses()
    while True:
        if found.provider is None:
            found.provider = _provider(cursor)
        if not _read_clause(cursor, TypeReader(cursor), found):
            break
    cursor.expect_end()
    return CreateTableLike(
        text=cursor.text,
        table=table,
        source=source,
        if_not_exists=if_not_exists,
        provider=found.provider,
        location=found.location,
        properties=found.properties,
    )
