"""Table properties."""

from __future__ import annotations

import pytest

from icesql.errors import InvalidArgumentError, ValidationError
from icesql.spec import properties as p


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
    assert p.property_as_optional_int({}, p.PARQUET_COMPRESSION_LEVEL) is None
    assert p.property_as_optional_int({p.PARQUET_COMPRESSION_LEVEL: "3"}, p.PARQUET_COMPRESSION_LEVEL) == 3
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


def test_wrong_numbers_are_refused_in_javas_words() -> None:
    with pytest.raises(ValidationError, match=r"^Table property commit.retry.num-retries must have integer value$"):
        p.validate_properties({p.COMMIT_NUM_RETRIES: "1.5"})
    with pytest.raises(ValidationError, match=r"^Table property commit.retry.min-wait-ms must have non negative integer value$"):
        p.validate_properties({p.COMMIT_MIN_RETRY_WAIT_MS: "-1"})
    p.validate_properties({p.COMMIT_NUM_RETRIES: "0", "anything": "else"})


def test_reserved_properties_are_not_stored() -> None:
    assert p.without_reserved({p.FORMAT_VERSION: "3", p.UUID: "x", "a": "b"}) == {"a": "b"}
    assert p.format_version_of({p.FORMAT_VERSION: "3"}, 2) == 3 and p.format_version_of({}, 2) == 2
    with pytest.raises(InvalidArgumentError, match="unsupported format version: 0"):
        p.format_version_of({p.FORMAT_VERSION: "0"}, 2)


def test_column_properties() -> None:
    given = {"write.metadata.metrics.column.a.b": "full", "write.metadata.metrics.default": "none"}
    assert p.column_properties(given, p.METRICS_MODE_COLUMN_PREFIX) == {"a.b": "full"}
