"""A view keeps the columns it was created with when its tables change: each is looked up by name and cast to its old type.

As Spark binds the views that it keeps (``GetViewColumnByNameAndOrdinal``, ``UpCast``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from icesql.errors import SqlError
from icesql.spark.jvm.queries import narrowing
from icesql.spark_errors import spark_message

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def as_made(frame: DataFrame, names: Sequence[str], schema: Any, key: Callable[[str], str], view: str) -> DataFrame:
    """The query's columns called ``names``, under the names and types of ``schema``; the frame itself where nothing has changed.

    ``key`` makes names equal that mean one column, ``view`` is the view's name for people. Raises SqlError where a column is no more
    there, or has come to hold more than the view's type does.
    """
    from pyspark.sql.functions import col

    given = frame.schema.fields
    if [f.name for f in given] == list(names) and all(_same(a.dataType, b.dataType) for a, b in zip(given, schema.fields, strict=True)):
        return frame if list(names) == schema.names else frame.toDF(*schema.names)
    numbered = frame.toDF(*(f"c{i}" for i in range(len(given))))
    columns = []
    for name, place, field in zip(names, _places([f.name for f in given], names, key, view), schema.fields, strict=True):
        column = col(f"c{place}")
        if not _same(given[place].dataType, field.dataType):
            refuse_narrowing(frame, place, name, field.dataType)
            column = column.cast(field.dataType)
        columns.append(column.alias(field.name, metadata={k: v for k, v in field.metadata.items() if k == "comment"}))
    return numbered.select(*columns)


def _places(have: Sequence[str], names: Sequence[str], key: Callable[[str], str], view: str) -> list[int]:
    """For each name its column among those that the query has now. Raises SqlError unless there are as many of the name as there were."""
    wanted = list(map(key, names))
    places = []
    for at, name in enumerate(wanted):
        matches = [i for i, other in enumerate(have) if key(other) == name]
        if len(matches) != wanted.count(name):
            raise SqlError(
                spark_message(
                    "INCOMPATIBLE_VIEW_SCHEMA_CHANGE",
                    f"The SQL query of view {view} has an incompatible schema change and column "
                    f"{names[at]} cannot be resolved. Expected {wanted.count(name)} columns named {names[at]} but got "
                    f"[{','.join(have[i] for i in matches)}].\n"
                    "Please try to re-create the view by running: CREATE OR REPLACE TEMPORARY VIEW.",
                )
            )
        places.append(matches[wanted[:at].count(name)])
    return places


def refuse_narrowing(frame: DataFrame, index: int, name: str, wanted: Any) -> None:
    """Raises SqlError where the frame's column has come to hold more than the view's type does."""
    types = narrowing(frame, index, wanted)
    if types is not None:
        raise SqlError(
            spark_message(
                "CANNOT_UP_CAST_DATATYPE",
                f'Cannot up cast {name} from "{types[0]}" to "{types[1]}": make the view again, or cast in its query.',
            )
        )


def _same(one: Any, other: Any) -> bool:
    """Whether types are the same but for what is required in them and the ids of fields."""
    return bool(one.jsonValue() == other.jsonValue()) or str(one.simpleString()) == str(other.simpleString())
