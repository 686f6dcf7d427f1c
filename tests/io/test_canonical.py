"""Locations in one spelling: what names one place has one form, what names two has two."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from icesql.io.storage.canonical import Canonical, climbs, decoded, depth, folders_above, is_below, overlap


@pytest.mark.parametrize(
    ("location", "form"),
    [
        ("/a/b", "file:/a/b"),
        ("file:/a/b", "file:/a/b"),
        ("file:///a/b/", "file:/a/b"),
        ("FILE://localhost/a//b", "file:/a/b"),
        ("/a/./x/../b", "file:/a/b"),
        ("//a/b", "file:/a/b"),
        ("/", "file:/"),
        ("//", "file:/"),
        ("file:///", "file:/"),
        ("/a%20b", "file:/a%20b"),
        ("s3a://Bucket/k//x/", "s3://bucket/k/x"),
        ("S3N://bucket/k/./y/../x", "s3://bucket/k/x"),
        ("hdfs://NameNode:8020/k", "hdfs://namenode:8020/k"),
        ("memory://Folder/k", "memory://Folder/k"),
        ("s3://bucket", "s3://bucket/"),
        ("", None),
        ("relative/x", None),
        (".", None),
        ("..", None),
        ("file://otherhost/x", None),
        ("/a\0b", None),
        ("s3://", None),
    ],
)
def test_each_place_has_one_form(location: str, form: str | None) -> None:
    assert Canonical().folder(location) == form
    assert Canonical().folder(form) == form if form else True


def test_links_are_followed_but_for_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "file").touch()
    (tmp_path / "link" / "alias").symlink_to(tmp_path / "real" / "file")
    root = Canonical().folder(str(tmp_path))
    assert Canonical().folder(f"{tmp_path}/link/") == f"{root}/real"
    assert Canonical().file(f"{tmp_path}/link/file") == f"{root}/real/file"
    assert Canonical().file(f"{tmp_path}/link/alias") == f"{root}/real/alias"
    assert Canonical().file(f"{tmp_path}/link/../link/file") == f"{root}/real/file"


@given(st.lists(st.sampled_from(["a", "b", "..", ".", "", "link"]), min_size=1, max_size=7))
def test_local_forms_are_the_real_paths(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    root = tmp_path_factory.getbasetemp() / "tree"
    if not root.exists():
        (root / "a" / "b").mkdir(parents=True)
        (root / "b").symlink_to(root / "a")
        (root / "a" / "link").symlink_to(root)
    path = f"{root}/{'/'.join(parts)}"
    assert Canonical().folder(path) == "file:" + os.path.realpath(path)
    shared = Canonical()
    assert [shared.folder(path), shared.folder(path)] == [Canonical().folder(path)] * 2


def test_decoding_shows_what_a_careless_reader_would_open() -> None:
    assert decoded("file:/w/t/%2e%2e/u/x") == "file:/w/u/x"
    assert decoded("s3://b/w/%252e%252e/u") == "s3://b/u"
    assert decoded("memory://B/%75") == "memory://b/u"


def test_below_and_overlap() -> None:
    assert is_below("file:/a/b", "file:/a")
    assert is_below("file:/a", "file:/")
    assert not is_below("file:/ab", "file:/a")
    assert not is_below("file:/a", "file:/a")
    assert overlap("file:/a", "file:/a/b")
    assert overlap("file:/a/b", "file:/a")
    assert not overlap("file:/a/b", "file:/a/c")
    assert [depth(one) for one in ("file:/", "file:/a", "s3://b/", "s3://b/k", "s3://b/k/x")] == [0, 1, 0, 1, 2]
    assert list(folders_above("s3://b/k/x/f")) == ["s3://b/k/x", "s3://b/k"]
    assert list(folders_above("file:/a/b/f")) == ["file:/a/b", "file:/a"]


def test_dots_in_a_store_are_ambiguous() -> None:
    assert climbs("s3://b/a/../x")
    assert climbs("memory://b/./x")
    assert not climbs("s3://b/a..b/x")
    assert not climbs("/a/../b")  # the kernel has resolved these
