"""What a snapshot's summary says is counted; nobody can state it."""

from __future__ import annotations

import pytest

from icesql.errors import InvalidArgumentError
from icesql.table.snapshot.summary import with_totals


def test_totals_are_counted_not_given() -> None:
    assert with_totals({"added-records": "2", "k": "v"}, None)["total-records"] == "2"
    with pytest.raises(InvalidArgumentError, match=r"^Multiple entries with same key: total-records=2 and total-records=77"):
        with_totals({"added-records": "2", "total-records": "77"}, None)
