"""Table properties: their keys, their defaults, and reading them as numbers and flags.

Constants are named as in Java's ``TableProperties``; ``DEFAULTS`` has the default of every property that has one, as text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from icesql.errors import ValidationError

FORMAT_VERSION: Final = "format-version"
UUID: Final = "uuid"
SNAPSHOT_COUNT: Final = "snapshot-count"
CURRENT_SNAPSHOT_ID: Final = "current-snapshot-id"
CURRENT_SNAPSHOT_SUMMARY: Final = "current-snapshot-summary"
CURRENT_SNAPSHOT_TIMESTAMP_MS: Final = "current-snapshot-timestamp-ms"
CURRENT_SCHEMA: Final = "current-schema"
DEFAULT_PARTITION_SPEC: Final = "default-partition-spec"
DEFAULT_SORT_ORDER: Final = "default-sort-order"

RESERVED: Final = frozenset(
    {
        FORMAT_VERSION, UUID, SNAPSHOT_COUNT, CURRENT_SNAPSHOT_ID, CURRENT_SNAPSHOT_SUMMARY, CURRENT_SNAPSHOT_TIMESTAMP_MS,
        CURRENT_SCHEMA, DEFAULT_PARTITION_SPEC, DEFAULT_SORT_ORDER,
    }
)  # fmt: skip
"""Never stored in the metadata's properties."""

COMMENT: Final = "comment"
DEFAULT_NAME_MAPPING: Final = "schema.name-mapping.default"
GC_ENABLED: Final = "gc.enabled"
IDENTIFIER_FIELDS_RELY: Final = "identifier-fields.rely"
SNAPSHOT_ID_INHERITANCE_ENABLED: Final = "compatibility.snapshot-id-inheritance.enabled"
ENGINE_HIVE_ENABLED: Final = "engine.hive.enabled"
ENCRYPTION_DEK_LENGTH: Final = "encryption.data-key-length"

# -- commits
COMMIT_RETRY_PREFIX: Final = "commit.retry."
COMMIT_STATUS_CHECK_PREFIX: Final = "commit.status-check."
COMMIT_NUM_RETRIES: Final = "commit.retry.num-retries"
COMMIT_MIN_RETRY_WAIT_MS: Final = "commit.retry.min-wait-ms"
COMMIT_MAX_RETRY_WAIT_MS: Final = "commit.retry.max-wait-ms"
COMMIT_TOTAL_RETRY_TIME_MS: Final = "commit.retry.total-timeout-ms"
COMMIT_NUM_STATUS_CHECKS: Final = "commit.status-check.num-retries"
COMMIT_STATUS_CHECKS_MIN_WAIT_MS: Final = "commit.status-check.min-wait-ms"
COMMIT_STATUS_CHECKS_MAX_WAIT_MS: Final = "commit.status-check.max-wait-ms"
COMMIT_STATUS_CHECKS_TOTAL_WAIT_MS: Final = "commit.status-check.total-timeout-ms"

# -- manifests and metadata
MANIFEST_TARGET_SIZE_BYTES: Final = "commit.manifest.target-size-bytes"
MANIFEST_MIN_MERGE_COUNT: Final = "commit.manifest.min-count-to-merge"
MANIFEST_MERGE_ENABLED: Final = "commit.manifest-merge.enabled"
MANIFEST_COMPRESSION: Final = "write.manifest.compression-codec"
METADATA_COMPRESSION: Final = "write.metadata.compression-codec"
METADATA_PREVIOUS_VERSIONS_MAX: Final = "write.metadata.previous-versions-max"
METADATA_DELETE_AFTER_COMMIT_ENABLED: Final = "write.metadata.delete-after-commit.enabled"
METRICS_MODE_DEFAULT: Final = "write.metadata.metrics.default"
METRICS_MODE_COLUMN_PREFIX: Final = "write.metadata.metrics.column."
METRICS_MAX_INFERRED_COLUMN_DEFAULTS: Final = "write.metadata.metrics.max-inferred-column-defaults"
WRITE_PARTITION_SUMMARY_LIMIT: Final = "write.summary.partition-limit"

