"""Spark's executors get icesql as a zip and have pyarrow and numpy only: data files and position deletes must work there."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import icesql
from icesql.errors import CorruptMetadataError
from icesql.io.avro import container as avro_container
from icesql.io.avro.container import AvroFileBuilder, read_records
from icesql.io.deletes.deletion_vectors import write_dvs
from icesql.io.storage.file_systems import LocalFileIO
from icesql.spark.workers.shipping import _zip

ROOT = Path(icesql.__file__).parent
TASK = """
import pickle
import sys
from importlib.machinery import PathFinder
sys.path.insert(0, {archive!r})
ABSENT = set("fastavro isal backports cramjam pyroaring msgspec mmh3 sqlglot pyspark sqlalchemy pandas fsspec".split())

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "fastavro" and sys.path[-1].endswith("shipped.zip/libraries"):
            return PathFinder.find_spec(name, sys.path[-1:])
        if name.split(".")[0] in ABSENT and path is None:
            raise ImportError(name)

sys.meta_path.insert(0, Absent())
import icesql
assert "shipped.zip" in icesql.__file__, icesql.__file__
import pyarrow as pa
from icesql.io.data.files import DataFileWriter, read_data_file
from icesql.io.deletes.files import read_positions, write_position_deletes
from icesql.io.deletes.deletion_vectors import read_dv_bitmap
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.spec.schema import Schema
from icesql.spec.types import LongType, NestedField, StringType

schema = Schema((NestedField(1, "a", LongType()), NestedField(2, "s", StringType())))
for file_format in ("parquet", "orc", "avro"):
    writer = DataFileWriter(lambda: {folder!r} + "/f." + file_format, schema, file_format=file_format)
    writer.write(pa.table({{"a": [1, 2], "s": ["x", None]}}))
    (file,) = writer.close()
    batches = read_data_file(ArrowFileIO(), file, schema)
    print(file_format, [row["a"] for batch in batches for row in batch.to_pylist()], file.upper_bounds.get(2))
import fastavro
print(fastavro.__file__.startswith({archive!r}), fastavro.write._write.__name__)
try:
    zstd = {{"write.avro.compression-codec": "zstd"}}
    writer = DataFileWriter(lambda: {folder!r} + "/z", schema, zstd, file_format="avro")
    writer.write(pa.table({{"a": [1]}}))
    writer.close()
except Exception as error:
    print(type(error).__name__, str(error).split(" in ")[0])
deletes = write_position_deletes(ArrowFileIO(), {folder!r} + "/d", {{"/a": [1, 4], "/b": [2]}})
print(deletes.record_count, read_positions(ArrowFileIO(), deletes, "/a").tolist())
vector = pickle.loads(bytes.fromhex({vector!r}))
print(read_dv_bitmap(ArrowFileIO(), vector).positions().tolist())
"""


def test_data_files_in_a_task(tmp_path):
    archive = tmp_path / "shipped.zip"
    shutil.copy(_zip(), archive)
    (vector,) = write_dvs(LocalFileIO(), str(tmp_path / "v.puffin"), {"/a": [3, 70_000]})
    code = TASK.format(archive=str(archive), folder=str(tmp_path), vector=pickle.dumps(vector).hex())
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stderr == ""
    refused = "UnsupportedError Cannot write Avro file: codec zstandard needs the package backports-zstd"
    assert done.stdout.splitlines() == [
        "parquet [1, 2] b'x'", "orc [1, 2] b'x'", "avro [1, 2] None", "True fastavro._write_py", refused, "3 [1, 4]", "[3, 70000]",
    ]  # fmt: skip


def test_blocks_split_alike_without_the_native_module(monkeypatch):
    for codec in ("null", "deflate", "zstd", "snappy"):
        builder = AvroFileBuilder("string", {}, codec)
        for i in range(50_000):
            builder.add(bytes([10]) + b"%05d" % i)
        data = builder.finish()
        native = read_records(data, "f")
        assert len(native.blocks) > 3
        monkeypatch.setattr(avro_container, "native", None)
        assert read_records(data, "f") == native
        for at in (len(data) - 1, len(data) // 2, native.header.start):
            spoiled = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
            outcomes = []
            for module in (None, __import__("icesql.io.native", fromlist=["native"]).native):
                monkeypatch.setattr(avro_container, "native", module)
                try:
                    outcomes.append(str(read_records(spoiled, "f").blocks))
                except CorruptMetadataError as error:
                    outcomes.append(f"damaged at {error.context['place']}")
            assert outcomes[0] == outcomes[1]
