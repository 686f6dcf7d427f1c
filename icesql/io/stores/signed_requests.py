"""Requests to one S3 bucket over HTTP, each signed by someone else (``RequestSigner``): headers and address, no content."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import logging
import os
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from icesql.errors import IcesqlError, UnsupportedError
from icesql.io.stores.failures import StoreDeniedError
from icesql.io.stores.requests import Held, Level, Listed, TakenError
from icesql.io.stores.s3_replies import ListPage, error_of, list_page, upload_id
from icesql.io.stores.settings import StoreSettings
from icesql.io.stores.signing import RequestSigner, UnsignedRequest

_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_NOT_SENT_ON = frozenset({"cache-control", "host", "content-length", "transfer-encoding", "connection"})
_META = "x-amz-meta-"


class _WithoutSignatures(logging.Filter):
    """httpx logs addresses, and a signer may put its signature into one."""

    _SIGNATURE = re.compile(r"(?i)(x-amz-(?:signature|security-token|credential)=)[^&\s\"']+")

    def filter(self, record: logging.LogRecord) -> bool:
        if "x-amz-" in record.getMessage().lower():
            record.msg, record.args = self._SIGNATURE.sub(r"\1***", record.getMessage()), ()
        return True


class SignedRequestError(Exception):
    """What the store answered, or that it did not; in the words of obstore, so that one reading of them serves both."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


