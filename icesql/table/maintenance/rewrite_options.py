"""Options of the two file rewrites (data files, position delete files), read from the text that callers give."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeVar

from icesql.errors import InvalidArgumentError
from icesql.spec import properties as P
from icesql.spec.metadata import TableMetadata
from icesql.spec.properties import whole_number

Number = TypeVar("Number", int, float)

SPLIT_OVERHEAD_BYTES = 5 * 1024
_RUN = frozenset({"max-concurrent-file-group-rewrites", "partial-progress.enabled", "partial-progress.max-commits", "rewrite-job-order"})
_SIZES = frozenset(
    {
        "target-file-size-bytes",
        "min-file-size-bytes",
        "max-file-size-bytes",
        "min-input-files",
        "rewrite-all",
        "max-file-group-size-bytes",
        "max-file-group-input-files",
        "max-files-to-rewrite",
    }
)
_DATA = frozenset(
    {
        "partial-progress.max-failed-commits",
        "use-starting-sequence-number",
        "delete-file-threshold",
        "delete-ratio-threshold",
        "output-spec-id",
        "remove-dangling-deletes",
        "cache-delete-files",  # whether executors keep deletes of other files: rewrites here read each file's own
    }
)
_SORT = frozenset({"compression-factor", "shuffle-partitions-per-file"})
_ZORDER = frozenset({"var-length-contribution", "max-output-size"})


class JobOrder(str, Enum):
    """Which file groups go first."""

    NONE = "none"
    BYTES_ASC = "bytes-asc"
    BYTES_DESC = "bytes-desc"
    FILES_ASC = "files-asc"
    FILES_DESC = "files-desc"


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteOptions:
    """Sizes are bytes. ``max_files_to_rewrite``: ``None`` for no limit; ``output_spec_id``: ``None`` for the table's spec."""

    target_file_size_bytes: int
    min_file_size_bytes: int
    max_file_size_bytes: int
    min_input_files: int = 5
    rewrite_all: bool = False
    max_file_group_size_bytes: int = 100 << 30
    max_file_group_input_files: int = (1 << 63) - 1
    max_files_to_rewrite: int | None = None
    delete_file_threshold: int = (1 << 31) - 1
    delete_ratio_threshold: float = 0.3
    max_concurrent_file_group_rewrites: int = 5
    partial_progress: bool = False
    max_commits: int = 10
    max_failed_commits: int = 10
    use_starting_sequence_number: bool = True
    job_order: JobOrder = JobOrder.NONE
    output_spec_id: int | None = None
    remove_dangling_deletes: bool = False
    compression_factor: float = 1.0
    shuffle_partitions_per_file: int = 1
    var_length_contribution: int = 8
    max_output_size: int = (1 << 31) - 1

    @property
    def write_max_file_size_bytes(self) -> int:
        """Halfway from the target to the maximum: files may grow a little, so that no tiny remainder is left."""
        return self.target_file_size_bytes + (self.max_file_size_bytes - self.target_file_size_bytes) // 2


def data_rewrite_options(options: Mapping[str, str], metadata: TableMetadata, rewriter: str) -> RewriteOptions:
    """``rewriter``: BIN-PACK, SORT, Z-ORDER or HILBERT; each knows options of its own. Raises InvalidArgumentError."""
    known = _RUN | _SIZES | _DATA
    known |= _SORT if rewriter in ("SORT", "HILBERT") else _SORT | _ZORDER if rewriter == "Z-ORDER" else frozenset()
    _check_known(options, known, rewriter)
    read = _Reader(options)
    default = P.property_as_int(metadata.properties, P.WRITE_TARGET_FILE_SIZE_BYTES)
    commits = read.whole("partial-progress.max-commits", 10)
    partial = read.flag("partial-progress.enabled", default=False)
    if partial and commits <= 0:
        raise InvalidArgumentError(
            f"Cannot set partial-progress.max-commits to {commits}, the value must be positive when partial-progress.enabled is true"
        )
    return RewriteOptions(
        **_sizes(read, default),
        **_run(read),
        partial_progress=partial,
        max_commits=commits,
        max_failed_commits=read.whole("partial-progress.max-failed-commits", commits),
        use_starting_sequence_number=read.flag("use-starting-sequence-number", default=True),
        delete_file_threshold=read.at_least("delete-file-threshold", (1 << 31) - 1, 0),
        delete_ratio_threshold=_ratio(read),
        output_spec_id=_output_spec(read, metadata),
        remove_dangling_deletes=read.flag("remove-dangling-deletes", default=False),
        compression_factor=read.above("compression-factor", 1.0, 0.0),
        shuffle_partitions_per_file=read.above("shuffle-partitions-per-file", 1, 0),
        var_length_contribution=_bytes_used(read, "var-length-contribution", 8, "Cannot use {0} for variable length types with ZOrder"),
        max_output_size=_bytes_used(read, "max-output-size", (1 << 31) - 1, "Cannot have the interleaved ZOrder value use {0}"),
    )