# -- locations
WRITE_DATA_LOCATION: Final = "write.data.path"
WRITE_FOLDER_STORAGE_LOCATION: Final = "write.folder-storage.path"  # older name of write.data.path
OBJECT_STORE_PATH: Final = "write.object-storage.path"  # older name of write.data.path
WRITE_METADATA_LOCATION: Final = "write.metadata.path"
OBJECT_STORE_ENABLED: Final = "write.object-storage.enabled"
WRITE_OBJECT_STORE_PARTITIONED_PATHS: Final = "write.object-storage.partitioned-paths"
WRITE_LOCATION_PROVIDER_IMPL: Final = "write.location-provider.impl"

# -- file formats
DEFAULT_FILE_FORMAT: Final = "write.format.default"
DELETE_DEFAULT_FILE_FORMAT: Final = "write.delete.format.default"
PARQUET_ROW_GROUP_SIZE_BYTES: Final = "write.parquet.row-group-size-bytes"
PARQUET_PAGE_SIZE_BYTES: Final = "write.parquet.page-size-bytes"
PARQUET_PAGE_VERSION: Final = "write.parquet.page-version"
PARQUET_PAGE_ROW_LIMIT: Final = "write.parquet.page-row-limit"
PARQUET_DICT_SIZE_BYTES: Final = "write.parquet.dict-size-bytes"
PARQUET_COMPRESSION: Final = "write.parquet.compression-codec"
PARQUET_COMPRESSION_LEVEL: Final = "write.parquet.compression-level"
PARQUET_ROW_GROUP_CHECK_MIN_RECORD_COUNT: Final = "write.parquet.row-group-check-min-record-count"
PARQUET_ROW_GROUP_CHECK_MAX_RECORD_COUNT: Final = "write.parquet.row-group-check-max-record-count"
PARQUET_ROW_GROUP_SIZE_TRACK_UNCOMPRESSED: Final = "write.parquet.row-group-size-track-uncompressed"
PARQUET_BLOOM_FILTER_MAX_BYTES: Final = "write.parquet.bloom-filter-max-bytes"
PARQUET_BLOOM_FILTER_ADAPTIVE_ENABLED: Final = "write.parquet.bloom-filter-adaptive-enabled"
PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX: Final = "write.parquet.bloom-filter-enabled.column."
PARQUET_BLOOM_FILTER_COLUMN_FPP_PREFIX: Final = "write.parquet.bloom-filter-fpp.column."
PARQUET_BLOOM_FILTER_COLUMN_NDV_PREFIX: Final = "write.parquet.bloom-filter-ndv.column."
PARQUET_COLUMN_STATS_ENABLED_PREFIX: Final = "write.parquet.stats-enabled.column."
PARQUET_DICT_ENCODING_ENABLED_PREFIX: Final = "write.parquet.dict-encoding-enabled.column."
PARQUET_SHRED_VARIANTS: Final = "write.parquet.shred-variants"
PARQUET_VARIANT_INFERENCE_BUFFER_SIZE: Final = "write.parquet.variant-inference-buffer-size"
AVRO_COMPRESSION: Final = "write.avro.compression-codec"
AVRO_COMPRESSION_LEVEL: Final = "write.avro.compression-level"
ORC_STRIPE_SIZE_BYTES: Final = "write.orc.stripe-size-bytes"
ORC_BLOCK_SIZE_BYTES: Final = "write.orc.block-size-bytes"
ORC_WRITE_BATCH_SIZE: Final = "write.orc.vectorized.batch-size"
ORC_COMPRESSION: Final = "write.orc.compression-codec"
ORC_COMPRESSION_STRATEGY: Final = "write.orc.compression-strategy"
ORC_BLOOM_FILTER_COLUMNS: Final = "write.orc.bloom.filter.columns"
ORC_BLOOM_FILTER_FPP: Final = "write.orc.bloom.filter.fpp"
WRITE_PREFIX: Final = "write."
PARQUET_PREFIX: Final = "write.parquet."
ORC_PREFIX: Final = "write.orc."
DELETE_PREFIX: Final = "write.delete."
"""Format properties may be given for delete files alone: ``write.delete.parquet.compression-codec`` and so on."""

