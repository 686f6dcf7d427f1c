"""The rules for sort orders given as text of their own."""

from __future__ import annotations

from icesql.parser.dialect.columns import Columns
from icesql.parser.frozen.columns import ColumnValues
from icesql.parser.statements.ddl import SortTerm
from icesql.parser.text.names import NameParts


def read_sort_order(text: str) -> tuple[list[SortTerm], list[NameParts], list[NameParts]]:
    """The terms, the columns of Z-orders among them, and those of Hilbert curves. Raises SqlError."""
    reader, values = SortOrders.of(text), ColumnValues(text)
    terms: list[SortTerm] = []
    curves: dict[str, list[NameParts]] = {"ZORDER": [], "HILBERT": []}
    bracketed = reader.accept("(")
    while True:
        curve = next((name for name in curves if reader.at(name, "(")), None)
        if curve is not None:
            curves[curve] += reader.curve(curve)
        else:
            terms.append(values.sort_term(reader.sort_term()))
        if not reader.accept(","):
            break
    if bracketed:
        reader.expect(")")
    reader.expect_end()
    return terms, curves["ZORDER"], curves["HILBERT"]


class SortOrders(Columns):
    def curve(self, name: str) -> list[NameParts]:
        self.expect(name)
        columns = self.in_brackets(self.name_parts)
        if self.accept_any("ASC", "DESC"):
            self.fail(f"{name} has no direction")
        return list(columns)
