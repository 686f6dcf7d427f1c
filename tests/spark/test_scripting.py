"""What scripts ask of Spark, as far as no Spark has to run for it."""

from __future__ import annotations

import pytest

from icesql.spark.jvm.scripting import version_numbers


@pytest.mark.parametrize(("older", "newer"), [("4.0.1", "4.1.0"), ("4.2.0", "4.10.0"), ("4.9.1", "4.10.0-SNAPSHOT"), ("9.0.0", "10.0.0")])
def test_versions_are_compared_as_numbers(older: str, newer: str) -> None:
    assert version_numbers(older) < version_numbers(newer)
