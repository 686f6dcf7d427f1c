"""Columns of locations judged at once fare as each value alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.io.manifests.byte_columns import BytesColumn
from icesql.io.manifests.location_columns import first_stray
from icesql.io.storage.locations import is_location

PIECES = st.text(alphabet="a:/é1", max_size=20)


def column(texts: list[str]) -> BytesColumn:
    values = [text.encode() for text in texts]
    lengths = np.array([len(value) for value in values], np.int32)
    return BytesColumn(b"".join(values), np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64), lengths)


@given(st.lists(PIECES | st.sampled_from(["/a", "s3://b/c", "file:/x", "a-scheme-that-is-long://x"]), min_size=1, max_size=8))
def test_first_stray_is_the_first_that_is_no_location(texts: list[str]) -> None:
    assert first_stray(column(texts)) == next((text for text in texts if not is_location(text)), None)


@pytest.mark.parametrize(("text", "wanted"), [("/a", True), ("s3://b", True), ("a/b", False), ("", False), (":x", False), ("/a\0b", False)])
def test_what_a_location_is(text: str, wanted: bool) -> None:
    assert is_location(text) is wanted
