"""Stars leave metadata columns out, in the SELECT that reads the table and only there."""

from __future__ import annotations

import pytest

from icesql.parser.text.edits import rewrite
from icesql.session.rewrite.hidden_columns import Hidden, named_for, named_metadata_columns, star_edits


def starred(text: str, alias: str = "t") -> str:
    hidden = [Hidden(text.index(" t") + 1, alias, ("_file",))]
    return rewrite(text, star_edits(text, hidden)).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT *, _file FROM t", "SELECT * EXCEPT (`t`.`_file`), _file FROM t"),
        ("SELECT t.*, _file FROM t", "SELECT t.* EXCEPT (`t`.`_file`), _file FROM t"),
        ("SELECT count(*), _file FROM t", "SELECT count(*), _file FROM t"),
        ("SELECT 2 * 3, _file FROM t", "SELECT 2 * 3, _file FROM t"),
        ("SELECT * FROM (SELECT id, _file FROM t)", "SELECT * FROM (SELECT id, _file FROM t)"),
        ("SELECT * EXCEPT (id), _file FROM t", "SELECT * EXCEPT (`t`.`_file`, id), _file FROM t"),
        ("SELECT * FROM u UNION ALL SELECT *, _file FROM t", "SELECT * FROM u UNION ALL SELECT * EXCEPT (`t`.`_file`), _file FROM t"),
        ("SELECT u.*, _file FROM t, u", "SELECT u.*, _file FROM t, u"),
        ("SELECT * FROM t PIVOT (count(_file) FOR p IN (1))", "SELECT * FROM t PIVOT (count(_file) FOR p IN (1))"),
        ("SELECT *, _file FROM t, (SELECT 1 PIVOT)", "SELECT * EXCEPT (`t`.`_file`), _file FROM t, (SELECT 1 PIVOT)"),
    ],
)
def test_stars(text: str, expected: str) -> None:
    assert starred(text) == expected


def test_only_identifiers_count_as_named() -> None:
    assert named_metadata_columns("SELECT _FILE, '_pos' FROM t -- _row_id") == {"_file"}


def test_behind_a_pivot_only_what_it_names_is_shown() -> None:
    text, named = "SELECT _pos FROM t UNPIVOT INCLUDE NULLS (v FOR k IN (_file, id)) WHERE _pos = 1", frozenset({"_file", "_pos"})
    assert named_for(text, text.index("t UNPIVOT"), named) == {"_file"}
    assert named_for("SELECT _pos FROM t", 17, named) == named
