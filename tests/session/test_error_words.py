"""Errors of broken statements speak about the user's text: its places, its names, none of ours; every kind of statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import icesql
from icesql.errors import SqlError
from icesql.session.script import error_text
from icesql.session.session import Session

pytestmark = pytest.mark.spark
_OURS = re.compile(r"_ice|__in_source|__file_number|An error occurred while calling")
_SPARKS_PLACE = re.compile(r"line (\d+),? pos(?:ition)? (\d+)")


@pytest.fixture(scope="module")
def ice(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    warehouse: Path = tmp_path_factory.mktemp("words")
    session = icesql.connect(spark, catalogs={"words": {"type": "sql", "uri": f"sqlite:///{warehouse}/c.db", "warehouse": str(warehouse)}})
    session.sql("CREATE NAMESPACE words.db")
    session.sql("CREATE TABLE words.db.orders (id INT, s STRUCT<a: INT, b: STRING>, name STRING)")
    session.sql("CREATE TABLE words.db.src (id INT, name STRING)")
    session.sql("INSERT INTO words.db.orders VALUES (1, named_struct('a', 1, 'b', 'x'), 'n')")
    session.sql("INSERT INTO words.db.src VALUES (1, 'a'), (2, 'b')")
    yield session
    session.sql("DROP NAMESPACE IF EXISTS words.none")


def raised(ice: Session, text: str) -> Exception:
    with pytest.raises(Exception) as caught:
        ice.sql(text).collect()
    return caught.value


def place_of(error: Exception) -> tuple[int, int] | None:
    """Line and column, both from 1, that the error's text tells."""
    if isinstance(error, SqlError):
        return None if error.line is None or error.column is None else (error.line, error.column)
    match = _SPARKS_PLACE.search(str(error))
    return (int(match[1]), int(match[2]) + 1) if match else None


# Each is broken where the mark stands; the mark is taken out first.
AT_A_PLACE = """
SELECT * FROM words.db.orders JOIN^
SELECT * FROM words.db.orders JOIN words.db.src ON^
SELECT ^nope FROM words.db.orders
SELECT id FROM words.db.orders ORDER BY ^nope
SELECT * FROM words.db.orders o, words.db.src WHERE ^nope = 1
SELECT words.system.bucket(4, ^nope) FROM words.db.orders
WITH a AS (SELECT ^nope FROM words.db.orders) SELECT * FROM a
INSERT INTO words.db.src SELECT ^nope, name FROM words.db.orders
INSERT INTO words.db.src SELECT id, name FROM words.db.orders JOIN^
INSERT INTO words.db.src VALUES ('x', ^nope)
INSERT INTO words.db.src (id, ^nope) VALUES (1, 'x')
INSERT INTO words.db.src^
INSERT OVERWRITE words.db.src SELECT id, name FROM words.db.orders WHERE ^nope = 1
CREATE TABLE words.db.x AS SELECT ^nope FROM words.db.orders
CREATE TABLE words.db.x AS SELECT * FROM words.db.orders JOIN^
CREATE TEMPORARY VIEW v AS SELECT * FROM words.db.orders JOIN^
CREATE TEMPORARY VIEW v AS SELECT ^nope FROM words.db.orders
CACHE TABLE c AS SELECT ^nope FROM words.db.orders
EXPLAIN DELETE FROM words.db.orders WHERE id =^
EXPLAIN MERGE INTO words.db.orders t USING words.db.src s ON t.id = WHEN ^MATCHED THEN DELETE
UPDATE words.db.orders SET name =^
UPDATE words.db.orders SET ^nope = 1
UPDATE words.db.orders SET name = 'x', ^s.nope = 2
UPDATE words.db.orders SET name = ^nope
UPDATE words.db.orders SET name = (SELECT ^nope FROM words.db.src) WHERE id = 1
UPDATE words.db.orders SET name = 'x' WHERE ^nope = 1
UPDATE words.db.orders SET name = 'x' WHERE id =^
UPDATE words.db.orders SET name = 'x' WHERE (id = 1^
UPDATE words.db.orders SET name = ^nofunc(id)
DELETE FROM words.db.orders WHERE^
DELETE FROM words.db.orders WHERE ^nope = 1
DELETE FROM words.db.orders WHERE id =^
DELETE FROM words.db.orders WHERE id IN (SELECT ^nope FROM words.db.src)
DELETE FROM words.db.orders WHERE ^id = s
MERGE INTO words.db.orders USING words.db.src ON orders.id = ^src.nope WHEN MATCHED THEN DELETE
MERGE INTO words.db.orders USING words.db.src ON ^orders.nope = src.id WHEN MATCHED THEN DELETE
MERGE INTO words.db.orders t USING words.db.src s ON t.id = s.id WHEN MATCHED THEN UPDATE SET ^nope = 1
MERGE INTO words.db.orders t USING words.db.src u ON t.id = u.id WHEN MATCHED THEN UPDATE SET name = ^u.nope
MERGE INTO words.db.orders t USING words.db.src s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id, ^nope) VALUES (1, 2)
MERGE INTO words.db.orders t USING words.db.src s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (^nope)
MERGE INTO words.db.orders t USING (SELECT ^nope FROM words.db.src) s ON t.id = s.id WHEN MATCHED THEN DELETE
MERGE INTO words.db.orders t USING words.db.src s ON t.id = WHEN ^MATCHED THEN DELETE
MERGE INTO words.db.orders t USING words.db.src s^
ALTER TABLE words.db.orders ADD COLUMN x^
CALL words.system.rollback_to_snapshot('words.db.orders', ^nope)
CALL words.system.rollback_to_snapshot('words.db.orders', (SELECT max(^nope) FROM words.db.orders))
CALL words.system.rollback_to_snapshot('words.db.orders', 1 +^)
TRUNCATE TABLE ^words.db.none
"""


