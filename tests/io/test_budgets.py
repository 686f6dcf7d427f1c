"""Small files that ask for much are refused with their name and the limit, within 256 MB; large files that are sound are read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icesql.errors import InvalidArgumentError
from icesql.io.avro.container import read_records
from icesql.io.inflate import CODECS, Inflation, OverBudgetError
from icesql.io.manifests.program import compile_program
from icesql.io.native import native
from icesql.io.zstd import zstd
from icesql.spec import budgets
from tests.io import bombs
from tests.io.bombs import ENTRY, LIST, avro, doubling, numbered, outcome, snapshot, table, with_field

MOST_KILOBYTES = 256 << 10
FILES: dict[str, tuple[str, Callable[[], bytes], str]] = {}  # name: (reader, bytes of the file, words of the error)


def bomb(reader: str, name: str, words: str, make: Callable[[], bytes]) -> None:
    FILES[f"{reader}: {name}"] = (reader, make, words)


def _document(**changes: Any) -> Callable[[], bytes]:
    return lambda: json.dumps(table(**changes)).encode()


def _cycle(version: int, *ids: int) -> Callable[[], bytes]:
    circle = [snapshot(i, parent, 0 if version == 1 else 5) for i, parent in zip(ids, (*ids[1:], ids[0]), strict=True)]
    return _document(**{"format-version": version, "snapshots": circle})


WORDS = "when decompressed"
bomb("metadata", "gzip", WORDS, lambda: bombs.gzip_zeros(256))
bomb("metadata", "gzip of many members", WORDS, lambda: bombs.gzip_of(bytes(bombs.PIECE), 9) * 256)
bomb("metadata", "gzip of values", "JSON values", lambda: bombs.gzip_of(b'{"last-updated-ms":1,"schemas":[' + b"[]," * 20_000_000 + b"1]}"))
bomb("metadata", "nested JSON", "nested|recursion", lambda: b'{"last-updated-ms":1,"schemas":' + b"[" * 5_000_000)
bomb("metadata", "nested types", "nested more than", _document(schemas=[bombs.with_type(bombs.nested_list(150))]))
bomb("metadata", "fixed of 10 GB", "invalid fixed", _document(schemas=[bombs.with_type("fixed[9999999999]")]))
bomb("metadata", "fixed of 2 GB", "invalid fixed", _document(schemas=[bombs.with_type("fixed[2147483648]")]))
bomb("metadata", "its own parent", "its own ancestor", _cycle(2, 7))
bomb("metadata", "parents in a circle", "its own ancestor", _cycle(2, 7, 8, 9))
bomb("metadata", "parents in a circle, version 1", "its own ancestor", _cycle(1, 7, 8, 9))
for _name, _make in bombs.CODEC_BOMBS.items():
    bomb("manifest", _name, "damaged block", lambda make=_make: avro(ENTRY, (9, make()[1]), codec=make()[0]))  # type: ignore[misc]
bomb("manifest", "many blocks", WORDS, lambda: avro(ENTRY, *[(9, bombs.deflate_zeros(1))] * 256, codec="deflate"))
bomb("manifest", "100 million entries", WORDS, lambda: avro(ENTRY, (10**8, bombs.deflate_zeros(6)), codec="deflate"))
bomb("manifest", "60 million entries", "entries, the limit", lambda: avro(ENTRY, (6 * 10**7, bombs.deflate_zeros(4)), codec="deflate"))
_EMPTY = {"type": "record", "name": "e", "fields": []}
_NULLS = {
    "type": "record",
    "name": "e",
    "fields": [*({"name": f"n{i}", "type": "null", "field-id": i} for i in range(20_000)), {"name": "b", "type": "boolean"}],
}
ODD: dict[str, tuple[str, Any, Callable[[], tuple[tuple[int, bytes], ...]]]] = {  # words, type of a first field, blocks
    "arrays of nulls": ("of no bytes", {"type": "array", "items": "null"}, lambda: ((1, bombs.idle_arrays(1 << 20)),)),
    "arrays of empty records": ("of no bytes", {"type": "array", "items": _EMPTY}, lambda: ((1, bombs.idle_arrays(1 << 20)),)),
    "arrays of 20,000 nulls": ("of no bytes", {"type": "array", "items": _NULLS}, lambda: ((1, b"\xc0\x84\x3d" + bytes(1_000_000)),)),
    "types that double": (f"more than {budgets.SCHEMA_NODES} parts", doubling(40), tuple),
    "fixed of 2 GB": ("fixed of", {"type": "fixed", "name": "f", "size": 1 << 31}, tuple),
}


def _odd(schema: dict[str, Any], type_: Any, blocks: Callable[[], tuple[tuple[int, bytes], ...]]) -> Callable[[], bytes]:
    return lambda: avro(with_field(schema, type_), *blocks())


for _reader, _schema in (
    ("manifest", ENTRY), ("manifest in Python", ENTRY), ("list", LIST), ("data, no column", ENTRY), ("data, its columns", ENTRY),
):  # fmt: skip
    for _name, (_words, _type, _blocks) in ODD.items():
        bomb(_reader, _name, _words, _odd(_schema, _type, _blocks))
bomb("manifest", "a schema of many values", "JSON values", lambda: avro(b"[" + b"[]," * 10_000_000 + b"1]"))
bomb("list", "deflate", WORDS, lambda: avro(LIST, (9, bombs.deflate_zeros(256)), codec="deflate"))
bomb("list", "60 million entries", "entries, the limit", lambda: avro(LIST, (6 * 10**7, bombs.deflate_zeros(4)), codec="deflate"))
bomb("puffin", "zstd", WORDS, lambda: bombs.puffin_blob(bombs.zstd_zeros(256), "zstd"))
bomb("puffin", "zstd claim", WORDS, lambda: bombs.puffin_blob(bombs.zstd_claim(1 << 40), "zstd"))
bomb("puffin", "lz4", WORDS, lambda: bombs.puffin_blob(bombs.lz4_zeros(), "lz4"))
bomb("puffin", "lz4 footer", WORDS, lambda: bombs.puffin_footer(bombs.lz4_zeros(), b"\1\0\0\0"))
bomb("puffin", "nested footer", "damaged footer", lambda: bombs.puffin_footer(b"[" * 5_000_000))
bomb("puffin", "infinite offset", "damaged footer", lambda: bombs.puffin_footer(
    b'{"blobs":[{"type":"a","fields":[],"snapshot-id":1,"sequence-number":1,"offset":Infinity,"length":1}]}'))  # fmt: skip
for _reader in ("vector", "vector on executors"):
    bomb(_reader, "runs upon runs", "overlap", lambda: bombs.vector(bombs.run_containers(range(1), [(0, 65536)] * 20_000, 1)))
    bomb(_reader, "more than it says", "says 1", lambda: bombs.vector(bombs.run_containers(range(5000), [(0, 65536)], 1)))
    bomb(_reader, "more than the manifest says", "0 in the manifest", lambda: bombs.vector(
        bombs.run_containers(range(20_000), [(0, 65536)], 65536)))  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_over_its_budget_is_refused(tmp_path: Path, name: str) -> None:
    reader, make, words = FILES[name]
    path = tmp_path / "bomb"
    path.write_bytes(make())
    found, kilobytes = outcome(reader, str(path))
    assert found[0] == "CorruptMetadataError", found
    assert str(path) in found[1]
    assert any(part in found[1] for part in words.split("|")), found[1]
    assert len(found[1]) < 1000
    assert kilobytes < MOST_KILOBYTES + (path.stat().st_size >> 10)


@dataclass(frozen=True)
class Sound:
    make: Callable[[], bytes]
    count: int


SOUND = {
    "manifest": Sound(lambda: avro(ENTRY, *numbered(bombs.entry_record, 1_000_000), codec="deflate"), 1_000_000),
    "list": Sound(lambda: avro(LIST, *numbered(bombs.list_record, 100_000), codec="deflate"), 100_000),
    "metadata": Sound(lambda: bombs.gzip_of(_many_snapshots(350_000)), 350_000),
    "vector": Sound(lambda: bombs.vector(bombs.run_containers(range(1600), [(0, 65536)], 65536)), 1600 << 16),
    "vector on executors": Sound(lambda: bombs.vector(bombs.run_containers(range(1600), [(0, 65536)], 65536)), 1600 << 16),
    "puffin": Sound(lambda: bombs.puffin_blob(bombs.lz4(bytes(60 << 20)), "lz4"), 60 << 20),
}


def _many_snapshots(count: int) -> bytes:
    """About 100 MB."""
    start, end = json.dumps(snapshot(12345678, None)).encode().split(b"12345678", 1)
    start, middle = b"[" + start, end.replace(b'"manifest-list": "/t/12345678"', b'"manifest-list": "/t/' + b"m" * 60 + b'"')
    snapshots = b",".join([b"%s%d%s" % (start if i == 0 else start[1:], i, middle) for i in range(count)]) + b"]"
    return json.dumps(table(snapshots=0)).encode().replace(b'"snapshots": 0', b'"snapshots": ' + snapshots)


@pytest.mark.parametrize("name", SOUND)
def test_a_large_file_that_is_sound_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "large"
    path.write_bytes(SOUND[name].make())
    found, kilobytes = outcome(name, str(path), SOUND[name].count)
    assert found == SOUND[name].count
    if "vector" in name:
        assert kilobytes < MOST_KILOBYTES


@pytest.mark.parametrize("reader", ["metadata", "manifest", "list", "puffin"])
def test_only_regular_files_are_read(tmp_path: Path, reader: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (str(tmp_path / "fifo"), "/dev/zero"):
        found, _ = outcome(reader, path)
        assert found[0] == "CorruptMetadataError", found
        assert path in found[1]


@pytest.mark.parametrize("codec", CODECS)
def test_inflation_ends_where_the_budget_does(codec: str) -> None:
    """Of plain bytes around the limit, whole or in parts: read up to it, refused beyond."""
    squeeze: dict[str, Callable[[bytes], bytes]] = {
        "null": bytes, "gzip": bombs.gzip_of, "lz4": bombs.lz4, "bzip2": bombs.bz2.compress, "xz": bombs.lzma.compress,
        "deflate": lambda b: bombs.zlib.compress(b)[2:-4], "zstandard": zstd.compress,
        "snappy": lambda b: bytes(bombs.cramjam.snappy.compress_raw(b)),
    }  # fmt: skip
    plain = os.urandom(1 << 20) + bytes(1 << 20)
    stored = squeeze[codec](plain)
    for parts in (1, 3):
        inflation = Inflation(codec, lambda read: parts * len(plain))  # noqa: B023 - used at once
        assert [inflation(stored) for _ in range(parts)] == [plain] * parts
        with pytest.raises(OverBudgetError, match=WORDS):
            inflation(stored)
    with pytest.raises(OverBudgetError):
        Inflation(codec, lambda read: len(plain) - 1)(stored)
    with pytest.raises(OverBudgetError):
        Inflation(codec, lambda read: min(read, 100))(stored)


def test_a_stream_without_a_size_is_read_to_its_end() -> None:
    plain = os.urandom(3 << 20) + bytes(3 << 20)
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.content_size_flag: 0})
    stored = stream.compress(plain) + stream.flush()
    assert Inflation("zstandard")(stored) == plain
    assert Inflation("gzip")(bombs.gzip_of(plain) + bombs.gzip_of(b"more") + bytes(9)) == plain + b"more"
    with pytest.raises(EOFError):
        Inflation("gzip")(bombs.gzip_of(plain)[:-9])


def test_the_setting_raises_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m"
    path.write_bytes(bombs.gzip_of(b" " * (100 << 20) + json.dumps(table()).encode(), 9))
    program = "import sys; from tests.io import bombs; print(bombs.READERS['metadata'](sys.argv[1], 0))"
    assert "raise it with ICESQL_BUDGET_FACTOR" in outcome("metadata", str(path))[0][1]
    run = subprocess.run(
        [sys.executable, "-c", program, str(path)], env={**os.environ, budgets.SETTING: "3"}, capture_output=True, timeout=60
    )
    assert run.stdout == b"0\n"
    for wrong in ("none", "-1", "inf", "nan", ""):
        monkeypatch.setenv(budgets.SETTING, wrong)
        with pytest.raises(InvalidArgumentError, match="not a number above 0"):
            budgets._factor()


def test_the_native_decoder_can_be_interrupted() -> None:
    """A signal that comes while rows are decoded ends the call before its last row."""
    records = read_records(avro(ENTRY, *[(500, bombs.entry_record(b"/a/b") * 500)] * 6000), "m")
    program, rows = compile_program(records.header.schema, 0), records.record_count
    arrays: list[Any] = [np.zeros((program.int_count, rows), np.int64), np.zeros((program.int_count, rows), np.uint8)]
    arrays += [
        np.zeros((program.span_count, rows), np.int64),
        np.zeros((program.span_count, rows), np.int32),
        np.zeros((4, rows), np.int64),
    ]

    class Interrupted(Exception):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    held = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            native.decode_rows(records.buffer, np.array(records.blocks, np.int64), program.nodes, np.zeros(0, np.int64), rows, *arrays)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, held)
    assert arrays[-1][1, -1] == 0
