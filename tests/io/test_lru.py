"""The cache against a list of keys in the order of their use."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from icesql.io.lru import LruCache


@given(st.integers(1, 4), st.lists(st.tuples(st.sampled_from(["find", "put", "make"]), st.integers(0, 6)), max_size=40))
def test_it_keeps_what_was_used_last(size: int, steps: list[tuple[str, int]]) -> None:
    cache: LruCache[int, str] = LruCache(size)
    used: list[int] = []
    for verb, key in steps:
        if verb == "find":
            assert cache.find(key) == (f"v{key}" if key in used else None)
        elif verb == "put":
            assert cache.put(key, f"v{key}") == f"v{key}"
        else:
            assert cache.find_or_make(key, lambda key=key: f"v{key}") == f"v{key}"  # type: ignore[misc]
        if key in used or verb != "find":
            used = [*(k for k in used if k != key), key][-size:]
        assert cache.values() == [f"v{k}" for k in used]
        assert all((k in cache) == (k in used) for k in range(7))
    cache.clear()
    assert len(cache) == 0
