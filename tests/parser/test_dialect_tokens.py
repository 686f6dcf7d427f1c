from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import SqlError
from icesql.parser.dialect.iceberg import Iceberg
from icesql.parser.dialect.sqlglot_source import TokenError
from icesql.parser.dialect.tokens import for_sqlglot
from icesql.parser.text.tokens import tokenize
from tests.effort import examples

ICEBERG = Iceberg()


@given(st.text(alphabet="ab1 '\"`-/*\n;.$\\é+(", max_size=60))
@examples(100)
def test_they_are_the_lexers_tokens_at_the_same_places(text):
    try:
        lexemes = tokenize(text)[:-1]
    except SqlError:
        with pytest.raises(TokenError):
            ICEBERG.tokenize(text)
        return
    found = ICEBERG.tokenize(text)
    assert [(token.start, token.end + 1) for token in found] == [(lexeme.start, lexeme.end) for lexeme in lexemes]
    assert all(token.line == text.count("\n", 0, token.end + 1) + 1 for token in found)


@given(st.lists(st.sampled_from(["/* a /* b */ */", "-- line\n", "x", "'s -- no'", "\n", "1.5BD"]), max_size=8))
@examples(50)
def test_every_comment_is_kept_once(pieces):
    text = " ".join(pieces)
    comments = [comment for token in ICEBERG.tokenize(text) for comment in token.comments]
    words = any(piece.strip() and not piece.startswith(("/*", "--")) for piece in pieces)
    assert len(comments) == (sum(piece.startswith(("/*", "--")) for piece in pieces) if words else 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a group by b", ["a", "GROUP BY", "b"]),
        ("t.group by", ["t", ".", "group", "by"]),
        ("3L 1.5BD 2f", ["3", "::", "BIGINT", "1.5BD", "2", "::", "FLOAT"]),
        ("X 'ff'", ["ff"]),
        ("select /*+ broadcast(t) */ 1", ["select", "/*+", "1"]),
        ("partitioned by (a)", ["PARTITIONED BY", "(", "a", ")"]),
    ],
)
def test_what_sqlglots_grammar_reads(text, expected):
    assert [token.text for token in for_sqlglot(ICEBERG.tokenize(text), text)] == expected
