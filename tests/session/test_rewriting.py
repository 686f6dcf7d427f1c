"""Edits keep track of where every character came from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from icesql.parser.text.edits import Edit, padded, rewrite
from icesql.parser.text.names import Span
from icesql.parser.text.places import line_and_column, offset_of
from tests.effort import examples


def test_places_behind_a_replacement_map_back() -> None:
    text = "SELECT x FROM a.b\nWHERE y = 1"
    done = rewrite(text, [Edit(14, 17, "view AS b")])
    assert done.text == "SELECT x FROM view AS b\nWHERE y = 1"
    assert done.offset(done.text.index("y =")) == text.index("y =")
    assert done.offset(done.text.index("view") + 3) == 14


def test_pieces_are_joined_by_blanks_and_keep_their_edits() -> None:
    text = "WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM a.b"
    done = rewrite(text, [Edit(49, 52, "v")], [Span(0, 20), Span(35, 52)])
    assert done.text == "WITH c AS (SELECT 1) SELECT * FROM v"
    assert done.offset(done.text.index("SELECT *")) == text.index("SELECT *")


@examples(60)
@given(st.text(alphabet="ab \n", max_size=40), st.data())
def test_unedited_characters_map_to_themselves(text: str, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6, unique=True)))
    edits = [Edit(a, b, data.draw(st.sampled_from(["", "X", "XYZ"]))) for a, b in zip(places[::2], places[1::2], strict=False)]
    done = rewrite(text, edits)
    replaced = {i for e in edits for i in range(e.start, e.end)}
    kept = [i for i in range(len(text)) if i not in replaced]
    shown = [i for i, c in enumerate(done.text) if c not in "XYZ"]
    assert [done.text[i] for i in shown] == [text[i] for i in kept]
    assert [done.offset(i) for i in shown] == kept


@given(st.text(alphabet="ab\n", max_size=30), st.data())
def test_line_and_column_and_back(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    line, column = line_and_column(text, offset)
    assert offset_of(text, line, column - 1) == offset


def test_shorter_replacements_are_padded() -> None:
    assert padded("v", 3) == "v  "
    assert padded("view", 3) == "view"
