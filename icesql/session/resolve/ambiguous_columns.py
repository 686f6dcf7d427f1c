"""Tables whose columns differ by case only: they are read and written while ``spark.sql.caseSensitive`` is true, and not otherwise."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from icesql.session.run.ddl.schemas import refuse_doubled_fields
from icesql.spec.case_folding import fold
from icesql.spec.schema import Schema

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState


def refuse_ambiguous(session: SessionState, schema: Schema) -> None:
    """Raises SqlError ``COLUMN_ALREADY_EXISTS`` for two columns, or two fields of one struct, that the session takes for one."""
    if _are_told_apart_by_case(schema) and not session.is_case_sensitive:
        refuse_doubled_fields(schema, fold)


@lru_cache(maxsize=256)
def _are_told_apart_by_case(schema: Schema) -> bool:
    names = [fold(name) for name in schema.ids_by_name]
    return len(set(names)) < len(names)
