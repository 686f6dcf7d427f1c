"""How well manifests are clustered: how many of them a filter on one partition has to read."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from icesql.io.storage.files import FileIO
from icesql.spec.files import ManifestContent, ManifestFile
from icesql.spec.metadata import TableMetadata
from icesql.spec.values.binary import from_bytes
from icesql.table.manifests.access import manifests_of, schema_for_spec


def manifests_per_partition(io: FileIO, metadata: TableMetadata, branch: str) -> float | None:
    """Data manifests of the default spec that a point of the partition space lies in, on average over the lower corners of all manifests.

    ``None`` for tables without partitions or without manifests. 1.0 is perfect clustering.
    """
    spec = metadata.spec
    snapshot = metadata.head(branch)
    if spec.is_unpartitioned or snapshot is None:
        return None
    types = [field.type for field in spec.partition_type(schema_for_spec(metadata, spec)).fields]
    held = [
        m for m in manifests_of(io, snapshot) if m.content is ManifestContent.DATA and m.partition_spec_id == spec.spec_id and m.partitions
    ]
    boxes = [_box(manifest, types) for manifest in held]
    corners = [[low for low, _ in box] for box in boxes]
    if not corners:
        return None
    return fmean(sum(_contains(box, corner) for box in boxes) for corner in corners)


def _box(manifest: ManifestFile, types: Sequence[object]) -> list[tuple[object, object]]:
    return [
        (None if s.lower_bound is None else from_bytes(t, s.lower_bound), None if s.upper_bound is None else from_bytes(t, s.upper_bound))  # type: ignore[arg-type]
        for s, t in zip(manifest.partitions or (), types, strict=True)
    ]


def _contains(box: Sequence[tuple[object, object]], corner: Sequence[object]) -> bool:
    return all(
        value is None or low is None or high is None or low <= value <= high  # type: ignore[operator]
        for (low, high), value in zip(box, corner, strict=True)
    )