@pytest.mark.parametrize("marked", AT_A_PLACE.strip().splitlines())
def test_an_error_is_at_its_place_in_the_users_text(ice: Session, marked: str) -> None:
    text, column = marked.replace("^", ""), marked.index("^") + 1
    error = raised(ice, text)
    assert _OURS.search(str(error)) is None
    at_end = column > len(text)
    assert place_of(error) in ([(1, column), (1, column + 1)] if at_end else [(1, column)])  # our own parser points behind the last word


def test_places_count_lines_too(ice: Session) -> None:
    error = raised(ice, "UPDATE words.db.orders SET name = 'x',\n  id =\n nope\nWHERE id = 1")
    assert place_of(error) == (3, 2)


def test_one_fault_named_twice_is_found_where_it_stands_first(ice: Session) -> None:
    assert place_of(raised(ice, "UPDATE words.db.orders SET name = nope, id = nope")) == (1, 35)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, FROM words.db.orders",
        "INSERT INTO words.db.src SELECT id, FROM words.db.orders",
        "DELETE FROM words.db.orders WHERE id",
        "INSERT INTO words.db.src REPLACE WHERE id = SELECT 1, 'a'",
        "CALL words.system.rewrite_data_files(table => 'words.db.orders', where => 'nope = 1')",
        "CALL words.system.rewrite_data_files(table => 'words.db.orders', where => 'id = ')",
        "CREATE VIEW words.db.v AS SELECT nope FROM words.db.orders",
        "EXECUTE IMMEDIATE 'SELECT nope FROM words.db.orders'",
        "FROM words.db.orders INSERT INTO words.db.src SELECT nope, name",
        "FROM words.db.orders |> WHERE nope = 1",
        "UPDATE words.db.orders SET id = id / 0",
        "SELECT id FROM words.db.orders GROUP BY name",
        "SELECT * FROM words.db.orders UNION SELECT * FROM words.db.src",
    ],
)
def test_no_name_of_ours_is_shown(ice: Session, text: str) -> None:
    error = raised(ice, text)
    assert _OURS.search(str(error)) is None
    assert _OURS.search(error_text(error)) is None


def test_a_predicate_of_a_call_is_shown_with_its_own_place(ice: Session) -> None:
    error = raised(ice, "CALL words.system.rewrite_data_files(table => 'words.db.orders', where => 'id = ')")
    assert "end of input" in str(error)
    error = raised(ice, "CALL words.system.rewrite_data_files(table => 'words.db.orders', where => 'nope = 1')")
    assert "line 1 pos 0" in str(error)


def test_an_error_while_rows_are_read_is_told_about_the_users_text(ice: Session) -> None:
    error = raised(ice, "SELECT id FROM words.db.orders\nWHERE id / 0 = 1")
    assert "== SQL (line 2, position 7) ==\nWHERE id / 0 = 1\n      ^^^^^^" in error_text(error)
    assert _OURS.search(error_text(error)) is None


def test_errors_of_java_have_their_own_message(ice: Session) -> None:
    with pytest.raises(Exception) as caught, ice.statement() as state:
        state.spark._jvm.java.util.ArrayList().get(3)
    assert "Index 3 out of bounds" in str(caught.value)
    assert _OURS.search(str(caught.value)) is None
