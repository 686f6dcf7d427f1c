"""``IDENTIFIER(expression)``: the names of tables must be known before a statement runs, so Spark is asked what the expression is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from icesql.parser.parameters import quoted_string
from icesql.parser.token_groups import behind_brackets
from icesql.parser.tokens import Kind, tokenize
from icesql.session.rewriting import Edit, rewrite

if TYPE_CHECKING:
    from icesql.session.session import Session


def with_plain_identifiers(session: Session, text: str, args: Any) -> str:
    """The text with every such expression as one string literal. What is one already, and what Spark cannot say, stays."""
    if "identifier" not in text.lower():
        return text
    tokens = tokenize(text)
    edits = []
    for at, token in enumerate(tokens[:-2]):
        if token.key != "IDENTIFIER" or tokens[at + 1].key != "(" or (at and tokens[at - 1].key == "."):
            continue
        inner = tokens[at + 2 : behind_brackets(tokens, at + 1) - 1]
        if inner and not all(each.kind is Kind.STRING or each.key == "||" for each in inner):
            value = _value(session, text[inner[0].start : inner[-1].end], args)
            if value is not None:
                edits.append(Edit(inner[0].start, inner[-1].end, quoted_string(value)))
    return rewrite(text, edits).text if edits else text


def _value(session: Session, expression: str, args: Any) -> str | None:
    from pyspark.errors import PySparkException

    try:
        found = session.spark_sql(f"SELECT {expression} AS name", args if isinstance(args, Mapping) else None).collect()[0][0]
    except PySparkException:
        return None
    return found if isinstance(found, str) else None