# -- writes
WRITE_TARGET_FILE_SIZE_BYTES: Final = "write.target-file-size-bytes"
DELETE_TARGET_FILE_SIZE_BYTES: Final = "write.delete.target-file-size-bytes"
SPARK_WRITE_ADVISORY_PARTITION_SIZE_BYTES: Final = "write.spark.advisory-partition-size-bytes"
SPARK_WRITE_PARTITIONED_FANOUT_ENABLED: Final = "write.spark.fanout.enabled"
SPARK_WRITE_ACCEPT_ANY_SCHEMA: Final = "write.spark.accept-any-schema"
SPARK_WRITE_AUTO_SCHEMA_EVOLUTION: Final = "write.spark.auto-schema-evolution.enabled"
WRITE_AUDIT_PUBLISH_ENABLED: Final = "write.wap.enabled"
WRITE_DISTRIBUTION_MODE: Final = "write.distribution-mode"
DELETE_MODE: Final = "write.delete.mode"
DELETE_ISOLATION_LEVEL: Final = "write.delete.isolation-level"
DELETE_DISTRIBUTION_MODE: Final = "write.delete.distribution-mode"
DELETE_GRANULARITY: Final = "write.delete.granularity"
UPDATE_MODE: Final = "write.update.mode"
UPDATE_ISOLATION_LEVEL: Final = "write.update.isolation-level"
UPDATE_DISTRIBUTION_MODE: Final = "write.update.distribution-mode"
MERGE_MODE: Final = "write.merge.mode"
MERGE_ISOLATION_LEVEL: Final = "write.merge.isolation-level"
MERGE_DISTRIBUTION_MODE: Final = "write.merge.distribution-mode"
UPSERT_ENABLED: Final = "write.upsert.enabled"
ROW_LEVEL_MODES: Final = {"delete": DELETE_MODE, "update": UPDATE_MODE, "merge": MERGE_MODE}
ISOLATION_LEVELS: Final = {"delete": DELETE_ISOLATION_LEVEL, "update": UPDATE_ISOLATION_LEVEL, "merge": MERGE_ISOLATION_LEVEL}
DISTRIBUTION_MODES: Final = {
    "write": WRITE_DISTRIBUTION_MODE,
    "delete": DELETE_DISTRIBUTION_MODE,
    "update": UPDATE_DISTRIBUTION_MODE,
    "merge": MERGE_DISTRIBUTION_MODE,
}

# -- reads
SPLIT_SIZE: Final = "read.split.target-size"
METADATA_SPLIT_SIZE: Final = "read.split.metadata-target-size"
SPLIT_LOOKBACK: Final = "read.split.planning-lookback"
SPLIT_OPEN_FILE_COST: Final = "read.split.open-file-cost"
ADAPTIVE_SPLIT_SIZE_ENABLED: Final = "read.split.adaptive-size.enabled"
PARQUET_VECTORIZATION_ENABLED: Final = "read.parquet.vectorization.enabled"
PARQUET_BATCH_SIZE: Final = "read.parquet.vectorization.batch-size"
ORC_VECTORIZATION_ENABLED: Final = "read.orc.vectorization.enabled"
ORC_BATCH_SIZE: Final = "read.orc.vectorization.batch-size"
DATA_PLANNING_MODE: Final = "read.data-planning-mode"
DELETE_PLANNING_MODE: Final = "read.delete-planning-mode"

# -- expiry
MAX_SNAPSHOT_AGE_MS: Final = "history.expire.max-snapshot-age-ms"
MIN_SNAPSHOTS_TO_KEEP: Final = "history.expire.min-snapshots-to-keep"
MAX_REF_AGE_MS: Final = "history.expire.max-ref-age-ms"