class SignedRequests:
    """Implements ``StoreRequests``. Sends again what failed in passing, as the settings say."""

    def __init__(self, settings: StoreSettings, signer: RequestSigner) -> None:
        self._settings, self._signer, self._http = settings, signer, _http_client(settings)
        config = dict(settings.config)
        self._region = str(config["region"])
        self._base = _address(settings.container, config)

    # -- reading -----------------------------------------------------------------------------------------------------
    def size(self, path: str) -> int:
        return int(self._ask("HEAD", path).headers["content-length"])

    def read(self, path: str) -> Held:
        answer = self._ask("GET", path)
        attributes = {key[len(_META) :]: value for key, value in answer.headers.items() if key.startswith(_META)}
        return Held(answer.body, attributes)

    def read_start(self, path: str) -> None:
        self._ask("GET", path, unsigned={"Range": "bytes=0-0"})

    def tail(self, path: str, length: int) -> tuple[int, Any]:
        answer = self._send("GET", path, unsigned={"Range": f"bytes=-{length}"})
        if answer.status == 416:  # an empty object
            return self.size(path), b""
        answer = self._expect(answer, "GET", path)
        size = answer.headers.get("content-range", "").rpartition("/")[2]
        return (int(size) if size.isdecimal() else len(answer.body)), memoryview(answer.body)

    def range(self, path: str, start: int, end: int) -> Any:
        answer = self._ask("GET", path, unsigned={"Range": f"bytes={start}-{end - 1}"})
        return answer.body[start:end] if answer.status == 200 else answer.body

    # -- writing -----------------------------------------------------------------------------------------------------
    def put(self, path: str, data: Any) -> None:
        self._ask("PUT", path, body=bytes(data), headers=self._object_headers())

    def create(self, path: str, data: bytes, attributes: Mapping[str, str]) -> None:
        own = {f"{_META}{key}": value for key, value in attributes.items()}
        answer = self._send("PUT", path, body=data, headers={**self._object_headers(), **own}, unsigned={"If-None-Match": "*"})
        if answer.status in (409, 412):
            raise TakenError(f"{answer.status}")
        self._expect(answer, "PUT", path)

    def put_parts(self, path: str, parts: Iterator[bytes]) -> None:
        upload = upload_id(self._ask("POST", path, query={"uploads": ""}, headers=self._object_headers()).body)
        try:
            tags = self._upload(path, upload, parts)
            self._complete(path, upload, tags)
        except BaseException:
            with contextlib.suppress(Exception):
                self._send("DELETE", path, query={"uploadId": upload})
            raise

    def _upload(self, path: str, upload: str, parts: Iterator[bytes]) -> list[str]:
        """The entity tag of each part. As many are on their way as the settings allow."""
        threads = self._settings.upload_threads
        waiting: list[Future[str]] = []
        with ThreadPoolExecutor(threads, "icesql-part") as pool:
            try:
                for number, part in enumerate(parts, 1):
                    if number > threads:
                        waiting[number - threads - 1].result()
                    waiting.append(pool.submit(self._put_part, path, upload, number, part))
                return [one.result() for one in waiting]
            except BaseException:
                for one in waiting:
                    one.cancel()
                raise

    def _put_part(self, path: str, upload: str, number: int, part: bytes) -> str:
        query = {"partNumber": str(number), "uploadId": upload}
        return self._ask("PUT", path, query=query, body=part, headers=self._key_headers()).headers["etag"]

    def _complete(self, path: str, upload: str, tags: Sequence[str]) -> None:
        parts = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{escape(tag)}</ETag></Part>" for n, tag in enumerate(tags, 1))
        body = f"<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>".encode()
        answer = self._ask("POST", path, query={"uploadId": upload}, body=body)
        if error_of(answer.body) is not None:  # a success until the parts were put together
            raise self._failure("POST", path, answer)

    def _object_headers(self) -> dict[str, str]:
        """Of a request that makes an object."""
        settings, config = self._settings, dict(self._settings.config)
        headers = self._key_headers()
        if settings.storage_class is not None:
            headers["x-amz-storage-class"] = settings.storage_class
        if settings.tags:
            headers["x-amz-tagging"] = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in settings.tags)
        kind = config.get("server_side_encryption")
        if kind is not None and kind != "sse-c":
            headers["x-amz-server-side-encryption"] = kind
            if "sse_kms_key_id" in config:
                headers["x-amz-server-side-encryption-aws-kms-key-id"] = config["sse_kms_key_id"]
        return headers

    def _key_headers(self) -> dict[str, str]:
        """The user's own key of encryption, which each request for an object brings."""
        key = dict(self._settings.config).get("sse_customer_key_base64")
        if key is None:
            return {}
        start = "x-amz-server-side-encryption-customer-"
        return {f"{start}algorithm": "AES256", f"{start}key": key, f"{start}key-MD5": _md5(base64.b64decode(key))}

    # -- removing and listing ------------------------------------------------------------------------------------------
    def delete(self, paths: Sequence[str]) -> None:
        if len(paths) == 1:
            self._ask("DELETE", paths[0])
            return
        objects = "".join(f"<Object><Key>{escape(path.lstrip('/'))}</Key></Object>" for path in paths)
        body = f"<Delete><Quiet>true</Quiet>{objects}</Delete>".encode()
        answer = self._ask("POST", "", query={"delete": ""}, body=body, headers={"Content-MD5": _md5(body)}, shows_body=True)
        if error_of(answer.body) is not None:
            raise self._failure("POST", paths[0], answer)

    def first_page(self, root: str) -> tuple[Sequence[Listed], bool]:
        page = self._page(root)
        return page.objects, page.next_token is None

    def all_below(self, root: str) -> Sequence[Listed]:
        return [listed for page in self._pages(root) for listed in page.objects]

    def level(self, root: str) -> Level:
        pages = list(self._pages(root, delimiter="/"))
        folders = [folder.rstrip("/") for page in pages for folder in page.folders]
        return Level([listed for page in pages for listed in page.objects], folders)

    def _pages(self, root: str, **more: str) -> Iterator[ListPage]:
        page = self._page(root, **more)
        yield page
        while page.next_token is not None:
            page = self._page(root, **more, **{"continuation-token": page.next_token})
            yield page

    def _page(self, root: str, **more: str) -> ListPage:
        prefix = f"{root.strip('/')}/" if root.strip("/") else ""
        query = {"list-type": "2", "encoding-type": "url", "prefix": prefix, **more}
        return list_page(self._ask("GET", "", query=query).body)

    # -- one request ---------------------------------------------------------------------------------------------------
    def _ask(self, verb: str, path: str, **parts: Any) -> _Answer:
        return self._expect(self._send(verb, path, **parts), verb, path)

    def _expect(self, answer: _Answer, verb: str, path: str) -> _Answer:
        if 200 <= answer.status < 300:
            return answer
        raise self._failure(verb, path, answer)

    def _failure(self, verb: str, path: str, answer: _Answer) -> Exception:
        text = answer.body.decode(errors="replace")
        words = f"Error performing {verb} {self._url(path, {})} in 0s - Server returned non-2xx status code: {answer.status}: {text}"
        return FileNotFoundError(words) if answer.status == 404 else SignedRequestError(words)

    def _url(self, path: str, query: Mapping[str, str]) -> str:
        """As AWS's signatures encode it."""
        text = "&".join(f"{quote(key, safe='-_.~')}={quote(value, safe='-_.~')}" for key, value in sorted(query.items()))
        place = f"{self._base}/{quote(path.lstrip('/'), safe='-_.~/')}" if path else self._base
        return place + (f"?{text}" if text else "")

    def _send(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        unsigned: Mapping[str, str] | None = None,
        body: bytes | None = None,
        shows_body: bool = False,
    ) -> _Answer:
        """The store's answer, whatever it is. ``unsigned`` headers go with the request, and the signer does not see them."""
        url = self._url(path, query or {})
        signed = {"Host": urlsplit(url).netloc, "x-amz-content-sha256": "UNSIGNED-PAYLOAD", **(headers or {})}
        if verb in ("GET", "HEAD") and path:
            signed |= self._key_headers()
        request = UnsignedRequest(verb, url, self._region, signed, body.decode() if shows_body and body is not None else None)
        retries, begun, tries, anew = self._settings.retries, time.monotonic(), 0, False
        while True:
            answer: _Answer | None = None
            try:
                answer = self._once(request, unsigned or {}, body, anew=anew)
            except SignedRequestError as error:
                lost: SignedRequestError = error
            if answer is not None and answer.status == 403 and not anew:
                anew = True  # the signature may have been one from memory, and too old
                continue
            if answer is not None and answer.status not in _TRANSIENT:
                return answer
            tries += 1
            took_s = time.monotonic() - begun
            if tries > retries.count or took_s > retries.timeout_s:
                if answer is not None:
                    return answer
                raise SignedRequestError(
                    f"Error performing {verb} {self._url(path, {})} in {took_s:.1f}s, after {tries - 1} retries, HTTP error: {lost}"
                )
            time.sleep(random.uniform(0.5, 1) * min(retries.most_ms, retries.least_ms << (tries - 1)) / 1000)
            anew = True

    def _once(self, request: UnsignedRequest, unsigned: Mapping[str, str], body: bytes | None, *, anew: bool) -> _Answer:
        import httpx

        try:
            signed = self._signer.signed(request, anew=anew)
        except IcesqlError as error:
            raise StoreDeniedError(f"Cannot reach {request.url.partition('?')[0]}: the catalog does not sign: {error}") from None
        is_in_address = "x-amz-signature=" in signed.url.lower()  # then no header of ours is part of what is signed
        own = {} if is_in_address else request.headers
        given = {key.lower(): value for headers in (own, signed.headers) for key, value in headers.items()}
        lowered = {key: value for key, value in given.items() if key not in _NOT_SENT_ON} | dict(unsigned)
        try:
            built = self._http.build_request(request.verb, signed.url, headers=lowered, content=body)
            answer = self._http.send(built, stream=True)
            try:
                data = b"".join(answer.iter_raw())
            finally:
                answer.close()
        except httpx.TransportError as error:
            raise SignedRequestError(f"error sending request: {type(error).__name__}: {error}") from None
        headers = {key.lower(): value for key, value in answer.headers.items()}
        expected = headers.get("content-length", "")
        if request.verb != "HEAD" and expected.isdecimal() and int(expected) != len(data):
            raise SignedRequestError(f"error sending request: the answer was cut at {len(data)} of {expected} bytes")
        return _Answer(answer.status_code, headers, data)


