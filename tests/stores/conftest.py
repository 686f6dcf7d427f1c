"""The S3 server of these tests, one for each process that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from tests.stores.s3_server import S3Server, s3_server

_numbers = count(1)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server) -> str:
    """The name of an empty bucket."""
    name = f"lake-{next(_numbers)}"
    s3.new_bucket(name)
    return name
