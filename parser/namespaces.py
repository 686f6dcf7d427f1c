"""Namespaces: CREATE, DROP, ALTER, COMMENT ON, USE."""

from __future__ import annotations

from icesql.parser import clauses
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import AlterNamespace, CommentOn, CreateNamespace, DropNamespace, Properties
from icesql.parser.tokens import Kind
from icesql.parser.utility_statements import Use, UseCatalog

WORDS = ("NAMESPACE", "SCHEMA", "DATABASE")


def create_namespace(cursor: Cursor) -> CreateNamespace:
    cursor.expect("CREATE")
    cursor.expect_any(*WORDS)
    if_not_exists = clauses.if_not_exists(cursor)
    namespace = cursor.table_name()
    comment: str | None = None
    location: str | None = None
    properties: Properties = ()
    while not (cursor.at_end or cursor.at(";")):
        if cursor.accept("COMMENT"):
            comment = cursor.string()
        elif cursor.accept("LOCATION"):
            location = cursor.string()
        elif cursor.accept("WITH", "DBPROPERTIES") or cursor.accept("WITH", "PROPERTIES"):
            properties = clauses.properties(cursor)
        elif cursor.accept("DEFAULT", "COLLATION"):
            cursor.name_parts()
        else:
            cursor.no_alternative()
    cursor.expect_end()
    return CreateNamespace(
        text=cursor.text, namespace=namespace, if_not_exists=if_not_exists, comment=comment, location=location, properties=properties
    )


def drop_namespace(cursor: Cursor) -> DropNamespace:
    cursor.expect("DROP")
    cursor.expect_any(*WORDS)
    if_exists = clauses.if_exists(cursor)
    namespace = cursor.table_name()
    cascade = cursor.accept_any("RESTRICT", "CASCADE") == "CASCADE"
    cursor.expect_end()
    return DropNamespace(text=cursor.text, namespace=namespace, if_exists=if_exists, cascade=cascade)


def alter_namespace(cursor: Cursor) -> AlterNamespace:
    cursor.expect("ALTER")
    cursor.expect_any(*WORDS)
    namespace = cursor.table_name()
    if cursor.accept("SET", "LOCATION"):
        found = AlterNamespace(text=cursor.text, namespace=namespace, location=cursor.string())
    elif cursor.accept("SET"):
        cursor.expect_any("DBPROPERTIES", "PROPERTIES")
        found = AlterNamespace(text=cursor.text, namespace=namespace, set=clauses.properties(cursor))
    else:
        cursor.expect("UNSET")
        cursor.expect_any("DBPROPERTIES", "PROPERTIES")
        found = AlterNamespace(text=cursor.text, namespace=namespace, unset=clauses.property_keys(cursor))
    cursor.expect_end()
    return found


def comment_on(cursor: Cursor) -> CommentOn:
    cursor.expect("COMMENT", "ON")
    kind = "table" if cursor.expect_any("TABLE", *WORDS) == "TABLE" else "namespace"
    name = cursor.table_name()
    cursor.expect("IS")
    comment = None if cursor.accept("NULL") else cursor.string()
    cursor.expect_end()
    return CommentOn(text=cursor.text, kind=kind, name=name, comment=comment)


def use(cursor: Cursor) -> Use:
    cursor.expect("USE")
    namespace_only = cursor.token.key in WORDS and cursor.peek().is_identifier
    if namespace_only:
        cursor.next()
    name = cursor.table_name()
    cursor.expect_end()
    return Use(text=cursor.text, name=name, namespace_only=namespace_only)


def set_catalog(cursor: Cursor) -> UseCatalog:
    cursor.expect("SET", "CATALOG")
    name = cursor.string() if cursor.token.kind is Kind.STRING else cursor.identifier()
    cursor.expect_end()
    return UseCatalog(text=cursor.text, name=name)
