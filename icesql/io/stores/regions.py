"""The regions of buckets that were asked of S3."""

from __future__ import annotations

from collections.abc import Callable

from icesql.io.lru import LruCache

_regions: LruCache[str, str | None] = LruCache(1_000)


def known_region(bucket: str, ask: Callable[[], str | None]) -> str | None:
    return _regions.find_or_make(bucket, ask)
