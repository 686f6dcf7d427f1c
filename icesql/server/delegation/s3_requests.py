"""Which objects a request to S3 is about, and what it does with them. What is not known to be harmless is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit
from xml.etree import ElementTree

from icesql.server.access.authentication import forbidden
from icesql.server.problems import Problem, bad_request

_AWS_HOST = re.compile(r"(?:(?P<bucket>.+)\.)?s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com(?:\.cn)?")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_READ = frozenset({"partNumber", "versionId"})
_QUERIES: dict[str, tuple[frozenset[str], ...]] = {
    "GET": (_READ,),
    "HEAD": (_READ,),
    "PUT": (frozenset({"partNumber", "uploadId"}), frozenset()),
    "POST": (frozenset({"uploads"}), frozenset({"uploadId"})),
    "DELETE": (frozenset({"uploadId"}), frozenset()),
}
_LIST = frozenset({"list-type", "prefix", "delimiter", "max-keys", "continuation-token", "start-after", "encoding-type", "fetch-owner"})
_HEADERS = re.compile(
    r"x-amz-(content-sha256|date|decoded-content-length|trailer|te|user-agent|expected-bucket-owner|request-payer|storage-class|tagging"
    r"|sdk-checksum-algorithm|checksum-.*|server-side-encryption.*|meta-.*|if-match.*)"
)
_PRIVATE_ACLS = frozenset({"private", "bucket-owner-full-control", "bucket-owner-read"})
_MOST_KEYS = 1000


@dataclass(frozen=True, slots=True)
class ObjectUse:
    """``method``: ``GET``, ``PUT``, ``DELETE``, or ``LIST`` of all names that begin with ``location``. ``is_new``: a whole object is
    written or begun."""

    method: str
    location: str
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class S3Endpoint:
    """Where requests may go: the catalog's endpoint, or Amazon's hosts where it has none."""

    url: str | None

    def bucket_and_key(self, uri: str) -> tuple[str, str]:
        """Decoded once, as S3 does. Raises Problem 403 for another host."""
        try:
            parts = urlsplit(uri)
            port = parts.port
        except ValueError:
            raise bad_request("Malformed request: uri is none") from None
        host = (parts.hostname or "").lower()
        if parts.username is not None or parts.password is not None or parts.fragment or any(one in uri for one in "\r\n\t\\"):
            raise forbidden()
        path = unquote(parts.path.removeprefix("/"))
        bucket = self._bucket_of_host(parts.scheme, host, port)
        if bucket is None:
            bucket, _, path = path.partition("/")
        if not _BUCKET.fullmatch(bucket):
            raise forbidden()
        return bucket, path

    def _bucket_of_host(self, scheme: str, host: str, port: int | None) -> str | None:
        """The bucket that the host names, ``None`` where the path does. Raises Problem 403."""
        if self.url is None:
            matched = _AWS_HOST.fullmatch(host)
            if matched is None or scheme != "https" or port not in (None, 443):
                raise forbidden()
            return matched["bucket"]
        own = urlsplit(self.url)
        if scheme != own.scheme or (port or _port(scheme)) != (own.port or _port(own.scheme)):
            raise forbidden()
        own_host = (own.hostname or "").lower()
        if host == own_host:
            return None
        if host.endswith(f".{own_host}"):
            return host.removesuffix(f".{own_host}")
        raise forbidden()


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def uses_of(endpoint: S3Endpoint, method: str, uri: str, headers: Mapping[str, Sequence[str]], body: str | None) -> list[ObjectUse]:
    """Raises Problem 403 for a request that is not one of those that reading and writing a table needs, 400 for a malformed body."""
    bucket, key = endpoint.bucket_and_key(uri)
    _check_headers(headers)
    pairs = parse_qsl(urlsplit(uri).query, keep_blank_values=True)
    query = dict(pairs)
    if len(query) != len(pairs):
        raise forbidden()  # which of two would count?
    query.pop("x-id", None)
    if not key:
        return list(_bucket_uses(bucket, method, query, body))
    if method not in _QUERIES or not any(set(query) <= allowed for allowed in _QUERIES[method]):
        raise forbidden()
    location = f"s3://{bucket}/{key}"
    match method:
        case "GET" | "HEAD":
            return [ObjectUse("GET", location)]
        case "DELETE" if "uploadId" not in query:
            return [ObjectUse("DELETE", location)]
        case _:
            return [ObjectUse("PUT", location, is_new=method != "DELETE" and "uploadId" not in query)]


def _check_headers(headers: Mapping[str, Sequence[str]]) -> None:
    for name, values in headers.items():
        lower = name.lower()
        if any(one in "\r\n" for value in (name, *values) for one in value):
            raise bad_request("Malformed request: a header has a line break")
        if lower == "x-amz-acl" and all(value in _PRIVATE_ACLS for value in values):
            continue
        if lower.startswith("x-amz-") and not _HEADERS.fullmatch(lower):
            raise forbidden()


def _bucket_uses(bucket: str, method: str, query: Mapping[str, str], body: str | None) -> Iterator[ObjectUse]:
    if method == "GET" and query.get("list-type") == "2" and set(query) <= _LIST and query.get("prefix"):
        yield ObjectUse("LIST", f"s3://{bucket}/{query['prefix']}")
    elif method == "POST" and set(query) == {"delete"}:
        for key in deleted_keys(body):
            yield ObjectUse("DELETE", f"s3://{bucket}/{key}")
    else:
        raise forbidden()


def deleted_keys(body: str | None) -> list[str]:
    """The keys of a request to delete several objects. Raises Problem 400."""
    if not body:
        raise bad_request("Malformed request: a request to delete objects is signed with its body")
    if "<!" in body:  # no document types, no entities
        raise bad_request("Malformed request: the body has a declaration")
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        raise bad_request("Malformed request: the body is no XML") from None
    objects = [node for node in root if _name(node) == "Object"]
    keys = [child.text or "" for node in objects for child in node if _name(child) == "Key"]
    if _name(root) != "Delete" or not keys or len(keys) != len(objects) or len(keys) > _MOST_KEYS or not all(keys):
        raise bad_request("Malformed request: the body names no objects to delete, or too many")
    return keys


def _name(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def unsigned_problem() -> Problem:
    return Problem(406, "UnsupportedOperationException", "Requests to S3 are not signed for this catalog")