LONG_MAX: Final = 2**63 - 1
MIB: Final = 1024 * 1024

DEFAULTS: Final[Mapping[str, str]] = {
    FORMAT_VERSION: "2",
    GC_ENABLED: "true",
    IDENTIFIER_FIELDS_RELY: "false",
    SNAPSHOT_ID_INHERITANCE_ENABLED: "false",
    ENGINE_HIVE_ENABLED: "false",
    ENCRYPTION_DEK_LENGTH: "16",
    COMMIT_NUM_RETRIES: "4",
    COMMIT_MIN_RETRY_WAIT_MS: "100",
    COMMIT_MAX_RETRY_WAIT_MS: "60000",
    COMMIT_TOTAL_RETRY_TIME_MS: "1800000",
    COMMIT_NUM_STATUS_CHECKS: "3",
    COMMIT_STATUS_CHECKS_MIN_WAIT_MS: "1000",
    COMMIT_STATUS_CHECKS_MAX_WAIT_MS: "60000",
    COMMIT_STATUS_CHECKS_TOTAL_WAIT_MS: "1800000",
    MANIFEST_TARGET_SIZE_BYTES: str(8 * MIB),
    MANIFEST_MIN_MERGE_COUNT: "100",
    MANIFEST_MERGE_ENABLED: "true",
    MANIFEST_COMPRESSION: "gzip",
    METADATA_COMPRESSION: "none",
    METADATA_PREVIOUS_VERSIONS_MAX: "100",
    METADATA_DELETE_AFTER_COMMIT_ENABLED: "false",
    METRICS_MODE_DEFAULT: "truncate(16)",
    METRICS_MAX_INFERRED_COLUMN_DEFAULTS: "100",
    WRITE_PARTITION_SUMMARY_LIMIT: "0",
    OBJECT_STORE_ENABLED: "false",
    WRITE_OBJECT_STORE_PARTITIONED_PATHS: "true",
    DEFAULT_FILE_FORMAT: "parquet",
    PARQUET_ROW_GROUP_SIZE_BYTES: str(128 * MIB),
    PARQUET_PAGE_SIZE_BYTES: str(MIB),
    PARQUET_PAGE_VERSION: "v1",
    PARQUET_PAGE_ROW_LIMIT: "20000",
    PARQUET_DICT_SIZE_BYTES: str(2 * MIB),
    PARQUET_COMPRESSION: "gzip",
    PARQUET_ROW_GROUP_CHECK_MIN_RECORD_COUNT: "100",
    PARQUET_ROW_GROUP_CHECK_MAX_RECORD_COUNT: "10000",
    PARQUET_ROW_GROUP_SIZE_TRACK_UNCOMPRESSED: "false",
    PARQUET_BLOOM_FILTER_MAX_BYTES: str(MIB),
    PARQUET_BLOOM_FILTER_ADAPTIVE_ENABLED: "false",
    PARQUET_SHRED_VARIANTS: "false",
    PARQUET_VARIANT_INFERENCE_BUFFER_SIZE: "100",
    AVRO_COMPRESSION: "gzip",
    ORC_STRIPE_SIZE_BYTES: str(64 * MIB),
    ORC_BLOCK_SIZE_BYTES: str(256 * MIB),
    ORC_WRITE_BATCH_SIZE: "1024",
    ORC_COMPRESSION: "zlib",
    ORC_COMPRESSION_STRATEGY: "speed",
    ORC_BLOOM_FILTER_COLUMNS: "",
    ORC_BLOOM_FILTER_FPP: "0.05",
    WRITE_TARGET_FILE_SIZE_BYTES: str(512 * MIB),
    DELETE_TARGET_FILE_SIZE_BYTES: str(64 * MIB),
    SPARK_WRITE_PARTITIONED_FANOUT_ENABLED: "false",
    SPARK_WRITE_ACCEPT_ANY_SCHEMA: "false",
    SPARK_WRITE_AUTO_SCHEMA_EVOLUTION: "true",
    WRITE_AUDIT_PUBLISH_ENABLED: "false",
    DELETE_MODE: "copy-on-write",
    DELETE_ISOLATION_LEVEL: "serializable",
    DELETE_GRANULARITY: "file",  # Spark's effective default; "partition" in Java's core
    UPDATE_MODE: "copy-on-write",
    UPDATE_ISOLATION_LEVEL: "serializable",
    MERGE_MODE: "copy-on-write",
    MERGE_ISOLATION_LEVEL: "serializable",
    UPSERT_ENABLED: "false",
    SPLIT_SIZE: str(128 * MIB),
    METADATA_SPLIT_SIZE: str(32 * MIB),
    SPLIT_LOOKBACK: "10",
    SPLIT_OPEN_FILE_COST: str(4 * MIB),
    ADAPTIVE_SPLIT_SIZE_ENABLED: "true",
    PARQUET_VECTORIZATION_ENABLED: "true",
    PARQUET_BATCH_SIZE: "5000",
    ORC_VECTORIZATION_ENABLED: "false",
    ORC_BATCH_SIZE: "5000",
    DATA_PLANNING_MODE: "auto",
    DELETE_PLANNING_MODE: "auto",
    MAX_SNAPSHOT_AGE_MS: "432000000",
    MIN_SNAPSHOTS_TO_KEEP: "1",
    MAX_REF_AGE_MS: str(LONG_MAX),
}
PERSISTED_AT_CREATE: Final[Mapping[str, str]] = {PARQUET_COMPRESSION: "zstd"}
"""Stored in every new table that does not say otherwise."""


