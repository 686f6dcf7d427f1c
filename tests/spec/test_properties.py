"""Table properties."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.spec import properties as p
from icesql.spec.schema import Schema
from icesql.spec.views import VERSION_HISTORY_SIZE, ViewMetadata, ViewVersion, expire_versions
from icesql.table.maintenance.rewrite_options import _Reader
from icesql.table.metadata.create import _format_version
from icesql.table.metadata.property_checks import check_commit_properties
from icesql.table.scan.read_numbers import check_batch_size, check_splits
from icesql.table.scan.snapshot_ranges import append_range


def test_defaults_are_of_properties_that_exist_and_readable() -> None:
    keys = {value for name, value in vars(p).items() if name.isupper() and isinstance(value, str)}
    assert set(p.DEFAULTS) <= keys
    assert keys >= p.RESERVED
    for key in (p.COMMIT_NUM_RETRIES, p.SPLIT_SIZE, p.MAX_REF_AGE_MS, p.WRITE_TARGET_FILE_SIZE_BYTES, p.PARQUET_PAGE_ROW_LIMIT):
        assert p.property_as_int({}, key) == int(p.DEFAULTS[key])


def test_the_table_comes_before_the_call_and_the_call_before_the_default() -> None:
    assert p.property_as_int({p.COMMIT_NUM_RETRIES: "+7"}, p.COMMIT_NUM_RETRIES, 1) == 7
    assert p.property_as_int({}, p.COMMIT_NUM_RETRIES, 1) == 1
    assert p.property_as_int({}, p.COMMIT_NUM_RETRIES) == 4
    assert p.property_as_string({}, p.PARQUET_COMPRESSION_LEVEL) is None
    assert p.property_as_string({}, p.DEFAULT_FILE_FORMAT) == "parquet"
    assert p.property_as_float({}, p.ORC_BLOOM_FILTER_FPP) == 0.05


@pytest.mark.parametrize(("text", "expected"), [("true", True), ("TRUE", True), ("false", False), ("yes", False), ("", False)])
def test_only_true_is_true(text: str, expected: bool) -> None:
    assert p.property_as_bool({p.GC_ENABLED: text}, p.GC_ENABLED) is expected


def test_flags_have_defaults() -> None:
    assert p.property_as_bool({}, p.GC_ENABLED) and not p.property_as_bool({}, p.UPSERT_ENABLED)
    assert p.property_as_bool({}, p.UPSERT_ENABLED, default=True)


@pytest.mark.parametrize("text", ["x", "", " 7 ", "1_0", "\u0667"])
def test_what_java_does_not_read_as_a_number_is_none(text: str) -> None:
    with pytest.raises(ValidationError, match=r"^Table property commit.retry.num-retries must have integer value$"):
        p.property_as_int({p.COMMIT_NUM_RETRIES: text}, p.COMMIT_NUM_RETRIES)


def test_reserved_properties_are_not_stored() -> None:
    assert p.without_reserved({p.FORMAT_VERSION: "3", p.UUID: "x", "a": "b"}) == {"a": "b"}


def test_column_properties() -> None:
    given = {"write.metadata.metrics.column.a.b": "full", "write.metadata.metrics.default": "none"}
    assert p.column_properties(given, p.METRICS_MODE_COLUMN_PREFIX) == {"a.b": "full"}


def a_view(text: str) -> object:
    version = ViewVersion(version_id=1, timestamp_ms=1, schema_id=0)
    view = ViewMetadata(
        view_uuid="u", location="/v", current_version_id=1, versions=(version,), schemas=(Schema(()),),
        properties={VERSION_HISTORY_SIZE: text},
    )  # fmt: skip
    return expire_versions(view)


READERS: dict[str, Callable[[str], object]] = {
    "property": lambda text: p.property_as_int({p.COMMIT_NUM_RETRIES: text}, p.COMMIT_NUM_RETRIES),
    "commit property": lambda text: check_commit_properties({p.COMMIT_NUM_RETRIES: text}),
    "split option": lambda text: check_splits({}, {"split-size": text}),
    "batch size": lambda text: check_batch_size({}, {"batch-size": text}),
    "snapshot option": lambda text: append_range(None, {"start-snapshot-id": text}),  # type: ignore[arg-type]
    "rewrite option": lambda text: _Reader({"min-input-files": text}).whole("min-input-files", 5),
    "format version": lambda text: _format_version({p.FORMAT_VERSION: text}, None),
    "view history": a_view,
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("text", ["1_0", " 5 ", "5 ", "", "0x5", "\u0665", "5L"])
def test_every_reader_of_numbers_refuses_what_java_refuses(reader: Callable[[str], object], text: str) -> None:
    with pytest.raises((ValidationError, InvalidArgumentError)):
        reader(text)
