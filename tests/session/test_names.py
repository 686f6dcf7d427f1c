"""Selectors and patterns of names."""

from __future__ import annotations

import pytest

from icesql.session.output.patterns import matches
from icesql.session.resolve.resolved import Selector, parse_selector


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("branch_x", Selector(ref="x", ref_type="branch")),
        ("tag_v1.0", Selector(ref="v1.0", ref_type="tag")),
        ("snapshot_id_12", Selector(snapshot_id=12)),
        ("at_timestamp_99", Selector(timestamp_ms=99)),
        ("branch_snapshot_id_5", Selector(ref="snapshot_id_5", ref_type="branch")),
        ("snapshot_id_x", None),
        ("branch_", None),
        ("files", None),
    ],
)
def test_selectors(text: str, expected: Selector | None) -> None:
    assert parse_selector(text) == expected


@pytest.mark.parametrize(("pattern", "fits"), [(None, True), ("t*", True), ("T1", True), ("a|t1", True), ("t", False), ("(", False)])
def test_patterns(pattern: str | None, fits: bool) -> None:
    assert matches("t1", pattern) is fits
