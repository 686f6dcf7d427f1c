"""``IDENTIFIER(expression)``: Spark evaluates the expression before the statement is parsed, since table names must be known then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.errors import SqlError
from icesql.parser.text.edits import Edit, quote, rewrite
from icesql.parser.text.identifiers import parse_name
from icesql.parser.text.parameters import quoted_string
from icesql.parser.text.token_groups import QUERY_WORDS, behind_brackets
from icesql.parser.text.tokens import Kind, Token, tokenize

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def with_plain_identifiers(session: SessionState, text: str) -> str:
    """The text with every such expression as the name that it is, or, in queries, as one string where it is a whole name of its own.

    Expressions that Spark cannot evaluate, or whose value is no name, stay; so do strings in a view's query, which is stored as written.
    """
    if "identifier" not in text.lower():
        return text
    tokens = tokenize(text)
    query = _start_of_query(text, tokens)
    edits = []
    for at, token in enumerate(tokens[:-2]):
        if token.key != "IDENTIFIER" or tokens[at + 1].key != "(":
            continue
        behind = behind_brackets(tokens, at + 1)
        inner = tokens[at + 2 : behind - 1]
        is_part = (at > 0 and tokens[at - 1].key == ".") or tokens[behind].key in (".", "(")
        is_text = bool(inner) and all(each.kind is Kind.STRING or each.key == "||" for each in inner)
        if not inner or (is_text and not is_part and token.start >= query):
            continue
        value = _value(session, text[inner[0].start : inner[-1].end])
        if value is not None and not is_part and token.start >= query:
            edits.append(Edit(inner[0].start, inner[-1].end, quoted_string(value)))
        elif value is not None and (name := _name(value)) is not None:
            edits.append(Edit(token.start, inner[-1].end + 1, name))
    return rewrite(text, edits).text if edits else text


def _start_of_query(text: str, tokens: tuple[Token, ...]) -> int:
    """From where on the text is a query that Spark, or our own search for tables, reads with these clauses in it."""
    if tokens[0].key in QUERY_WORDS:
        return 0
    keys = [token.key for token in tokens[:6]]
    if keys[0] == "CREATE" and "VIEW" in keys:
        return next((token.start for token in tokens if token.key == "AS"), len(text))
    return len(text)


def _value(session: SessionState, expression: str) -> str | None:
    from pyspark.errors import PySparkException

    try:
        value = session.spark_sql(f"SELECT {expression} AS name").collect()[0][0]
    except PySparkException:
        return None
    return value if isinstance(value, str) else None


def _name(value: str) -> str | None:
    try:
        return quote(*parse_name(value))
    except SqlError:
        return None
