"""Iceberg's SQL as a dialect of sqlglot: ``sqlglot.parse_one(sql, read="iceberg")``.

The entry point ``sqlglot.dialects`` registers it for everybody who has icesql installed.
"""

from __future__ import annotations

from typing import Any

from icesql.parser.dialect import generator, grammar
from icesql.parser.dialect import tokens as dialect_tokens
from icesql.parser.dialect.sqlglot_source import Spark


class Iceberg(Spark):
    """Spark's SQL with Iceberg's statements, as Spark with Iceberg's extensions reads it."""

    Tokenizer = dialect_tokens.Tokenizer
    Parser = grammar.Parser
    Generator = generator.Generator

    def parse(self, sql: str, **options: Any) -> list[Any]:
        from icesql.parser.other_engines import (
            teach_other_engines,  # their generators are loaded for trees that may be printed by them
        )

        teach_other_engines()
        return list(super().parse(sql, **options))
