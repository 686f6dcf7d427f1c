"""How much a file may ask for when it is decoded: every limit on metadata and delete files that others wrote, and why it has that size.

A small file must not fill the memory, hold a core or overflow a number, whoever wrote it. What it asks for is therefore bounded before
it is given; a file over its budget raises CorruptMetadataError with its name, its need and the limit. Three rules make the limits:

1. In proportion to the bytes that are stored, since these are what an attacker pays with: ``inflated_bytes``, ``entries``,
   ``json_values``. Each has a floor below which no one asks, so small files cost nothing to check. The factors lie above what honest
   files need: manifests of equal rows with numbered names inflate 45 times with deflate, 85 times with zstandard, and keep at least
   0.9 bytes a row with xz; metadata of equal snapshots inflates 75 times and has 4 values a stored byte.
2. In proportion to the bytes that are decoded, where the format has values of no bytes at all: arrays of nulls or of empty records
   could be of any length. Values of no bytes (but nulls of unions, which have a byte for the branch) may be ``IDLE_STEPS_PER_BYTE``
   times as many as the bytes.
3. Absolute, where the format or Java's readers have a limit that files of the specification keep: ``FIXED_BYTES``, ``DECIMAL_BYTES``,
   ``TYPE_DEPTH``, ``AVRO_DEPTH``, ``SCHEMA_NODES`` (a schema whose named types refer to each other is a tree of 2 to the power of its
   length), ``XZ_MEMORY_BYTES``.

Progress counts: of a file that inflates a thousand times, reading stops after 70 kilobytes, not at the end. Deletion
vectors need no limit: they are never expanded (``icesql.io.deletes.roaring``), and their containers are held against the counts
they begin with.
Avro data files have a far higher floor (``data_file_bytes``), for constant columns compress without bounds.

The setting: the environment variable ``ICESQL_BUDGET_FACTOR`` multiplies rules 1 and 2 (executors: ``spark.executorEnv.``). A file
that is trusted and larger than all of this reads with, say, 10.
"""

from __future__ import annotations

import os

from icesql.errors import InvalidArgumentError

SETTING = "ICESQL_BUDGET_FACTOR"

INFLATED_FLOOR_BYTES = 64 << 20
INFLATED_PER_STORED_BYTE = 150
DATA_FILE_FLOOR_BYTES = 2 << 30
MAX_INFLATED_BYTES = (1 << 31) - 1  # of one metadata file: lengths in its columns are of 32 bits
ENTRIES_FLOOR = 10_000
ENTRIES_PER_STORED_BYTE = 4
JSON_UNCOUNTED_BYTES = 8 << 20  # of shorter texts the values are not counted
JSON_VALUES_FLOOR = 1_000_000
JSON_VALUES_PER_STORED_BYTE = 8
JSON_BYTES_PER_VALUE = 8

FIXED_BYTES = (1 << 31) - 1
DECIMAL_BYTES = 64  # 38 digits take 16
TYPE_DEPTH = 100
AVRO_DEPTH = 64
SCHEMA_NODES = 60_000  # 20,000 optional columns
XZ_MEMORY_BYTES = 128 << 20  # xz -9 takes 65 MB


def _factor() -> float:
    text = os.environ.get(SETTING, "1")
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        raise InvalidArgumentError(f"Cannot read setting {SETTING}: not a number above 0: {text}", setting=SETTING)
    return factor


FACTOR = _factor()
IDLE_STEPS_FLOOR = int(FACTOR * 100_000)
IDLE_STEPS_PER_BYTE = max(1, int(FACTOR * 8))


def inflated_bytes(stored: int) -> int:
    """What so many stored bytes may become when they are decompressed."""
    return min(MAX_INFLATED_BYTES, int(FACTOR * (INFLATED_FLOOR_BYTES + INFLATED_PER_STORED_BYTE * stored)))


def data_file_bytes(stored: int) -> int:
    """What so many stored bytes of an Avro data file may become when they are decompressed."""
    return int(FACTOR * (DATA_FILE_FLOOR_BYTES + INFLATED_PER_STORED_BYTE * stored))


def entries(stored: int) -> int:
    """How many entries a manifest or a manifest list of so many stored bytes may claim."""
    return int(FACTOR * (ENTRIES_FLOOR + ENTRIES_PER_STORED_BYTE * stored))


def json_values(stored: int, plain: int) -> int:
    """How many values a JSON text of so many bytes may have, which is stored in fewer if it is compressed."""
    return int(FACTOR * (JSON_VALUES_FLOOR + min(JSON_VALUES_PER_STORED_BYTE * stored, plain // JSON_BYTES_PER_VALUE)))


def excess_of_json(text: bytes, stored: int) -> str | None:
    """Why a JSON text is over its budget, or ``None``: a value takes up to a hundred bytes once it is parsed."""
    if len(text) <= JSON_UNCOUNTED_BYTES:
        return None
    values, limit = sum(map(text.count, (b",", b"[", b"{"))), json_values(stored, len(text))
    return None if values <= limit else over("JSON values", values, limit)


def over(what: str, needed: object, limit: int) -> str:
    """The words for a file over its budget."""
    return f"{needed} {what}, the limit for a file of this size is {limit} (raise it with {SETTING} if the file is sound)"
