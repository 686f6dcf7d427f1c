"""What cells show, rendered by a browser: where things are, not how they are written."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

import pytest

from icesql.magic import html
from icesql.magic.partition_bars import MOST_BARS, partition_bars
from icesql.pictures.pruning_steps import Planning
from icesql.pictures.pruning_svg import pruning_svg
from icesql.pictures.snapshot_tree import MOST_SNAPSHOTS, lanes_of, snapshot_tree
from icesql.spec.snapshots import RefType, Snapshot, SnapshotRef
from icesql.table.scan.report import ScanReport, Skipped
from tests.magic.browser import Element, layout

REPORT = ScanReport(
    table_name="local.db.events", manifests_total=2, manifests_scanned=1, manifests_skipped=(Skipped("day > 3", 1),), files_total=40,
    files_in_skipped_manifests=10, files_skipped_by_partition=(Skipped("device_id = 74 AND " + "x" * 80, 25),), files_planned=5,
    bytes_planned=1234,
)  # fmt: skip


def snapshot(snapshot_id: int, parent: int | None) -> Snapshot:
    return Snapshot(snapshot_id=snapshot_id, parent_snapshot_id=parent, timestamp_ms=snapshot_id * 1000, summary={"operation": "append"})


SNAPSHOTS = [snapshot(1, None), snapshot(2, 1), snapshot(3, 2), snapshot(4, 2), snapshot(5, 3)]
REFS = {
    "main": SnapshotRef(snapshot_id=5),
    "audit": SnapshotRef(snapshot_id=4),
    "checked": SnapshotRef(snapshot_id=4, type=RefType.TAG),
}


def partitions(count: int) -> list[dict[str, Any]]:
    return [
        {"partition": {"day": f"2026-01-{n:02}"}, "record_count": 10 * n, "file_count": n, "total_data_file_size_in_bytes": 1000 * n}
        for n in range(1, count + 1)
    ]


def by_tag(elements: list[Element], *tags: str) -> list[Element]:
    return [element for element in elements if element.tag in tags]


def one(elements: list[Element], text: str) -> Element:
    (found,) = [element for element in elements if text in element.text]
    return found


# -- without a browser -------------------------------------------------------------------------------------------------
def test_main_keeps_its_lane_and_other_lines_have_their_own() -> None:
    assert lanes_of(list(reversed(SNAPSHOTS)), REFS) == {5: 0, 3: 0, 2: 0, 1: 0, 4: 1}


def test_nothing_is_drawn_of_nothing() -> None:
    assert (snapshot_tree("t", [], {}), partition_bars("t", []), pruning_svg([])) == ("", "", "")


def test_what_is_left_out_of_a_picture_is_counted() -> None:
    many = [snapshot(number, number - 1 or None) for number in range(1, MOST_SNAPSHOTS + 8)]
    assert "and 7 older snapshots" in snapshot_tree("t", many, {})
    assert "and 5 smaller partitions" in partition_bars("t", partitions(MOST_BARS + 5))


def test_a_value_cannot_become_markup() -> None:
    shown = html.table(["<b>"], [("<script>",)]) + partition_bars("<i>", [{**partitions(1)[0], "partition": {"p": "<script>"}}])
    assert "<script>" not in shown
    assert "<i>" not in shown


# -- in a browser ------------------------------------------------------------------------------------------------------
rendered = pytest.mark.slow


@rendered
def test_numbers_are_right_and_text_is_left(tmp_path: Path) -> None:
    rows = [(1, "one", 1.5, None), (20, "two", None, datetime.date(2026, 1, 2))]
    elements = layout(html.table(["n", "text", "x", "day"], rows), tmp_path)
    cells = by_tag(elements, "td", "th")
    assert [cell.align for cell in cells] == ["right", "left", "right", "left"] * 3
    heads, first = by_tag(elements, "th"), by_tag(elements, "td")[:4]
    for head, cell in zip(heads, first, strict=True):
        assert (head.left, head.right) == (cell.left, cell.right)


@rendered
def test_a_wide_table_scrolls_within_the_page(tmp_path: Path) -> None:
    names = [f"column_{number}" for number in range(40)]
    elements = layout(html.table(names, [tuple(range(40))]), tmp_path, width=600)
    assert len(by_tag(elements, "th")) == 40
    assert elements[0].right <= 600
    assert by_tag(elements, "table")[0].right > 600


@rendered
@pytest.mark.parametrize(
    "picture",
    [pruning_svg([Planning(REPORT)]), snapshot_tree("local.db.events", SNAPSHOTS, REFS), partition_bars("local.db.events", partitions(5))],
    ids=["pruning", "snapshots", "partitions"],
)
def test_the_footer_is_below_the_picture_and_nothing_is_cut(picture: str, tmp_path: Path) -> None:
    shown = html.table(["a"], [(1,)]) + picture + html.notes(["a notice"], "0.1 s, 3 rows")
    elements = layout(shown, tmp_path)
    drawn, footer, notice = by_tag(elements, "svg")[0], one(elements, "0.1 s, 3 rows"), one(elements, "a notice")
    assert by_tag(elements, "table")[0].bottom <= drawn.top < drawn.bottom <= notice.top < notice.bottom <= footer.top
    assert footer.left < 20
    for text in by_tag(elements, "text"):
        assert drawn.left - 0.5 <= text.left and text.right <= drawn.right + 0.5, text
        assert drawn.top <= text.top and text.bottom <= drawn.bottom + 0.5, text
    for left, right in itertools.combinations(by_tag(elements, "text"), 2):
        assert not left.overlaps(right) or abs(left.top - right.top) > 10, (left, right)


@rendered
def test_bars_are_as_long_as_their_shares(tmp_path: Path) -> None:
    bars = by_tag(layout(partition_bars("t", partitions(4)), tmp_path), "rect")
    lengths = [bar.right - bar.left for bar in bars]
    assert lengths == pytest.approx([lengths[0] * share for share in (1, 0.75, 0.5, 0.25)], rel=0.01)
    steps = by_tag(layout(pruning_svg([Planning(REPORT)]), tmp_path), "rect")
    assert [step.right - step.left for step in steps] == pytest.approx([260, 195, 32.5, 32.5], abs=1)


@rendered
def test_a_tree_of_snapshots_has_newest_on_top_and_labels_at_their_snapshots(tmp_path: Path) -> None:
    elements = layout(snapshot_tree("t", SNAPSHOTS, REFS), tmp_path)
    dots = by_tag(elements, "circle")
    assert [dot.top for dot in dots] == sorted(dot.top for dot in dots)
    assert len({dot.left for dot in dots}) == 2, "main in one lane, audit in another"
    rows = {snapshot_id: one(elements, f"append  {snapshot_id}") for snapshot_id in range(1, 6)}
    for name, ref in REFS.items():
        label = one(elements, name)
        assert abs(label.top - rows[ref.snapshot_id].top) < 4
        assert label.left > rows[ref.snapshot_id].right
    assert sorted(box.kind for box in by_tag(elements, "rect")) == ["branch", "branch", "tag"]


@rendered
def test_a_description_is_a_table_with_headings(tmp_path: Path) -> None:
    rows = [("id", "bigint", None), ("", "", ""), ("# Partitioning", "", ""), ("Part 0", "days(ts)", "")]
    elements = layout(html.description(rows), tmp_path)
    assert [element.text for element in by_tag(elements, "th", "td") if element.text] == [
        "column", "type", "comment", "id", "bigint", "Partitioning", "Part 0", "days(ts)",
    ]  # fmt: skip
    heading, table = one(elements, "Partitioning"), by_tag(elements, "table")[0]
    assert heading.right - heading.left == pytest.approx(table.right - table.left, abs=2)
    assert {element.align for element in by_tag(elements, "th", "td")} == {"left"}