def _md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def _address(bucket: str, config: Mapping[str, Any]) -> str:
    """Where the bucket's objects are, without a slash at the end."""
    endpoint, is_host = config.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL"), config.get("virtual_hosted_style_request", False)
    if config.get("endpoint"):
        return str(endpoint) if is_host else f"{endpoint}/{bucket}"
    if endpoint:
        return f"{endpoint.rstrip('/')}/{bucket}"
    region = config["region"]
    return f"https://{bucket}.s3.{region}.amazonaws.com" if is_host else f"https://s3.{region}.amazonaws.com/{bucket}"


def _http_client(settings: StoreSettings) -> Any:
    try:
        import httpx
    except ImportError:
        raise UnsupportedError(
            "Cannot open store: the catalog signs requests, which go through the package httpx: pip install 'icesql[rest]'"
        ) from None
    if not any(isinstance(one, _WithoutSignatures) for one in logging.getLogger("httpx").filters):
        logging.getLogger("httpx").addFilter(_WithoutSignatures())
    client = dict(settings.client)
    return httpx.Client(
        timeout=httpx.Timeout(_seconds(client["read_timeout"]), connect=_seconds(client["connect_timeout"])),
        limits=httpx.Limits(max_connections=64, max_keepalive_connections=32),
        headers={"Accept-Encoding": "identity", "User-Agent": "icesql"},
        proxy=client.get("proxy_url"),
        follow_redirects=False,
    )


def _seconds(text: str) -> float:
    return float(text[:-2]) / 1000 if text.endswith("ms") else float(text[:-1])
