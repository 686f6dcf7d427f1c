from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import SqlError
from icesql.parser.text.parameters import quoted_string
from icesql.parser.text.tokens import Kind, string_value, tokenize
from tests.effort import examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t.1a.b", ["t", ".", "1a", ".", "b"]),
        ("1.5e3 .5 5. 1e9 7L 3Y 2S 1.5BD 2F", ["1.5e3", ".5", "5.", "1e9", "7L", "3Y", "2S", "1.5BD", "2F"]),
        ("a<=>b|>c::d=>e->f", ["a", "<=>", "b", "|>", "c", "::", "d", "=>", "e", "->", "f"]),
        ("array<array<int>>", ["array", "<", "array", "<", "int", ">", ">"]),
        ("a -- x\\\n still\nb", ["a", "b"]),
        ("a/* /* */ ' */b", ["a", "b"]),
        ("/*+ hint(t) */ 1", ["/*+", "hint", "(", "t", ")", "*/", "1"]),
        ("${x} :name ?", ["${x}", ":", "name", "?"]),
        ("'it''s' 'a\\'b' r'\\n' \"q\"\"\"", ["'it''s'", "'a\\'b'", "r'\\n'", '"q"""']),
        ("`a``b`.c", ["`a``b`", ".", "c"]),
        ("hdfs://host/x-y 1", ["hdfs://host/x-y", "1"]),
        ("$$a'b$$ $", ["$$a'b$$", "$"]),
        ("größe日本", ["größe日本"]),
    ],
)
def test_tokens(text, expected):
    assert [token.text for token in tokenize(text)[:-1]] == expected


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'a'", "a"),
        ("'it''s'", "it's"),
        ("'a\\tb\\\\n'", "a\tb\\n"),
        ("'\\u00e9\\U0001F600\\101'", "é😀A"),
        ("'100\\%\\_'", "100\\%\\_"),
        ("r'\\n'", "\\n"),
        ('"say ""x"""', 'say "x"'),
        ("$t$a'$b$t$", "a'$b"),
        ("'\\q'", "q"),
    ],
)
def test_string_values(literal, value):
    assert string_value(literal) == value


@given(st.text(max_size=40))
@examples(100)
def test_a_quoted_string_reads_back(value):
    (token, _) = tokenize(quoted_string(value))
    assert token.kind is Kind.STRING
    assert token.string == value


@given(st.text(alphabet="ab '\"`-/*\n;.$\\1é", max_size=60))
@examples(100)
def test_tokens_lie_in_the_text_in_order(text):
    try:
        tokens = tokenize(text)
    except SqlError:
        return
    end = 0
    for token in tokens[:-1]:
        assert end <= token.start < token.end <= len(text)
        assert text[token.start : token.end] == token.text
        end = token.end
