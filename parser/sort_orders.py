"""Sort orders as procedures take them: ``id DESC NULLS LAST, bucket(4, x)`` or ``zorder(a, b)``."""

from __future__ import annotations

from dataclasses import dataclass

from icesql.errors import SqlError
from icesql.parser.cursor import Cursor
from icesql.parser.ddl_statements import SortTerm
from icesql.parser.names import NameParts
from icesql.parser.transform_terms import sort_term


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSortOrder:
    """Either ``terms`` or, for a Z-order, ``zorder``: the columns whose bits are interleaved."""

    terms: tuple[SortTerm, ...] = ()
    zorder: tuple[NameParts, ...] = ()


def parse_sort_order(text: str) -> ParsedSortOrder:
    """Read a sort order.

    Raises SqlError ``Unable to parse sortOrder: ...`` or ``Cannot mix identity sort columns and a Zorder sort expression: ...``.
    """
    try:
        cursor = Cursor(text)
        terms: list[SortTerm] = []
        zorders: list[tuple[NameParts, ...]] = []
        bracketed = cursor.accept("(")
        while True:
            if cursor.at("ZORDER", "("):
                zorders.append(_zorder(cursor))
            else:
                terms.append(sort_term(cursor))
            if not cursor.accept(","):
                break
        if bracketed:
            cursor.expect(")")
        cursor.expect_end()
    except SqlError as error:
        if "not supported" in error.message or "width" in error.message:
            raise
        raise SqlError(
            f"Unable to parse sortOrder: {text}", text=text, line=error.line, column=error.column, length=error.length
        ) from error
    if zorders and (terms or len(zorders) > 1):
        raise SqlError(f"Cannot mix identity sort columns and a Zorder sort expression: {text}")
    return ParsedSortOrder(terms=tuple(terms), zorder=zorders[0] if zorders else ())


def _zorder(cursor: Cursor) -> tuple[NameParts, ...]:
    cursor.expect("ZORDER", "(")
    columns = [cursor.name_parts()]
    while cursor.accept(","):
        columns.append(cursor.name_parts())
    cursor.expect(")")
    if cursor.accept_any("ASC", "DESC"):
        cursor.fail("a Z-order has no direction")
    return tuple(columns)
