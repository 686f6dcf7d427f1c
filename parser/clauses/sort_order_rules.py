"""The rules for sort orders given as text of their own."""

from __future__ import annotations

from icesql.parser.dialect.columns import Columns
from icesql.parser.frozen.columns import ColumnValues
from icesql.parser.statements.ddl import SortTerm
from icesql.parser.text.names import NameParts


def read_sort_order(text: str) -> tuple[list[SortTerm], list[tuple[NameParts, ...]]]:
    """The terms, and the Z-orders among them. Raises SqlError."""
    reader, values = SortOrders.of(text), ColumnValues(text)
    terms: list[SortTerm] = []
    zorders: list[tuple[NameParts, ...]] = []
    bracketed = reader.accept("(")
    while True:
        if reader.at("ZORDER", "("):
            zorders.append(reader.zorder())
        else:
            terms.append(values.sort_term(reader.sort_term()))
        if not reader.accept(","):
            break
    if bracketed:
        reader.expect(")")
    reader.expect_end()
    return terms, zorders


class SortOrders(Columns):
    def zorder(self) -> tuple[NameParts, ...]:
        self.expect("ZORDER")
        columns = self.in_brackets(self.name_parts)
        if self.accept_any("ASC", "DESC"):
            self.fail("a Z-order has no direction")
        return tuple(columns)
