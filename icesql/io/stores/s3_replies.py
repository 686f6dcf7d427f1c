"""The XML that S3 answers with: lists, uploads and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import unquote
from xml.etree import ElementTree

from icesql.io.stores.failures import StoreError
from icesql.io.stores.requests import Listed


@dataclass(frozen=True, slots=True)
class ListPage:
    """``folders`` end with the delimiter; ``next_token`` is ``None`` on the last page."""

    objects: Sequence[Listed]
    folders: Sequence[str]
    next_token: str | None


def list_page(body: bytes) -> ListPage:
    """Of ``ListObjectsV2`` with ``encoding-type=url``. Raises StoreError."""
    root = _parsed(body)
    is_encoded = _text(root, "EncodingType") == "url"

    def name(text: str) -> str:
        return unquote(text.replace("+", " ")) if is_encoded else text

    objects = [
        Listed(name(_text(node, "Key")), int(_text(node, "Size") or 0), _milliseconds(_text(node, "LastModified")))
        for node in _named(root, "Contents")
    ]
    folders = [name(_text(node, "Prefix")) for node in _named(root, "CommonPrefixes")]
    is_cut = _text(root, "IsTruncated") == "true"
    return ListPage(objects, folders, (_text(root, "NextContinuationToken") or None) if is_cut else None)


def upload_id(body: bytes) -> str:
    """Of ``CreateMultipartUpload``. Raises StoreError."""
    upload = _text(_parsed(body), "UploadId")
    if not upload:
        raise StoreError("Cannot begin upload: the store gave no id for it")
    return upload


def error_of(body: bytes) -> str | None:
    """The error in an answer that has the status of success, ``None`` if there is none."""
    if b"<Error" not in body:
        return None
    root = _parsed(body)
    nodes = [root] if _tag(root) == "Error" else list(_named(root, "Error"))
    return next((f"{_text(node, 'Code')}: {_text(node, 'Message')}" for node in nodes), None)


def _parsed(body: bytes) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise StoreError(f"Cannot read the store's answer: not XML: {error}") from None


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _named(root: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    return (node for node in root if _tag(node) == name)


def _text(root: ElementTree.Element, name: str) -> str:
    return next((node.text or "" for node in _named(root, name)), "")


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000) if text else 0
