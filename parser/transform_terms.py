"""Transforms and sort terms as SQL spells them: ``bucket(16, id)``, ``days(ts) DESC NULLS LAST``."""

from __future__ import annotations

from icesql.errors import nearest
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import SortTerm, TransformTerm
from icesql.parser.names import NameParts, Span
from icesql.parser.tokens import Kind
from icesql.spec.sorting import NullOrder, SortDirection
from icesql.spec.transforms import DAY, HOUR, IDENTITY, MONTH, YEAR, Transform, bucket, truncate

_BY_NAME = {
    "identity": IDENTITY,
    "year": YEAR,
    "years": YEAR,
    "month": MONTH,
    "months": MONTH,
    "day": DAY,
    "days": DAY,
    "date": DAY,
    "hour": HOUR,
    "hours": HOUR,
    "date_hour": HOUR,
}  # fmt: skip
_WITH_WIDTH = {"bucket": bucket, "truncate": truncate}


def transform_term(cursor: Cursor, *, create_table: bool = False) -> TransformTerm:
    """Read one transform or plain column. The width is the first integer among the arguments, wherever it stands.

    ``create_table``: with the refusals of Spark's parser for PARTITIONED BY, which wants a bucket's width first.
    """
    start = cursor.token.start
    if not (cursor.token.is_identifier and cursor.peek().key == "("):
        column = cursor.name_parts()
        return TransformTerm(transform=IDENTITY, column=column, text=Span(start, cursor.last_end).of(cursor.text), plain=True)
    function = cursor.identifier()
    numbers, columns = _arguments(cursor)
    span = Span(start, cursor.last_end)
    text = span.of(cursor.text)
    if create_table and function.lower() == "bucket":
        _check_bucket_first(cursor, span)
    transform = _transform(cursor, function.lower(), numbers, span)
    if not columns:
        cursor.fail_at(f"Not enough arguments for transform {function}", span)
    if len(columns) > 1:
        cursor.fail_at(f"Cannot convert transform with more than one column reference: {text}", span)
    if create_table and numbers and transform.width is None:
        cursor.fail_at(f"Too many arguments for transform {function}", span)
    return TransformTerm(transform=transform, column=columns[0], text=text, function=function)


def _transform(cursor: Cursor, name: str, numbers: list[int], span: Span) -> Transform:
    if name in _BY_NAME:
        return _BY_NAME[name]
    text = span.of(cursor.text)
    if name not in _WITH_WIDTH:
        cursor.fail_at(f"Transform is not supported: {text}{nearest(name, (*_BY_NAME, *_WITH_WIDTH))}", span)
    if not numbers:
        cursor.fail_at(f"Cannot find width for transform: {text}", span)
    if not 0 < numbers[0] < 2**31:
        cursor.fail_at(f"Unsupported width for transform: {text}", span)
    return _WITH_WIDTH[name](numbers[0])


def _arguments(cursor: Cursor) -> tuple[list[int], list[NameParts]]:
    numbers: list[int] = []
    columns: list[NameParts] = []
    cursor.expect("(")
    while not cursor.at(")"):
        if numbers or columns:
            cursor.expect(",")
        if cursor.token.is_identifier:
            columns.append(cursor.name_parts())
        else:
            numbers.append(_whole_number(cursor))
    cursor.expect(")")
    return numbers, columns


def _whole_number(cursor: Cursor) -> int:
    sign = -1 if cursor.accept("-") else 1
    token = cursor.token
    digits = token.text.rstrip("lLsSyY")
    if token.kind is not Kind.NUMBER or not digits.isdigit() or len(digits) > 100:
        cursor.no_alternative()
    cursor.next()
    return sign * int(digits)


def _check_bucket_first(cursor: Cursor, span: Span) -> None:
    inner = Cursor(span.of(cursor.text))
    inner.identifier()
    inner.expect("(")
    if inner.token.is_identifier:
        argument = ".".join(inner.name_parts())
        cursor.fail_at(f"Invalid number of buckets: {argument}.", span)


def sort_terms(cursor: Cursor) -> tuple[SortTerm, ...]:
    """A list of sort terms, bare or in one pair of brackets."""
    bracketed = cursor.accept("(")
    terms = [sort_term(cursor)]
    while cursor.accept(","):
        terms.append(sort_term(cursor))
    if bracketed:
        cursor.expect(")")
    return tuple(terms)


def sort_term(cursor: Cursor) -> SortTerm:
    """``term [ASC | DESC] [NULLS FIRST | LAST]``; nulls come first by default, last under DESC."""
    term = transform_term(cursor)
    direction = SortDirection.DESC if cursor.accept_any("ASC", "DESC") == "DESC" else SortDirection.ASC
    null_order = NullOrder.NULLS_LAST if direction is SortDirection.DESC else NullOrder.NULLS_FIRST
    if cursor.accept("NULLS"):
        null_order = NullOrder.NULLS_FIRST if cursor.expect_any("FIRST", "LAST") == "FIRST" else NullOrder.NULLS_LAST
    return SortTerm(term=term, direction=direction, null_order=null_order)
