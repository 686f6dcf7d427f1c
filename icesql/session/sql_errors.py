"""Errors with the wording of Spark's own, for statements that Spark would have refused in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, SqlError, UnsupportedError, ValidationError, nearest
from icesql.parser.text.edits import quote
from icesql.parser.text.names import Span
from icesql.parser.text.places import line_and_column
from icesql.spark_errors import spark_message


class MissingTableError(SqlError, NotFoundError):
    """A table or view that a statement names is not there; knows its place in the text."""


def quoted(parts: Sequence[str]) -> str:
    """```a`.`b```, as Spark prints names in messages."""
    return quote(*parts)


def table_not_found(parts: Sequence[str], known: Iterable[str] = (), *, text: str = "", offset: int | None = None) -> MissingTableError:
    """``offset``: where the name stands in ``text``, if it does."""
    line, column = (None, None) if offset is None or not text else line_and_column(text, offset)
    return MissingTableError(
        spark_message("TABLE_OR_VIEW_NOT_FOUND", f"The table or view {quoted(parts)} cannot be found. "
        f"Verify the spelling and correctness of the schema and catalog.{nearest(parts[-1], known)}"),
        text=text, line=line, column=column, length=len(".".join(parts)),
    )  # fmt: skip


def table_exists(parts: Sequence[str]) -> AlreadyExistsError:
    return AlreadyExistsError(
        spark_message(
            "TABLE_OR_VIEW_ALREADY_EXISTS",
            f"Cannot create table or view {quoted(parts)} because it already exists.\n"
            "Choose a different name, drop or replace the existing object, or add the IF NOT EXISTS clause to tolerate pre-existing "
            "objects.",
        ),
        name=".".join(parts),
    )


def view_not_found(parts: Sequence[str]) -> NotFoundError:
    return NotFoundError(
        spark_message(
            "VIEW_NOT_FOUND", f"The view {quoted(parts)} cannot be found. Verify the spelling and correctness of the schema and catalog."
        )
    )


def function_not_found(parts: Sequence[str]) -> NotFoundError:
    path = "[`system`.`builtin`, `system`.`session`]"
    return NotFoundError(spark_message("UNRESOLVED_ROUTINE", f"Cannot resolve routine {quoted(parts)} on search path {path}."))


def schema_not_found(parts: Sequence[str], known: Iterable[str] = ()) -> NotFoundError:
    return NotFoundError(
        spark_message(
            "SCHEMA_NOT_FOUND",
            f"The schema {quoted(parts)} cannot be found. "
            f"Verify the spelling and correctness of the schema and catalog.{nearest(parts[-1], known) if parts else ''}",
        )
    )


def column_exists(path: Sequence[str]) -> SqlError:
    return SqlError(
        spark_message(
            "COLUMN_ALREADY_EXISTS", f"The column {quoted(path)} already exists. Choose another name or rename the existing column."
        )
    )


def branch_not_found(name: str, known: Iterable[str]) -> ValidationError:
    return ValidationError(f"Cannot use branch (does not exist): {name}.{nearest(name, known)}", branch=name)


def schema_exists(parts: Sequence[str]) -> AlreadyExistsError:
    return AlreadyExistsError(
        spark_message(
            "SCHEMA_ALREADY_EXISTS",
            f"Cannot create schema {quoted(parts)} because it already exists.\n"
            "Choose a different name, drop the existing schema, or add the IF NOT EXISTS clause to tolerate pre-existing schema.",
        )
    )


def not_for_v2(command: str) -> UnsupportedError:
    return UnsupportedError(spark_message("NOT_SUPPORTED_COMMAND_FOR_V2_TABLE", f"{command} is not supported for v2 tables."))


def no_partition_management(parts: Sequence[str]) -> UnsupportedError:
    return UnsupportedError(
        spark_message(
            "INVALID_PARTITION_OPERATION.PARTITION_MANAGEMENT_IS_UNSUPPORTED",
            f"The partition command is invalid. Table {quoted(parts)} does not support partition management.",
        )
    )


class MissingColumnError(SqlError, NotFoundError):
    """A column or field that a statement names is not there; knows its place in the text."""


def unresolved_column(name: Sequence[str], known: Sequence[str], *, text: str = "", place: Span | None = None) -> MissingColumnError:
    """Columns nearest in spelling come first, as Spark lists them. ``place``: where the name stands in ``text``, if it does."""
    if not known:
        return _missing_column(
            spark_message(
                "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
                f"A column, variable, or function parameter with name {quoted(name)} cannot be resolved.",
            ),
            text,
            place,
        )
    listed = ", ".join(quoted([column]) for column in sorted(known, key=lambda column: _distance(column, name[-1]))[:5])
    return _missing_column(
        spark_message(
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            f"A column, variable, or function parameter with name {quoted(name)} cannot be resolved. "
            f"Did you mean one of the following? [{listed}].",
        ),
        text,
        place,
    )


def field_not_found(name: str, known: Iterable[str], *, text: str = "", place: Span | None = None) -> MissingColumnError:
    names = ", ".join(quoted([field]) for field in known)
    return _missing_column(spark_message("FIELD_NOT_FOUND", f"No such struct field {quoted([name])} in {names}."), text, place)


def _missing_column(message: str, text: str, place: Span | None) -> MissingColumnError:
    if place is None:
        return MissingColumnError(message)
    line, column = line_and_column(text, place.start)
    return MissingColumnError(message, text=text, line=line, column=column, length=place.end - place.start)


def routine_not_found(parts: Sequence[str], known: Iterable[str] = ()) -> NotFoundError:
    return NotFoundError(spark_message("FAILED_TO_LOAD_ROUTINE", f"Failed to load routine {quoted(parts)}.{nearest(parts[-1], known)}"))


def no_procedures(catalog: str) -> UnsupportedError:
    return UnsupportedError(spark_message("MISSING_CATALOG_ABILITY.PROCEDURES", f"Catalog {catalog} does not support procedures."))


def not_iceberg(action: str, parts: Sequence[str]) -> UnsupportedError:
    return UnsupportedError(f"Cannot {action} non-Iceberg table: {'.'.join(parts)}")


def both_version_and_selector() -> InvalidArgumentError:
    return InvalidArgumentError("Can't time travel using selector and Spark time travel spec at the same time")


def _distance(left: str, right: str) -> tuple[int, str]:
    """Levenshtein distance, ignoring case; the name breaks ties."""
    a, b = left.lower(), right.lower()
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1], left
