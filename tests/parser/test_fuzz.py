"""Mutated statements raise SqlError or are read; nothing else, and quickly."""

from __future__ import annotations

import random
import time

import pytest

from icesql.errors import SqlError
from icesql.parser import parse, split
from icesql.parser.filters import parse_filter
from icesql.parser.text.names import Place
from icesql.parser.text.references import references
from icesql.parser.text.substitute import Replacement, substitute
from tests.parser.pairs_file import all_pairs

TEXTS = [text for _, text, _ in all_pairs()]
FRAGMENTS = [
    "(",
    ")",
    ",",
    ".",
    ";",
    "'",
    '"',
    "`",
    "/*",
    "*/",
    "--",
    "select",
    "from",
    "where",
    "as",
    "with",
    "table",
    "$$",
    "${x}",
    ":a",
    "?",
    "=>",
    "|>",
    "<",
    ">",
    "[",
    "]",
    "{",
    "}",
    "case",
    "end",
    "begin",
    "interval",
    "\\",
    "0",
    "1e999",
    "lateral",
    "view",
    "values",
    "identifier(",
    "cast(",
    "array(",
    "r'",
    "x'zz'",
    "partition",
    "set",
    "not",
    "null",
    "version",
    "timestamp",
    "of",
    "merge",
    "using",
    "when",
    "then",
    "insert",
    "99999999999999999999",
]


def mutated(text: str, random_: random.Random, most: int = 4) -> str:
    """A text with one change to ``most`` changes."""
    for _ in range(random_.randint(1, most)):
        start = random_.randrange(len(text) + 1)
        end = min(len(text), start + random_.randint(0, 15))
        match random_.randrange(4):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = f"{text[:start]} {random_.choice(FRAGMENTS)} {text[start:]}"
            case 2:
                text = text[:start] + text[start:end] * 2 + text[end:]
            case _:
                other = random_.choice(TEXTS)
                at = random_.randrange(len(other))
                text = text[:start] + other[at : at + 30] + text[start:]
    return text


@pytest.mark.parametrize("seed", range(10))
def test_mutations(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(300):
        text = mutated(random_.choice(TEXTS), random_)
        for read in (parse, split, parse_filter, _substituted):
            started = time.process_time()
            try:
                read(text)
            except SqlError as error:
                assert error.line is None or error.line >= 1
            assert time.process_time() - started < 2, text


def _substituted(text: str) -> None:
    found = references(text)
    views = {t.start: Replacement(view="v", full_name=t.parts or ("x",)) for t in found.tables if t.place is not Place.TARGET}
    result = substitute(text, found, views)
    for offset in range(0, len(result.text), 7):
        assert 0 <= result.offset(offset) <= len(text)


@pytest.mark.parametrize(
    "text",
    [
        "select " + "(" * 2000 + "1" + ")" * 2000,
        "create table t (a " + "struct<a:" * 2000 + "int" + ">" * 2000 + ")",
        "call p(x => " + "array(" * 2000 + ")" * 2000 + ")",
        "explain " * 2000 + "select 1",
        "/*" * 5000,
        "/*" * 5000 + "*/" * 5000 + "select 1",
        "'" + "''" * 5000,
        "select '" + "\\'" * 5000,
        "select '" + "a" * 50_000,
        "merge into a using b on " + "case " * 2000,
        "select " + "a." * 5000 + "a",
        "select * from " + "(" * 2000,
        "select * from " + "(" * 20_000,
        "select " + "(" * 20_000 + "1" + ")" * 20_000,
        "create table t " + "(" * 20_000 + "select 1",
        "alter table t unset tblproperties (" + ",".join(f"'{i}'" for i in range(5000)) + ")",
    ],
)
def test_deep_and_long_statements(text: str) -> None:
    started = time.process_time()
    for read in (parse, parse_filter):
        try:
            read(text)
        except SqlError:
            continue
    assert time.process_time() - started < 3
