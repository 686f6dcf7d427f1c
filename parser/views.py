"""CREATE VIEW, DROP VIEW, ALTER VIEW."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.base_statement import Statement
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import AlterViewAs, AlterViewProperties, CreateView, DropView, Properties, RenameView, ViewColumn
from icesql.parser.names import Span
from icesql.parser.references import references_between


def create_view(cursor: Cursor) -> CreateView | None:
    """Read from CREATE; None if it is not a view over a query (``CREATE TEMPORARY VIEW v USING ...``, METRICS views)."""
    cursor.expect("CREATE")
    replace = cursor.accept("OR", "REPLACE")
    global_temporary = cursor.accept("GLOBAL")
    temporary = cursor.accept("TEMPORARY") or cursor.accept("TEMP")
    if not cursor.accept("VIEW"):
        return None
    if_not_exists = clauses.if_not_exists(cursor)
    if replace and if_not_exists and not (temporary or global_temporary):
        cursor.fail("CREATE VIEW with both IF NOT EXISTS and REPLACE is not allowed.")
    view = cursor.table_name()
    columns = _columns(cursor)
    comment: str | None = None
    properties: Properties = ()
    provider: str | None = None
    while not cursor.at("AS"):
        if cursor.at("COMMENT") and comment is not None:
            cursor.fail("Found duplicate clauses: COMMENT. Please, remove one of them.")
        if cursor.at("TBLPROPERTIES") and properties:
            cursor.fail("Found duplicate clauses: TBLPROPERTIES. Please, remove one of them.")
        if cursor.accept("COMMENT"):
            comment = cursor.string()
        elif cursor.accept("TBLPROPERTIES"):
            properties = clauses.properties(cursor)
        elif cursor.accept("WITH", "SCHEMA"):
            cursor.accept("TYPE")
            cursor.expect_any("BINDING", "COMPENSATION", "EVOLUTION")
        elif cursor.accept("DEFAULT", "COLLATION"):
            cursor.name_parts()
        elif cursor.at("WITH", "METRICS"):
            return None
        elif (temporary or global_temporary) and cursor.accept("USING"):
            provider = ".".join(cursor.name_parts())
            break
        else:
            cursor.mismatch("AS")
    options: Properties = ()
    query = Span(0, 0)
    if provider is None:
        cursor.expect("AS")
        query = clauses.rest(cursor)
    else:
        options = clauses.properties(cursor) if cursor.accept("OPTIONS") else ()
        cursor.expect_end()
    return CreateView(
        text=cursor.text,
        view=view,
        replace=replace,
        temporary=temporary,
        global_temporary=global_temporary,
        if_not_exists=if_not_exists,
        columns=columns,
        comment=comment,
        properties=properties,
        provider=provider,
        options=options,
        query=query,
        references=references_between(cursor, query),
    )


def _columns(cursor: Cursor) -> tuple[ViewColumn, ...]:
    if not cursor.accept("("):
        return ()
    columns: list[ViewColumn] = []
    while not columns or cursor.accept(","):
        name = cursor.identifier()
        columns.append(ViewColumn(name=name, comment=cursor.string() if cursor.accept("COMMENT") else None))
    cursor.expect(")")
    return tuple(columns)


def drop_view(cursor: Cursor) -> DropView:
    cursor.expect("DROP", "VIEW")
    if_exists = clauses.if_exists(cursor)
    view = cursor.table_name()
    cursor.expect_end()
    return DropView(text=cursor.text, view=view, if_exists=if_exists)


def alter_view(cursor: Cursor) -> Statement:
    """Read from ALTER VIEW: properties, RENAME TO, AS."""
    cursor.expect("ALTER", "VIEW")
    view = cursor.table_name()
    if cursor.at("AS"):
        cursor.next()
        query = clauses.rest(cursor)
        return AlterViewAs(text=cursor.text, view=view, query=query, references=references_between(cursor, query))
    found: Statement
    if cursor.accept("SET", "TBLPROPERTIES"):
        found = AlterViewProperties(text=cursor.text, view=view, set=clauses.properties(cursor))
    elif cursor.accept("UNSET", "TBLPROPERTIES"):
        if_exists = clauses.if_exists(cursor)
        found = AlterViewProperties(text=cursor.text, view=view, unset=clauses.property_keys(cursor), if_exists=if_exists)
    elif cursor.accept("RENAME", "TO"):
        found = RenameView(text=cursor.text, view=view, new_name=cursor.table_name())
    else:
        cursor.no_alternative()
    cursor.expect_end()
    return found