def property_as_string(properties: Mapping[str, str], key: str, default: str | None = None) -> str | None:
    """The property, else ``default``, else the key's own default, else ``None``."""
    value = properties.get(key, default)
    return DEFAULTS.get(key) if value is None else value


def property_as_int(properties: Mapping[str, str], key: str, default: int | None = None) -> int:
    """The property as a number. Without a ``default`` the key's own applies. Raises ValidationError if it is not a whole number."""
    text = properties.get(key)
    if text is None:
        return int(DEFAULTS[key]) if default is None else default
    return _whole(key, text)


def property_as_float(properties: Mapping[str, str], key: str, default: float | None = None) -> float:
    """The property as a number. Raises ValidationError if it is none."""
    text = properties.get(key)
    if text is None:
        return float(DEFAULTS[key]) if default is None else default
    try:
        return float(text)
    except ValueError:
        raise ValidationError(f"Table property {key} must have numeric value", key=key, value=text) from None


def property_as_bool(properties: Mapping[str, str], key: str, default: bool | None = None) -> bool:
    """True for ``true`` in any case; anything else that is set is false, as in Java."""
    text = properties.get(key)
    if text is None:
        return DEFAULTS.get(key, "false") == "true" if default is None else default
    return text.lower() == "true"


def whole_number(text: str) -> int:
    """Read as Java's ``Long.parseLong`` does: an optional sign and digits; neither blanks nor underscores. Raises ValueError.

    Every number in a property, an option or a snapshot summary is read by this one function.
    """
    if re.fullmatch(r"[+-]?[0-9]{1,30}", text) is None or not -(2**63) <= int(text) < 2**63:
        raise ValueError(f"not a whole number: {text}")
    return int(text)


def _whole(key: str, text: str) -> int:
    try:
        return whole_number(text)
    except ValueError:
        raise ValidationError(f"Table property {key} must have integer value", key=key, value=text) from None


def column_properties(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    """``{column: value}`` of the properties under a ``....column.`` prefix."""
    return {key[len(prefix) :]: value for key, value in properties.items() if key.startswith(prefix)}


def without_reserved(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties that are stored in the metadata: reserved ones describe the table instead."""
    return {key: value for key, value in properties.items() if key not in RESERVED}
