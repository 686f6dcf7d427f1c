"""Tables that PyIceberg wrote: the same files planned and the same rows read."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from icesql.expr.tree import TRUE, And, Expression, Op, Or, Predicate, Reference
from icesql.io.metadata_files import read_metadata
from icesql.io.storage.file_systems import load_file_io
from icesql.table.metadata_tables.registry import METADATA_TABLES, scan_metadata_table
from icesql.table.scan.table_scan import TableScan

pytestmark = pytest.mark.interop

ARROW = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("n", pa.int32()),
        pa.field("s", pa.string()),
        pa.field("ts", pa.timestamp("us", "UTC")),
        pa.field("d", pa.date32()),
        pa.field("price", pa.decimal128(9, 2)),
        pa.field("x", pa.float64()),
        pa.field("raw", pa.binary()),
        pa.field("nested", pa.struct([pa.field("a", pa.int64()), pa.field("b", pa.string())])),
        pa.field("tags", pa.list_(pa.string())),
    ]
)
START = dt.datetime(2021, 9, 30, 22, tzinfo=dt.timezone.utc)


def row(number: int) -> dict[str, Any]:
    moment = START + dt.timedelta(hours=number)
    return {
        "id": number, "n": None if number % 7 == 0 else number % 5, "s": f"name-{number % 11}", "ts": moment, "d": moment.date(),
        "price": Decimal(number) / 4, "x": number / 3, "raw": bytes([number % 256, 0]), "nested": {"a": number % 4, "b": None},
        "tags": ["a"] * (number % 3),
    }  # fmt: skip


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.transforms import BucketTransform, DayTransform, TruncateTransform
    from pyiceberg.types import LongType

    folder = tmp_path_factory.mktemp("pyiceberg")
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    plain = catalog.create_table("db.t", ARROW)
    with plain.update_spec() as spec:
        spec.add_field("ts", DayTransform(), "ts_day")
        spec.add_field("id", BucketTransform(4), "id_bucket")
    plain.append(pa.Table.from_pylist([row(n) for n in range(60)], ARROW))
    with plain.update_spec() as spec:
        spec.remove_field("ts_day")
        spec.add_field("s", TruncateTransform(6), "s_trunc")
    plain.append(pa.Table.from_pylist([row(n) for n in range(60, 100)], ARROW))
    with plain.update_schema() as schema:
        schema.rename_column("s", "label")
        schema.add_column("later", LongType())
    plain.delete("id >= 20 and id < 24")
    return catalog.load_table("db.t")


def leaf(op: Op, name: str, *literals: object) -> Expression:
    return Predicate(op, Reference(name), literals)


CASES: list[tuple[Expression, str]] = [
    (TRUE, "id is null or id is not null"),
    (leaf(Op.EQ, "id", 74), "id = 74"),
    (leaf(Op.IN, "id", 3, 50, 99, 1000), "id in (3, 50, 99, 1000)"),
    (And(leaf(Op.GT_EQ, "ts", "2021-10-01T10:00:00+00:00"), leaf(Op.LT, "ts", "2021-10-01T12:00:00+00:00")),
     "ts >= '2021-10-01T10:00:00+00:00' and ts < '2021-10-01T12:00:00+00:00'"),
    (leaf(Op.EQ, "d", "2021-10-02"), "d = '2021-10-02'"),
    (leaf(Op.STARTS_WITH, "label", "name-1"), "label like 'name-1%'"),
    (leaf(Op.LT, "label", "name-10"), "label < 'name-10'"),
    (leaf(Op.GT, "price", Decimal("20.50")), "price > 20.50"),
    (leaf(Op.LT_EQ, "x", 3.0), "x <= 3.0"),
    (leaf(Op.IS_NULL, "n"), "n is null"),
    (leaf(Op.NOT_NULL, "later"), "later is not null"),
    (leaf(Op.EQ, "nested.a", 2), "nested.a = 2"),
    (Or(leaf(Op.EQ, "id", 5), leaf(Op.EQ, "label", "name-3")), "id = 5 or label = 'name-3'"),
]  # fmt: skip


@pytest.mark.parametrize(("where", "text"), CASES, ids=[text for _, text in CASES])
def test_planning_and_reading(theirs: Any, where: Expression, text: str) -> None:
    io = load_file_io({}, theirs.location())
    metadata = read_metadata(io, theirs.metadata_location)
    ours, other = TableScan(io, metadata, where, name="t"), theirs.scan(row_filter=text)
    planned, expected = set(ours.plan_files().paths), {task.file.file_path for task in other.plan_files()}
    assert planned <= expected, "we never read a file that PyIceberg leaves out"
    found, wanted = ours.to_arrow(), other.to_arrow()
    assert found.column_names == wanted.column_names
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, wanted.to_pylist()))
    if planned != expected:  # what we leave out on top must hold no matching row
        reports = ours.plan_files().report
        assert reports.files_skipped_count or reports.manifests_skipped_count


def test_metadata_tables_of_a_foreign_table(theirs: Any) -> None:
    io = load_file_io({}, theirs.location())
    metadata = read_metadata(io, theirs.metadata_location)
    for name in METADATA_TABLES:
        scan_metadata_table(name, io=io, metadata=metadata, metadata_location=theirs.metadata_location).validate(full=True)
    files = scan_metadata_table("files", io=io, metadata=metadata, select=("file_path", "partition"))
    assert sorted(files.column("file_path").to_pylist()) == sorted(theirs.inspect.files().column("file_path").to_pylist())
    assert [field.name for field in files.schema.field("partition").type] == ["ts_day", "id_bucket", "s_trunc"]


def test_paths_are_plain(theirs: Any) -> None:
    io = load_file_io({}, theirs.location())
    plan = TableScan(io, read_metadata(io, theirs.metadata_location)).plan_files()
    assert all(Path(path.removeprefix("file://")).exists() for path in plan.paths)
