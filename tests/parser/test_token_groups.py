from __future__ import annotations

import pytest

from icesql.parser.text.token_groups import behind_brackets, items, name_at
from icesql.parser.text.tokens import tokenize


@pytest.mark.parametrize(
    ("text", "parts", "end"), [("a.`b.c`.d (", ("a", "b.c", "d"), 5), ("a. 1", ("a",), 1), ("a.", ("a",), 1), ("1.a", (), 0), ("", (), 0)]
)
def test_names(text, parts, end):
    assert name_at(tokenize(text), 0) == (parts, end)


@pytest.mark.parametrize(("text", "end"), [("(a, [b]) c", 7), ("()", 2), ("(a (b)", 5), ("({[", 3)])
def test_brackets(text, end):
    assert behind_brackets(tokenize(text), 0) == end


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a, f(b, [c, d]), e", ["a", "f(b,[c,d])", "e"]),
        ("a, b from c, d", ["a", "b"]),
        ("a, b), c", ["a", "b"]),
        ("", [""]),
        ("a,", ["a", ""]),
    ],
)
def test_items(text, found):
    assert ["".join(token.text for token in item) for item in items(tokenize(text), stops={"FROM"})] == found
