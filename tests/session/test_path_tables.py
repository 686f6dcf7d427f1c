"""Which names are folders."""

from __future__ import annotations

import pytest

from icesql.session.resolve.path_tables import is_path


@pytest.mark.parametrize(
    ("name", "expected"),
    [("/data/t", True), ("s3://bucket/t#files", True), ("local.db.t", False), ("local.db.`a/b`", False), (None, False)],
)
def test_a_slash_makes_a_path_unless_it_is_quoted(name: object, expected: bool) -> None:
    assert is_path(name) is expected
