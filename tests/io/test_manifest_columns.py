"""Columns agree with entries read one by one; the native and the Python decoder agree with each other, also on damaged bytes."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.errors import CorruptMetadataError, UnsupportedError
from icesql.io.avro.container import read_records
from icesql.io.avro.decode import DAMAGE, compile_decoder
from icesql.io.avro.objects import record_decoder
from icesql.io.manifests.column_reader import clear_caches, decode_columns, read_manifest_columns
from icesql.io.manifests.entries import read_manifest, write_manifest_raw
from icesql.io.native import native
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.files import DataFile, EntryStatus, ManifestContent
from icesql.spec.types import IntegerType, LongType
from icesql.spec.values.binary import to_bytes
from tests.effort import examples

from .test_manifests import SCHEMA, SPEC, data_files, entries_of, write

IO = ArrowFileIO()
WANTED = frozenset({1, 2, 5})
few = {
    "value_counts": st.dictionaries(st.sampled_from([1, 2, 3, 5]), st.integers(0, 99)),
    "upper_bounds": st.dictionaries(st.sampled_from([1, 2, 3, 5]), st.binary(max_size=9)),
}
files = st.lists(data_files.flatmap(lambda f: st.builds(lambda **k: replace(f, **k), **few)), max_size=5)


def test_native_module_is_built():
    assert native is not None, "build it: python setup.py build_ext --inplace"


@examples(40)
@given(files=files, version=st.sampled_from([1, 2, 3]), use_native=st.booleans())
def test_columns_agree_with_entries(tmp_path_factory, files, version, use_native):
    path = tmp_path_factory.mktemp("m") / "m.avro"
    manifest = write(path, entries_of(files), version, sequence_number=5, first_row_id=70 if version == 3 else None)
    entries = read_manifest(IO, manifest, {4: SPEC})
    columns = read_manifest_columns(IO, manifest, spec=SPEC, bounds_for=WANTED, use_native=use_native, use_cache=False)
    assert len(columns) == len(entries)
    assert [columns.entry(i) for i in range(len(columns))] == entries
    assert columns.status.tolist() == [e.status for e in entries]
    assert columns.sequence_number.tolist() == [e.sequence_number for e in entries]
    assert columns.paths() == [e.data_file.file_path for e in entries]
    assert columns.paths(columns.live) == [e.data_file.file_path for e in entries if e.is_live]
    assert columns.record_count.tolist() == [e.data_file.record_count for e in entries]
    assert columns.first_row_id.tolist() == [-1 if e.data_file.first_row_id is None else e.data_file.first_row_id for e in entries]
    assert columns.content_size.tolist() == [-1 if (n := e.data_file.content_size_in_bytes) is None else n for e in entries]
    assert columns.referenced_data_file.texts() == [e.data_file.referenced_data_file for e in entries]
    assert [columns.partition(i) for i in range(len(columns))] == [e.data_file.partition for e in entries]
    for index, field in enumerate(SPEC.fields):
        column = columns.partition_columns[field.field_id]
        expected = [e.data_file.partition[index] for e in entries]
        assert column.valid.tolist() == [v is not None for v in expected]
        assert [v if ok else None for v, ok in zip(column.values().tolist(), column.valid, strict=True)] == expected
    for field_id in WANTED:
        assert [columns.lower(field_id)[i] for i in range(len(columns))] == [e.data_file.lower_bounds.get(field_id) for e in entries]
        assert [columns.upper(field_id)[i] for i in range(len(columns))] == [e.data_file.upper_bounds.get(field_id) for e in entries]
        values, valid = columns.value_count(field_id)
        assert [int(v) if ok else None for v, ok in zip(values, valid, strict=True)] == [
            e.data_file.value_counts.get(field_id) for e in entries
        ]


@examples(30)
@given(files=files, version=st.sampled_from([2, 3]))
def test_raw_entries_rewrite_a_manifest(tmp_path_factory, files, version):
    folder = tmp_path_factory.mktemp("m")
    manifest = write(folder / "m.avro", entries_of(files), version, sequence_number=5, first_row_id=70 if version == 3 else None)
    columns = read_manifest_columns(IO, manifest, spec=SPEC, use_cache=False)
    partition = SPEC.partition_type(SCHEMA)
    assert columns.can_copy(version, partition)
    assert columns.can_copy(5 - version, partition)
    assert not columns.can_copy(1, partition)
    for target in (2, 3):
        rewritten = write_manifest_raw(
            IO,
            str(folder / "r.avro"),
            format_version=target,
            spec=SPEC,
            schema=SCHEMA,
            content=ManifestContent.DATA,
            snapshot_id=77,
            entries=columns.raw_entries(np.flatnonzero(columns.live).tolist(), format_version=target, partition=partition),
        )
        expected = [e for e in read_manifest(IO, manifest, {4: SPEC}) if e.is_live]
        found = read_manifest(IO, replace(rewritten, sequence_number=9, first_row_id=10**12 if target == 3 else None), {4: SPEC})
        assert [e.status for e in found] == [EntryStatus.EXISTING] * len(expected)
        assert [(e.snapshot_id, e.sequence_number, e.file_sequence_number) for e in found] == [
            (e.snapshot_id, e.sequence_number, e.file_sequence_number) for e in expected
        ]
        if target == version == 3:
            assert [e.data_file for e in found] == [e.data_file for e in expected]
        assert [e.data_file.lower_bounds for e in found] == [e.data_file.lower_bounds for e in expected]


def test_numbers_widen_promoted_bounds(tmp_path):

    file = DataFile(
        file_path="/a", file_format="parquet", spec_id=4, partition=(None,) * len(SPEC.fields), record_count=1, file_size_in_bytes=1
    )
    values = [to_bytes(LongType(), 2**40), to_bytes(IntegerType(), -5), b"odd", None]
    made = [replace(file, lower_bounds={} if v is None else {1: v}) for v in values]
    columns = read_manifest_columns(IO, write(tmp_path / "m", entries_of(made)), bounds_for=frozenset({1}))
    found = columns.lower(1).numbers(LongType())
    assert found is not None
    numbers, valid = found
    assert numbers.tolist() == [2**40, -5, 0, 0]
    assert valid.tolist() == [True, True, False, False]


def outcome(records, manifest, use_native):
    try:
        columns = decode_columns(records, manifest, spec=SPEC, wanted=(1, 2, 5), use_native=use_native)
    except CorruptMetadataError as error:
        return str(error)
    return [a.tolist() for a in (columns._ints, columns._present, columns._lengths, columns._marks)]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):

    path = tmp_path_factory.mktemp("m") / "m.avro"
    file = DataFile(
        file_path="/a/b",
        file_format="parquet",
        spec_id=4,
        partition=(True, 1, 2, 1.5, None, 1, None, 10**15, "é", None, b"abc", b"", None),
        record_count=3,
        file_size_in_bytes=9,
        value_counts={1: 3, 2: 3},
        lower_bounds={1: b"x", 5: b""},
        split_offsets=(4, 8),
        sort_order_id=0,
    )
    manifest = write(path, entries_of([file] * 3), 3, compression="null", sequence_number=1)
    return manifest, path.read_bytes()


@examples(200)
@given(data=st.data())
def test_damaged_records_never_crash_and_both_decoders_agree(sample, data):
    manifest, content = sample
    records = read_records(content, "m")
    spoiled = bytearray(records.buffer)
    for _ in range(data.draw(st.integers(1, 3))):
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    records = replace(records, buffer=bytes(spoiled))
    assert outcome(records, manifest, True) == outcome(records, manifest, False)


def decoded(decode, buffer):
    try:
        return repr(decode(buffer, 0))
    except DAMAGE:
        return "damage"


@examples(150)
@given(data=st.data())
def test_whole_records_decode_alike_also_when_damaged(sample, data):
    records = read_records(sample[1], "m")
    spoiled = bytearray(records.buffer)
    for _ in range(data.draw(st.integers(0, 3))):
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    buffer = bytes(spoiled[: data.draw(st.integers(0, len(spoiled))) or None])
    schema = records.header.schema
    assert decoded(record_decoder(schema), buffer) == decoded(compile_decoder(schema), buffer)


@examples(150)
@given(data=st.data())
def test_damaged_files_end_in_one_of_two_errors(sample, data, tmp_path_factory):
    manifest, content = sample
    spoiled = bytearray(content)
    for _ in range(data.draw(st.integers(1, 3))):
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(spoiled)))
    path = tmp_path_factory.getbasetemp() / "spoiled.avro"
    path.write_bytes(bytes(spoiled[: cut or None]))
    spoiled_manifest = replace(manifest, manifest_path=str(path))
    for read in (
        lambda: read_manifest(IO, spoiled_manifest, {4: SPEC}),
        lambda: [
            c.entry(i)
            for c in [read_manifest_columns(IO, spoiled_manifest, spec=SPEC, bounds_for=WANTED, use_cache=False)]
            for i in range(len(c))
        ],
    ):
        try:
            read()
        except (CorruptMetadataError, UnsupportedError) as error:
            assert str(path) in str(error) or isinstance(error, UnsupportedError)


def test_cache_gives_the_same_object_and_keys_by_what_is_inherited(tmp_path):
    clear_caches()
    manifest = write(tmp_path / "m", [], 2, sequence_number=3)
    first = read_manifest_columns(IO, manifest, bounds_for=WANTED)
    assert read_manifest_columns(IO, manifest, bounds_for=WANTED) is first
    assert read_manifest_columns(IO, replace(manifest, sequence_number=4), bounds_for=WANTED) is not first
    assert read_manifest_columns(IO, manifest) is not first
