"""``SELECT * FROM t.snapshots`` drawn: the tree of snapshots, newest on top, with the branches and tags that point to them."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from icesql.pictures import svg
from icesql.spec.snapshots import Snapshot, SnapshotRef

MOST_SNAPSHOTS = 100
_LANE, _LEFT = 16, 10


def snapshot_tree(title: str, snapshots: Sequence[Snapshot], refs: Mapping[str, SnapshotRef]) -> str:
    """Empty where there are none. Of many the newest are drawn, and how many are older is said."""
    if not snapshots:
        return ""
    drawn = sorted(snapshots, key=lambda one: (one.timestamp_ms, one.sequence_number), reverse=True)[:MOST_SNAPSHOTS]
    lanes = lanes_of(drawn, refs)
    rows = {snapshot.snapshot_id: row for row, snapshot in enumerate(drawn)}
    column = _LEFT + _LANE * (max(lanes.values()) + 1)
    shapes = [_edge(one, rows, lanes) for one in drawn if one.parent_snapshot_id is not None]
    width = svg.width_of(title)
    for snapshot in drawn:
        x, y = _centre(snapshot.snapshot_id, rows, lanes)
        shapes.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{svg.BLUE}"/>')
        facts = f"{_time(snapshot)}  {snapshot.operation or ''}  {snapshot.snapshot_id}"
        shapes.append(svg.text(column, y + 4, facts))
        end = column + svg.width_of(facts) + 8
        for name, ref in refs.items():
            if ref.snapshot_id == snapshot.snapshot_id:
                shapes.append(_label(end, y, name, ref))
                end += svg.width_of(name) + 18
        width = max(width, end)
    older = len(snapshots) - len(drawn)
    if older:
        shapes.append(svg.text(0, svg.ROW * (len(drawn) + 1) + 13, f"and {older:,} older snapshots"))
    return svg.picture(title, "".join(shapes), width=width, rows=len(drawn) + bool(older))


def lanes_of(newest_first: Sequence[Snapshot], refs: Mapping[str, SnapshotRef]) -> dict[int, int]:
    """The column of each snapshot: the ancestors of ``main`` in the first, each other line of descent in one of its own."""
    by_id = {snapshot.snapshot_id: snapshot for snapshot in newest_first}
    main = refs.get("main")
    heads = [] if main is None else [main.snapshot_id]
    heads += [snapshot.snapshot_id for snapshot in newest_first]
    lanes: dict[int, int] = {}
    used = 0
    for head in heads:
        at: int | None = head
        if at in lanes or at not in by_id:
            continue
        while at is not None and at in by_id and at not in lanes:
            lanes[at] = used
            at = by_id[at].parent_snapshot_id
        used += 1
    return lanes


def _centre(snapshot_id: int, rows: Mapping[int, int], lanes: Mapping[int, int]) -> tuple[int, int]:
    return _LEFT + _LANE * lanes[snapshot_id], svg.ROW * (rows[snapshot_id] + 1) + svg.ROW // 2


def _edge(snapshot: Snapshot, rows: Mapping[int, int], lanes: Mapping[int, int]) -> str:
    """The line to the parent; a short stub where that has expired."""
    x, y = _centre(snapshot.snapshot_id, rows, lanes)
    parent = snapshot.parent_snapshot_id
    if parent is None or parent not in rows:
        return f'<path d="M{x} {y}V{y + svg.ROW // 2}" stroke="{svg.GREY}" stroke-dasharray="2 2" fill="none"/>'
    to_x, to_y = _centre(parent, rows, lanes)
    return f'<path d="M{x} {y}V{to_y - svg.ROW // 2}L{to_x} {to_y}" stroke="{svg.GREY}" stroke-width="2" fill="none"/>'


def _label(x: float, y: float, name: str, ref: SnapshotRef) -> str:
    """A branch in a rounded box, a tag in one with corners."""
    colour, radius = (svg.GREEN, 7) if ref.is_branch else (svg.GREY, 0)
    place = f'x="{x:.1f}" y="{y - 7}" width="{svg.width_of(name) + 10:.1f}" height="14" rx="{radius}"'
    box = f'<rect class="{ref.type.value}" {place} fill="{colour}"/>'
    return box + svg.text(x + 5, y + 4, name, fill="#ffffff")


def _time(snapshot: Snapshot) -> str:
    return datetime.datetime.fromtimestamp(snapshot.timestamp_ms / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
