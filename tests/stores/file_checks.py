"""What files are in every store: the same tests for Azure's and Google's."""

from __future__ import annotations

import os

import pytest

from icesql.errors import NotFoundError
from icesql.io.storage.file_systems import ArrowFileIO

NAMES = ["plain", "a b/c=d/e%3Af", "\u00fc/#&+~"]
SIZES = [0, 5, 300_000, 40 << 20]


def check_name(io: ArrowFileIO, folder: str, name: str) -> None:
    """Written, read, listed and deleted under this very name."""
    location = f"{folder}/names/{name}"
    io.write(location, b"abc")
    assert (io.read(location), io.size(location)) == (b"abc", 3)
    assert location in [info.location for info in io.list_files(f"{folder}/names")]
    assert io.delete_many([location, f"{folder}/names/none"]) == []
    assert not io.exists(location)
    with pytest.raises(NotFoundError, match="File does not exist"):
        io.read(location)


def check_streams(io: ArrowFileIO, location: str, size: int) -> None:
    """``size`` bytes written by the mebibyte, and read from the middle and whole."""
    data = os.urandom(size)
    with io.open_output(location) as stream:
        for start in range(0, size, 1 << 20):
            stream.write(data[start : start + (1 << 20)])
    with io.open_input(location) as stream:
        stream.seek(size // 2)
        assert stream.read() == data[size // 2 :]
        stream.seek(0)
        assert stream.read() == data
