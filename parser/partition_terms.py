"""Partition terms given as text of their own, as DataFrame writers take them: ``days(ts)``, ``bucket(16, id)``, ``region``."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.parser.statements.ddl import TransformTerm


def parse_partition_terms(texts: Iterable[str]) -> tuple[TransformTerm, ...]:
    """The terms of all texts, each of which holds one or several between commas. Raises SqlError."""
    from icesql.parser.dialect.columns import Columns  # sqlglot is loaded when it is first needed
    from icesql.parser.frozen.columns import ColumnValues

    terms = []
    for text in texts:
        reader, values = Columns.of(text), ColumnValues(text)
        terms.append(values.term(reader.transform(create_table=True)))
        while reader.accept(","):
            terms.append(values.term(reader.transform(create_table=True)))
        reader.expect_end()
    return tuple(terms)
