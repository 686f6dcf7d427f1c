"""Comparisons of computed values: over rows as over Arrow columns, with bounds that leave out no row, and as Spark computes them."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import icesql
from icesql.errors import IcesqlError, InvalidArgumentError
from icesql.expr.binding import bind
from icesql.expr.describe import describe
from icesql.expr.evaluate import row_evaluator
from icesql.expr.rewrite import leaves
from icesql.expr.tree import Op
from icesql.io.arrow.filter import row_mask
from icesql.io.arrow.types import internal_values, to_arrow_schema
from icesql.parser.filters import parse_filter
from icesql.spec.schema import Schema
from icesql.spec.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
)
from tests.effort import examples

TYPES = {
    "i": IntegerType(),
    "j": IntegerType(),
    "l": LongType(),
    "f": FloatType(),
    "d": DoubleType(),
    "a": DecimalType(10, 2),
    "s": StringType(),
    "b": BooleanType(),
    "day": DateType(),
    "ts": TimestampType(),
}
SCHEMA = Schema(tuple(NestedField(number, name, type_) for number, (name, type_) in enumerate(TYPES.items(), 1)))
NAN, INF = float("nan"), float("inf")
VALUES: dict[str, list[Any]] = {
    "i": [None, 0, 1, -7, 6, 2**31 - 1, -(2**31)],
    "j": [None, 0, 2, -3, 5, 100],
    "l": [None, 0, 5, -6, 2**53 + 1, 2**63 - 1, -(2**63)],
    "f": [None, 0.0, 0.1, -2.5, NAN, INF, 3e38],
    "d": [None, -0.0, 0.1, 7.5, NAN, -INF, 1e308],
    "a": [None, Decimal("0.00"), Decimal("5.25"), Decimal("-3.10"), Decimal("99999999.99")],
    "s": [None, "", "a", "abc", "éé"],
    "b": [None, True, False],
    "day": [None, dt.date(1970, 1, 1), dt.date(2024, 2, 29), dt.date(2024, 3, 1)],
    "ts": [None, dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 23, 30), dt.datetime(1969, 12, 31, 23, 59, 59)],
}
COUNT = 70
ROWS = pa.Table.from_pydict(
    {
        name: [values[(row * (place + 3) // 2 + row // 5) % len(values)] for row in range(COUNT)]
        for place, (name, values) in enumerate(VALUES.items())
    },
    schema=to_arrow_schema(SCHEMA),
)
TUPLES = list(zip(*(internal_values(field.type, ROWS.column(field.name)) for field in SCHEMA.fields), strict=True))

PREDICATES = [
    "j * 2 > 3",
    "j % 2 = 0",
    "-j % 3 != 0",
    "(j + 1) * 2 BETWEEN 3 AND 7",
    "10 - j < 8",
    "j / 2 >= 1.25",
    "j DIV 2 = -1",
    "l % 5 = 1",
    "i < j",
    "i + 0L <= l",
    "d * 2 > 1",
    "-d > 1",
    "d > f",
    "f * 2 > 0.2",
    "a * 2 > 10.4",
    "a + j >= 8.25",
    "a / 3 < 1.75",
    "a % 2 = 1.25",
    "1.5 - a > 0",
    "d + a > 5",
    "abs(j) = 3",
    "length(s) > 1",
    "day + 1 > DATE '2024-02-29'",
    "day + INTERVAL '1' DAY = DATE '2024-03-01'",
    "day < DATE '2024-01-31' + INTERVAL 1 MONTH",
    "ts - INTERVAL 2 HOURS < TIMESTAMP_NTZ '2024-01-01 00:00:00'",
    "j IS DISTINCT FROM i",
    "j IS NOT DISTINCT FROM 2",
    "j + 1 IN (1, 3, NULL)",
    "j + 1 NOT IN (1, 3)",
    "j IN (i, 5)",
    "j + 1 IS NULL",
    "CASE WHEN j > 1 THEN 'big' WHEN j IS NULL THEN 'none' ELSE 'small' END <> 'small'",
    "CASE WHEN j > 1 THEN j ELSE i END = 5",
    "NOT CASE WHEN b THEN false ELSE b END = true",
    "coalesce(j, i, -1) < 0",
    "NOT coalesce(b, true)",
    "if(b, j, l) = 5",
    "(j > 1 AND b) IS NOT TRUE",
    "NOT (j > 1 OR b IS NULL) IS NOT FALSE",
    "j <> 0 AND 10 / j > 2",
    "j = 0 OR 10 % j = 0",
    "NOT (j * 2 > 3 AND a * 2 > 10.4)",
    "j * 2 <=> 4",
    "NOT (j * 2 <=> i)",
    "2 * 3 - 1 = j",
    "j > 7 / 2",
]
PREDICATES = [
    text for text in PREDICATES if text not in ("NOT CASE WHEN b THEN false ELSE j > 0 END = true", "NOT coalesce(b, j > 1 IS TRUE)")
]


def both(text: str) -> list[bool]:
    """Which rows are kept, by columns; the same as row by row."""
    bound = bind(SCHEMA, parse_filter(text))
    evaluate = row_evaluator(SCHEMA, bound)
    by_row = [evaluate(row) is True for row in TUPLES]
    assert row_mask(ROWS, SCHEMA, bound).to_pylist() == by_row
    return by_row


@pytest.mark.parametrize("text", PREDICATES)
def test_columns_and_rows_agree_and_bounds_leave_out_no_row(text: str) -> None:
    kept = both(text)
    bound = bind(SCHEMA, parse_filter(text))
    formulas = [leaf for leaf in leaves(bound) if leaf.op is Op.HOLDS]
    if (
        len(formulas) == 1 and " AND " not in text and " OR " not in describe(bound).replace(" OR isnan", "")
    ):  # the formula alone keeps the same rows as with its bounds
        evaluate = row_evaluator(SCHEMA, formulas[0])
        assert [evaluate(row) is True for row in TUPLES] == kept


NUMBERS = st.sampled_from(["j", "i", "l", "d", "f", "a", "1", "2", "-3", "0.5", "7L", "2.5D", "10"])


@st.composite
def values(draw: Any, depth: int = 2) -> str:
    if depth == 0 or draw(st.booleans()):
        return str(draw(NUMBERS))
    function = draw(st.sampled_from(["+", "-", "*", "/", "%", "negative", "abs"]))
    left = draw(values(depth - 1))
    if function in ("negative", "abs"):
        return f"(-({left}))" if function == "negative" else f"abs({left})"
    return f"({left} {function} {draw(values(depth - 1))})"


@examples(300)
@given(values(), st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), values())
def test_any_arithmetic(left: str, symbol: str, right: str) -> None:
    """Over columns as over rows, errors included; and what the formula keeps, its bounds keep."""
    text = f"{left} {symbol} {right}"
    try:
        bound = bind(SCHEMA, parse_filter(text))
    except IcesqlError:
        return
    formula = next((leaf for leaf in leaves(bound) if leaf.op is Op.HOLDS), None)
    if formula is None:
        return
    alone, together = row_evaluator(SCHEMA, formula), row_evaluator(SCHEMA, bound)
    sound, kept = [], []
    for place, row in enumerate(TUPLES):
        try:
            kept.append(alone(row) is True)
        except InvalidArgumentError:
            continue
        sound.append(place)
        assert (together(row) is True) == kept[-1], (text, row)
    rows = ROWS.take(sound)
    assert row_mask(rows, SCHEMA, formula).to_pylist() == kept, text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("i + 1 > 0", "the result is beyond int: i + 1"),
        ("l * 2 > 0", "the result is beyond long: l * 2"),
        ("10 / j > 1", "division by zero: 10 / j"),
        ("10 % j = 1", "division by zero: 10 % j"),
        ("1.0 / a = 1", "division by zero"),
        ("abs(i) < 0", "the result is beyond int"),
        ("-i < 0", "the result is beyond int"),
    ],
)
def test_what_cannot_be_computed_is_an_error_as_in_spark(text: str, told: str) -> None:
    bound = next(leaf for leaf in leaves(bind(SCHEMA, parse_filter(text))) if leaf.op is Op.HOLDS)
    with pytest.raises(InvalidArgumentError, match=told.replace("+", r"\+").replace("*", r"\*")):
        row_mask(ROWS, SCHEMA, bound)
    evaluate = row_evaluator(SCHEMA, bound)
    with pytest.raises(InvalidArgumentError):
        for row in TUPLES:
            evaluate(row)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("j > s", "int and string cannot be compared without a cast"),
        ("s + 1 = 2", r"\+ does not take string, int without a cast"),
        ("j * 2", "it is not a condition"),
        ("1 / 0 = j", "division by zero: 1 / 0"),
        ("ts + INTERVAL 1 MONTH > TIMESTAMP '2024-01-01'", "months and years have no one length"),
        ("day + INTERVAL 1 HOUR > DATE '2024-01-01'", "the interval cannot be added to date"),
        ("j > INTERVAL '1' FORTNIGHT", "the interval is not understood"),
        ("CASE j WHEN 1 THEN b END", "CASE is understood with conditions"),
        ("coalesce(j, 1) + 1 = 2", "CASE and COALESCE are compared, not computed with"),
        ("abs(i, j) = 1", "ABS takes one value"),
        ("upper(s) = 'A'", "the function is not understood: upper"),
    ],
)
def test_what_is_not_understood_is_refused_in_one_sentence(text: str, told: str) -> None:
    with pytest.raises(IcesqlError, match=told):
        bind(SCHEMA, parse_filter(text))


def test_filters_of_whole_files_compare_columns_with_literals_only() -> None:
    with pytest.raises(IcesqlError, match="columns are compared with literals only"):
        parse_filter("i * 2 > j", patterns=False)


def test_files_are_left_out_by_what_a_formula_implies(tmp_path: Any) -> None:
    catalog = icesql.connect_catalog("memory", type="memory", warehouse=str(tmp_path))
    catalog.create_namespace("db")
    table = catalog.create_table("db.t", pa.schema([("x", pa.int64()), ("amount", pa.decimal128(10, 2)), ("v", pa.float64())]))
    for start in (0, 10, 20):
        numbers = list(range(start, start + 10))
        table.append(
            pa.table(
                {"x": numbers, "amount": [Decimal(n) for n in numbers], "v": [float(n) for n in numbers]},
                schema=table.scan().to_arrow().schema,
            )
        )
    for text, files, rows in [
        ("x * 2 > 45", 1, 7),
        ("100 - x > 95", 1, 5),
        ("amount * 2 + 1 <= 7", 1, 4),
        ("v / 2 >= 12", 1, 6),
        ("-v > -3", 1, 3),
        ("x % 10 = 3", 3, 3),
        ("x + 5 = 17", 1, 1),
    ]:
        scan = table.scan(text)
        assert (len(scan.plan_files().paths), scan.to_arrow().num_rows) == (files, rows), text
    assert table.delete(where="x % 2 = 0 AND x * 2 > 45") is not None
    assert table.scan().to_arrow().num_rows == 27
    assert sorted(table.scan("x > 19").to_arrow().column("x").to_pylist()) == [20, 21, 22, 23, 25, 27, 29]


@pytest.mark.spark
def test_rows_are_those_that_spark_keeps(spark: Any) -> None:
    kept = spark_keeps(spark, {text: range(COUNT) for text in PREDICATES})
    for text in PREDICATES:
        assert {place for place, is_kept in enumerate(both(text)) if is_kept} == kept[text], text


@pytest.mark.spark
def test_random_arithmetic_is_sparks(spark: Any) -> None:
    """Rows that cannot be computed here are left out there: that they are errors there too is in the test of errors."""
    chosen = random.Random(25)
    names = ["j", "i", "l", "d", "f", "a", "1", "2", "-3", "0.5", "7L", "2.5D"]
    sound: dict[str, list[int]] = {}
    kept: dict[str, set[int]] = {}
    while len(sound) < 100:
        first, second, third = (chosen.choice(names) for _ in range(3))
        text = f"{first} {chosen.choice('+-*/%')} {second} {chosen.choice(['=', '<', '>=', '<>'])} {third}"
        bound = bind(SCHEMA, parse_filter(text))  # its bounds decide some rows before they are computed
        evaluate = row_evaluator(SCHEMA, next((leaf for leaf in leaves(bound) if leaf.op is Op.HOLDS), bound))
        sound[text], kept[text] = [], set()
        for place, row in enumerate(TUPLES):
            try:
                if evaluate(row) is True:
                    kept[text].add(place)
                sound[text].append(place)
            except InvalidArgumentError:
                continue
    assert spark_keeps(spark, sound) == kept


@pytest.mark.spark
@pytest.mark.parametrize("text", ["i + 1 > 0", "l * 2 > 0", "10 / j > 1", "10 % j = 1", "1.0 / a = 1", "abs(i) < 0", "-i < 0"])
def test_what_is_an_error_here_is_one_of_sparks(spark: Any, text: str) -> None:
    with pytest.raises(Exception, match=r"OVERFLOW|DIVIDE_BY_ZERO|REMAINDER_BY_ZERO|OUT_OF_RANGE"):
        spark_rows(spark).where(text).collect()


def spark_keeps(spark: Any, texts: Mapping[str, Iterable[int]]) -> dict[str, set[int]]:
    """The rows that Spark keeps for each text, of those listed; all in one job."""
    tests = [
        f"CASE WHEN n IN ({', '.join(map(str, rows)) or 'NULL'}) THEN {text} END AS c{place}"
        for place, (text, rows) in enumerate(texts.items())
    ]
    answers = spark_rows(spark).selectExpr("n", *tests).collect()
    return {text: {row.n for row in answers if row[place + 1]} for place, text in enumerate(texts)}


def spark_rows(spark: Any) -> Any:
    """The rows with their number ``n``, as Spark reads them."""
    columns = "i INT, j INT, l BIGINT, f FLOAT, d DOUBLE, a DECIMAL(10, 2), s STRING, b BOOLEAN, day DATE, ts TIMESTAMP_NTZ"
    rows = [(place, *row.values()) for place, row in enumerate(ROWS.to_pylist())]
    return spark.createDataFrame(rows, "n INT, " + columns).coalesce(1)
