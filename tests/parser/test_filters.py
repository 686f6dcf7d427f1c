from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import SqlError
from icesql.expr.binding import bind
from icesql.expr.describe import describe
from icesql.expr.evaluate import row_evaluator
from icesql.expr.tree import FALSE, TRUE, And, Op, Predicate, Reference
from icesql.parser.filters import parse_filter
from icesql.spec.schema import Schema
from icesql.spec.transforms import DAY, bucket
from icesql.spec.types import BooleanType, DoubleType, IntegerType, NestedField, StringType
from tests.effort import examples

SCHEMA = Schema(
    fields=(
        NestedField(1, "i", IntegerType()),
        NestedField(2, "s", StringType()),
        NestedField(3, "b", BooleanType()),
        NestedField(4, "d", DoubleType()),
    )
)
NAN = float("nan")
ROWS = [
    (i, s, b, d) for i in (None, 1, 2) for s in (None, "", "ab", "a%") for b in (None, True, False) for d in (None, 1.5, NAN)
]  # fmt: skip


def kept(text):
    evaluate = row_evaluator(SCHEMA, bind(SCHEMA, parse_filter(text)))
    return [row for row in ROWS if evaluate(row) is True]


def expected(condition):
    """Rows for which ``condition`` (Python, None for SQL's null) is true."""
    return [row for row in ROWS if condition(*row) is True]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("i = 1", lambda i, s, b, d: i == 1),
        ("1 < i", lambda i, s, b, d: i is not None and i > 1),
        ("not (i = 1)", lambda i, s, b, d: i is not None and i != 1),
        ("not (i = 1 and b)", lambda i, s, b, d: (i is not None and i != 1) or b is False),
        ("not (i = 1 or b)", lambda i, s, b, d: i is not None and i != 1 and b is False),
        ("i = null or not (i = null)", lambda i, s, b, d: False),
        ("i <=> null", lambda i, s, b, d: i is None),
        ("not (i <=> 1)", lambda i, s, b, d: i != 1),
        ("i in (1, null)", lambda i, s, b, d: i == 1),
        ("i not in (1, null)", lambda i, s, b, d: False),
        ("i not in (1)", lambda i, s, b, d: i == 2),
        ("i between 2 and 5", lambda i, s, b, d: i == 2),
        ("i not between 2 and 5", lambda i, s, b, d: i == 1),
        ("s like 'a%'", lambda i, s, b, d: s is not None and s.startswith("a")),
        ("s not like 'a%'", lambda i, s, b, d: s == ""),
        ("s like 'a\\\\%'", lambda i, s, b, d: s == "a%"),
        ("s like '%'", lambda i, s, b, d: s is not None),
        ("s like '%b'", lambda i, s, b, d: s == "ab"),
        ("s like '_b'", lambda i, s, b, d: s == "ab"),
        ("s not like '%b%'", lambda i, s, b, d: s in ("", "a%")),
        ("not (s like 'a_' and i = 1)", lambda i, s, b, d: s == "" or (i is not None and i != 1)),
        ("s like 'a!%%' escape '!'", lambda i, s, b, d: s == "a%"),
        ("s like '%!%' escape '!'", lambda i, s, b, d: s == "a%"),
        ("contains(s, '%')", lambda i, s, b, d: s == "a%"),
        ("endswith(s, 'b')", lambda i, s, b, d: s == "ab"),
        ("startswith(s, 'a%')", lambda i, s, b, d: s == "a%"),
        ("b", lambda i, s, b, d: b is True),
        ("not b", lambda i, s, b, d: b is False),
        ("b is not true", lambda i, s, b, d: b is not True),
        ("b is false", lambda i, s, b, d: b is False),
        ("isnan(d)", lambda i, s, b, d: d is not None and d != d),
        ("not isnan(d)", lambda i, s, b, d: d is None or d == d),
        ("d = double('nan')", lambda i, s, b, d: d is not None and d != d),
        ("d < double('nan')", lambda i, s, b, d: d == 1.5),
        ("d <= double('nan')", lambda i, s, b, d: d is not None),
        ("i is null and s is not null", lambda i, s, b, d: i is None and s is not None),
        ("true and i = 1", lambda i, s, b, d: i == 1),
        ("1 > 2 or null", lambda i, s, b, d: False),
    ],
)
def test_a_filter_keeps_the_rows_for_which_it_is_true(text, condition):
    def same(rows):
        return [tuple("nan" if value != value else value for value in row) for row in rows]

    assert same(kept(text)) == same(expected(condition))


def test_transforms_and_names():
    assert parse_filter("bucket(16, id) = 3") == Predicate(Op.EQ, Reference("id", bucket(16)), (3,))
    assert parse_filter("local.system.BUCKET(16, a.`b c`) = 3") == Predicate(Op.EQ, Reference("a.b c", bucket(16)), (3,))
    assert parse_filter("days(ts) >= date '2021-10-01'") == Predicate(Op.GT_EQ, Reference("ts", DAY), ("2021-10-01",))
    assert parse_filter("2 > 1") == TRUE
    assert parse_filter("null") == FALSE


@pytest.mark.parametrize("text", ["s like '%a'", "s not like 'a_'", "contains(s, 'a')"])
def test_patterns_choose_rows_not_files(text):
    with pytest.raises(SqlError, match="prefixes only"):
        parse_filter(text, patterns=False)
    assert parse_filter("s like 'a%'", patterns=False) == parse_filter("s like 'a%'")


def test_a_pattern_prunes_by_its_beginning():
    wanted = And(Predicate(Op.STARTS_WITH, Reference("s"), ("a%",)), Predicate(Op.LIKE, Reference("s"), ("a\\%_b%",)))
    assert parse_filter("s like 'a!%_b%' escape '!'") == wanted


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("a = upper(b)", "the function is not understood: upper", 5),
        ("x = 1 and f(y) = 2", "the function is not understood: f", 11),
        ("i = 1 i", "extraneous input 'i'", 7),
        ("i =", "no viable alternative", 4),
        ("", "no viable alternative", 1),
        ("i in ()", "no viable alternative", 7),
        ("i = (select 1)", "extraneous input", None),
        ("5", "it is not a condition", 1),
        ("a = array(1)", "the function is not understood: array", 5),
    ],
)
def test_what_is_not_understood_is_pointed_at(text, message, column):
    with pytest.raises(SqlError) as caught:
        parse_filter(text)
    if column is not None:
        assert message in str(caught.value)
        assert caught.value.column == column


leaves = st.sampled_from(["i = 1", "i <> 2", "s = 'ab'", "b", "i is null", "d > 1", "i in (1, 2)", "s like 'a%'"])
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda text: f"not ({text})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) and ({pair[1]})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]}) or ({pair[1]})"),
    ),
    max_leaves=6,
)


@given(trees)
@examples(60)
def test_a_filter_and_its_negation_never_keep_the_same_row(text):
    positive, negative = kept(text), kept(f"not ({text})")
    assert not [row for row in positive if any(row is other for other in negative)]


def test_long_filters_do_not_nest_deeply():
    assert describe(parse_filter(" or ".join(f"i = {n}" for n in range(5000))))