def delete_rewrite_options(options: Mapping[str, str], metadata: TableMetadata) -> RewriteOptions:
    """Options of ``rewrite_position_delete_files``. Raises InvalidArgumentError."""
    _check_known(options, _RUN | _SIZES, "BIN-PACK")
    read = _Reader(options)
    default = P.property_as_int(metadata.properties, P.DELETE_TARGET_FILE_SIZE_BYTES)
    partial = read.flag("partial-progress.enabled", default=False)
    commits = read.whole("partial-progress.max-commits", 10)
    if partial and commits <= 0:
        raise InvalidArgumentError(
            f"Cannot set partial-progress.max-commits to {commits}, the value must be positive when partial-progress.enabled is true"
        )
    return RewriteOptions(**_sizes(read, default), **_run(read), partial_progress=partial, max_commits=commits, max_failed_commits=commits)


def _check_known(options: Mapping[str, str], known: frozenset[str], rewriter: str) -> None:
    unknown = [key for key in options if key not in known]
    if unknown:
        raise InvalidArgumentError(
            f"Cannot use options [{', '.join(unknown)}], they are not supported by the action or the rewriter {rewriter}", options=unknown
        )


def _sizes(read: _Reader, default_target: int) -> dict[str, Any]:
    target = read.above("target-file-size-bytes", default_target, 0)
    smallest = read.at_least("min-file-size-bytes", int(target * 0.75), 0)
    largest = read.whole("max-file-size-bytes", int(target * 1.8))
    if target <= smallest:
        raise InvalidArgumentError(
            f"'target-file-size-bytes' ({target}) must be > 'min-file-size-bytes' ({smallest}), "
            "all new files will be smaller than the min threshold"
        )
    if target >= largest:
        raise InvalidArgumentError(
            f"'target-file-size-bytes' ({target}) must be < 'max-file-size-bytes' ({largest}), "
            "all new files will be larger than the max threshold"
        )
    limit = read.whole("max-files-to-rewrite", 0) if "max-files-to-rewrite" in read.options else None
    if limit is not None and limit <= 0:
        raise InvalidArgumentError(f"Cannot set max-files-to-rewrite to {limit}, the value must be positive integer")
    return {
        "target_file_size_bytes": target,
        "min_file_size_bytes": smallest,
        "max_file_size_bytes": largest,
        "min_input_files": read.above("min-input-files", 5, 0),
        "rewrite_all": read.flag("rewrite-all", default=False),
        "max_file_group_size_bytes": read.above("max-file-group-size-bytes", 100 << 30, 0),
        "max_file_group_input_files": read.above("max-file-group-input-files", (1 << 63) - 1, 0),
        "max_files_to_rewrite": limit,
    }


def _run(read: _Reader) -> dict[str, Any]:
    concurrent = read.whole("max-concurrent-file-group-rewrites", 5)
    if concurrent < 1:
        raise InvalidArgumentError(f"Cannot set max-concurrent-file-group-rewrites to {concurrent}, the value must be positive.")
    text = read.options.get("rewrite-job-order", "none")
    try:
        order = JobOrder(text.lower())
    except ValueError:
        raise InvalidArgumentError(f"Invalid rewrite job order name: {text}", value=text) from None
    return {"max_concurrent_file_group_rewrites": concurrent, "job_order": order}


def _bytes_used(read: _Reader, key: str, default: int, refusal: str) -> int:
    value = read.whole(key, default)
    if value < 1:
        raise InvalidArgumentError(f"{refusal.format('less than 1 byte')}, '{key}' was set to {value}", option=key)
    return value


def _ratio(read: _Reader) -> float:
    ratio = read.above("delete-ratio-threshold", 0.3, 0.0)
    if ratio > 1:
        raise InvalidArgumentError(f"'delete-ratio-threshold' is set to {ratio} but must be <= 1")
    return ratio


def _output_spec(read: _Reader, metadata: TableMetadata) -> int | None:
    if "output-spec-id" not in read.options:
        return None
    spec_id = read.whole("output-spec-id", 0)
    if spec_id not in metadata.specs_by_id:
        raise InvalidArgumentError(
            f"Cannot use output spec id {spec_id} because the table does not contain a reference to this spec-id.", spec_id=spec_id
        )
    return spec_id


@dataclass(frozen=True, slots=True)
class _Reader:
    """Typed values of options, refused in the reference's words."""

    options: Mapping[str, str]

    def whole(self, key: str, default: int) -> int:
        text = self.options.get(key)
        if text is None:
            return default
        try:
            return whole_number(text)
        except ValueError:
            raise InvalidArgumentError(f'For input string: "{text}" (option {key})', option=key, value=text) from None

    def _number(self, key: str, default: Number) -> Number:
        if isinstance(default, int):
            return self.whole(key, default)
        try:
            value = float(self.options.get(key, default))
        except ValueError:
            raise InvalidArgumentError(f'For input string: "{self.options[key]}" (option {key})', option=key) from None
        if math.isnan(value):
            raise InvalidArgumentError(f"'{key}' is set to NaN but must be a number", option=key)
        return value

    def above(self, key: str, default: Number, bound: Number) -> Number:
        value = self._number(key, default)
        if key in self.options and value <= bound:
            raise InvalidArgumentError(f"'{key}' is set to {value} but must be > {int(bound)}", option=key)
        return value

    def at_least(self, key: str, default: int, bound: int) -> int:
        value = self.whole(key, default)
        if value < bound:
            raise InvalidArgumentError(f"'{key}' is set to {value} but must be >= {bound}", option=key)
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        text = self.options.get(key)
        return default if text is None else text.strip().lower() == "true"
