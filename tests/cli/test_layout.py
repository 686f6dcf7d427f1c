"""Rows on screens of any width: nothing is left out, and no line is longer than the screen."""

from __future__ import annotations

import datetime
import io
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from icesql.session.output.layout import AUTO, EXPANDED, LEAST_FOLDED_WIDTH, OFF, ON, Screen
from icesql.session.output.rows import grid_of, print_rows, visible

SNAPSHOTS = ("committed_at", "snapshot_id", "operation", "manifest_list", "summary")
SUMMARY = {f"key-{number}": f"value {number}" for number in range(20)}
ROW = (
    datetime.datetime(2026, 1, 2, 3, 4, 5, 678),
    8737492837498237498,
    "append",
    "/warehouse/db/t/metadata/" + "snap-" * 12 + ".avro",
    SUMMARY,
)


def shown(names: Any, rows: Any, width: int | None, expanded: str = AUTO, *, scrolls: bool = False) -> list[str]:
    out = io.StringIO()
    print_rows(names, rows, "table", out, Screen(width=width, expanded=expanded, scrolls=scrolls))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 160, 300])
@pytest.mark.parametrize("expanded", EXPANDED)
def test_every_value_is_there_and_every_line_fits(width: int, expanded: str) -> None:
    lines = shown(SNAPSHOTS, [ROW, ROW], width, expanded)
    assert max(map(cell_len, lines)) <= width
    for name in SNAPSHOTS:
        assert any(name in line for line in lines)
    unfolded = re.sub(r"[\s|]", "", "".join(re.sub(r"^ *\| |^\w+ *\| ", "", line) for line in lines))
    if expanded == ON or (expanded == AUTO and width < 300):
        for cell in grid_of(SNAPSHOTS, [ROW]).rows[0]:
            assert unfolded.count(re.sub(r"\s", "", cell)) == 2


def test_what_fits_is_a_plain_table() -> None:
    assert shown(("n", "text"), [(1, "x"), (20, None)], 12) == [" n  text", " 1  x", "20  NULL"]


def test_what_is_a_little_too_wide_is_folded() -> None:
    assert shown(("n", "text"), [(1, "x" * 20), (20, "y")], 20) == [" n  text", " 1  " + "x" * 16, "    " + "x" * 4, "20  y"]


def test_what_is_far_too_wide_becomes_records_as_psql_shows_them() -> None:
    assert shown(("id", "text"), [(1, "x" * 70), (20, "y")], 20) == [
        "-[ RECORD 1 ]-------",
        "id   | 1",
        *["text | " + "x" * 13] + ["     | " + "x" * 13] * 4 + ["     | " + "x" * 5],
        "-[ RECORD 2 ]-------",
        "id   | 20",
        "text | y",
    ]


def test_without_records_columns_go_in_bands_or_the_screen_scrolls() -> None:
    row = (1, "x" * 70, 3)
    assert shown(("id", "text", "other"), [row], 20, OFF) == [
        "-- column 1 of 3", "id", " 1", "-- column 2 of 3", "text", *["x" * 20] * 3, "x" * 10, "-- column 3 of 3", "other", "    3",
    ]  # fmt: skip
    assert shown(("id", "text", "other"), [row], 20, OFF, scrolls=True) == [
        "id  text" + " " * 68 + "other", " 1  " + "x" * 70 + "      3",
    ]  # fmt: skip


def test_numbers_and_times_are_never_broken_in_a_table() -> None:
    lines = shown(("at", "text"), [(datetime.datetime(2026, 1, 2, 3, 4, 5), "x" * 40)], 40)
    assert any("2026-01-02 03:04:05  x" in line for line in lines)


def test_values_cannot_steer_the_terminal() -> None:
    assert visible("a\x1b[2J\tb\x9b\r") == "a\\x1b[2J    b\\x9b\\x0d"
    assert shown(("a\x07",), [("\x1b]0;title\x07",)], 80) == ["a\\x07", "\\x1b]0;title\\x07"]


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Mn", "Me", "Cf", "Zl", "Zp", "Zs"]), max_size=60)


@given(
    names=st.lists(TEXTS.filter(bool), min_size=1, max_size=6),
    data=st.data(),
    width=st.integers(20, 200),
    expanded=st.sampled_from(EXPANDED),
)
def test_no_character_of_a_value_is_lost(names: list[str], data: Any, width: int, expanded: str) -> None:
    rows = data.draw(st.lists(st.tuples(*(st.integers() | TEXTS | st.none() for _ in names)), max_size=3))
    lines = shown(names, rows, width, expanded)
    assert all(cell_len(line) <= max(width, LEAST_FOLDED_WIDTH) for line in lines)
    characters = sorted("".join(lines).replace(" ", ""))
    for character in set("".join(str(value) for row in rows for value in row if value is not None)) - {" "}:
        wanted = sum(str(value).count(character) for row in rows for value in row if value is not None)
        assert characters.count(character) >= wanted
