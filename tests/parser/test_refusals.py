"""10,000 mutated statements: what the parser takes for a statement of ours, Spark or Iceberg take for one too."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator

import pytest

from icesql.errors import SqlError
from icesql.parser import parse
from icesql.parser import statements as forms
from icesql.parser.statements import Explain, Statement
from icesql.parser.text.names import Span
from tests.parser.pairs_file import all_pairs
from tests.parser.test_fuzz import mutated

MUTATIONS = 10_000
LEFT_TO_SPARK = (
    forms.Other, forms.Query, forms.SetConfiguration, forms.ResetConfiguration, forms.ExecuteImmediate,
)  # fmt: skip
"""Spark gets the whole text."""
REFUSED_ALWAYS = (
    forms.RefusedAlter, forms.RefusedTableCommand, forms.AnalyzeTable, forms.TruncateTable, forms.SetDefaultCollation,
)  # fmt: skip
"""For tables of ours, whatever stands behind."""
ONLY_OURS = (forms.BeginTransaction, forms.CommitTransaction, forms.RollbackTransaction)
QUERIES = ("query", "body")
TEXTS = sorted({text for _, text, _ in all_pairs()})


def read(text: str) -> Statement | None:
    """The statement of ours, ``None`` for one that is refused or left to Spark."""
    try:
        statement = parse(text)
    except SqlError:
        return None
    inner = statement.statement if isinstance(statement, Explain) else statement
    return None if isinstance(inner, (*LEFT_TO_SPARK, *REFUSED_ALWAYS, *ONLY_OURS)) else statement


def pieces(value: object, text: str, field: str = "") -> Iterator[tuple[str, bool]]:
    """The queries and expressions that stay text, which Spark judges when the statement runs, each with whether it is a query."""
    if isinstance(value, Span):
        yield value.of(text), field in QUERIES
    elif isinstance(value, tuple) and field in QUERIES:
        yield " ".join(part.of(text) for part in value), True
    elif isinstance(value, tuple):
        for part in value:
            yield from pieces(part, text, field)
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from pieces(getattr(value, each.name), text, each.name)


@pytest.mark.interop
def test_what_spark_and_iceberg_refuse_is_not_read(oracle) -> None:
    random_ = random.Random(21)
    texts = [mutated(random_.choice(TEXTS), random_, most=1 + i % 2) for i in range(MUTATIONS)]
    ours = {text: statement for text in texts if (statement := read(text)) is not None}
    assert len(ours) > MUTATIONS / 8
    whole = [text.rstrip("; ") for text in ours]  # a script's `;` is no part of a statement
    refused = oracle.call("tests.parser.refusals:refused_statements", whole)
    open_ = {text: list(pieces(ours[text], ours[text].text)) for text, is_refused in zip(ours, refused, strict=True) if is_refused}
    asked = list(dict.fromkeys(piece for parts in open_.values() for piece in parts))
    answers = dict(zip(asked, oracle.call("tests.parser.refusals:refused_pieces", asked), strict=True))
    wrong = [(type(ours[text]).__name__, text) for text, parts in open_.items() if not any(answers[part] for part in parts)]
    assert wrong == []
