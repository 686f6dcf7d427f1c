"""``"name"`` as an identifier (``spark.sql.ansi.doubleQuotedIdentifiers``): written with back-ticks, which quote names in every mode."""

from __future__ import annotations

from icesql.parser.text.edits import Edit, quote, rewrite
from icesql.parser.text.tokens import Kind, tokenize


def with_back_ticks(text: str) -> str:
    """The text with its double-quoted strings as identifiers; single-quoted and raw strings stay strings."""
    edits = [
        Edit(token.start, token.end, quote(text[token.start + 1 : token.end - 1].replace('""', '"')))
        for token in tokenize(text)
        if token.kind is Kind.STRING and text[token.start] == '"'
    ]
    return rewrite(text, edits).text if edits else text
