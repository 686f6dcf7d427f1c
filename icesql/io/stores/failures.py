"""What a store answered, as one sentence that names the object, the operation and what to set."""

from __future__ import annotations

import re

from icesql.errors import NotFoundError


class StoreError(OSError):
    """A request to an object store failed for good. ``context`` has ``location``, ``operation`` and the answer's ``status`` and ``code``.

    It is no IcesqlError: where a write raises it the outcome is open.
    """

    def __init__(self, message: str, **context: object) -> None:
        super().__init__(message)
        self.context = context

    @property
    def is_refusal(self) -> bool:
        """Whether the store answered that it does not do it: nothing of it is still under way."""
        status = self.context.get("status")
        return isinstance(status, int) and 400 <= status < 500 and status not in (408, 429)


class StoreDeniedError(StoreError, PermissionError):
    """The store refused the credentials, or what they may do."""


_CODE = re.compile(r"<Code>\s*(\w+)\s*</Code>|\"code\"\s*:\s*\"(\w+)\"|\"reason\"\s*:\s*\"(\w+)\"")
_MESSAGE = re.compile(r"<Message>\s*([^<]*?)\s*(?:\n[^<]*)?</Message>")
_STATUS = re.compile(r"status code: (\d{3})")
_AFTER = re.compile(r" in ([\d.]+\w+)(?:, after (\d+) retries)?")
_ADDRESS = re.compile(r"Error performing \w+ (https?://[^/\s]+)")

_KEYS = {
    "s3": "s3.access-key-id, s3.secret-access-key and s3.session-token",
    "gcs": "gcs.oauth2.token, or GOOGLE_APPLICATION_CREDENTIALS in the environment",
    "azure": "adls.auth.shared-key.account.name and .key, adls.sas-token.<account>, or adls.connection-string.<account>",
}
_SIGNED = "the catalog signs the requests: see what it grants"
_ENDPOINTS = {"s3": "s3.endpoint", "signed": "s3.endpoint", "gcs": "gcs.service.host", "azure": "adls.connection-string.<account>"}
_WRONG_KEYS = {
    "SignatureDoesNotMatch": "the secret key is wrong",
    "InvalidAccessKeyId": "the access key is unknown",
    "XAdminUserNotFound": "the access key is unknown",
    "InvalidToken": "the session token is wrong",
    "AuthenticationFailed": "the account key or token is wrong",
    "InvalidAuthenticationInfo": "the account key or token is wrong",
}
_EXPIRED = {"ExpiredToken", "TokenRefreshRequired", "RequestExpired", "ExpiredTokenException"}
_NO_CONTAINER = {"NoSuchBucket", "ContainerNotFound", "InvalidBucketName", "notFound"}
_WRONG_REGION = {"AuthorizationHeaderMalformed", "PermanentRedirect", "IllegalLocationConstraintException", "TemporaryRedirect"}
_BUSY = {"SlowDown", "ServerBusy", "ServiceUnavailable", "TooManyRequests", "RequestLimitExceeded", "rateLimitExceeded"}


def code_of(error: BaseException) -> str | None:
    """The store's own code of an error (``NoSuchBucket``), ``None`` where the answer had none."""
    match = _CODE.search(str(error))
    return None if match is None else next(group for group in match.groups() if group)


def status_of(error: BaseException) -> int | None:
    """The HTTP status of an answer, ``None`` where none came."""
    match = _STATUS.search(str(error))
    return None if match is None else int(match.group(1))


def is_missing(error: BaseException) -> bool:
    """True where the store says that the object is not there, and not that the bucket or the access key is not."""
    if not isinstance(error, FileNotFoundError):
        return False
    code = code_of(error)
    return code not in _NO_CONTAINER and code not in _WRONG_KEYS


def failure(error: BaseException, kind: str, operation: str, location: str, container: str, tried: str = "") -> NotFoundError | StoreError:
    """The error to raise for one of the client library's. ``operation`` is a verb; ``kind``: ``s3``, ``gcs``, ``azure``, or
    ``signed`` for S3 by another's signatures."""
    start = f"Cannot {operation} {location}"
    if is_missing(error):
        return NotFoundError(f"{start}: File does not exist: {location}", location=location)
    text, code, status = str(error), code_of(error), status_of(error)
    context: dict[str, object] = {"location": location, "operation": operation, "code": code, "status": status}
    credentials = _SIGNED if kind == "signed" else f"set {_KEYS[kind]}"
    if code in _WRONG_KEYS:
        return StoreDeniedError(f"{start}: {_WRONG_KEYS[code]} ({code}); {credentials}", **context)
    if code in _EXPIRED:
        return StoreDeniedError(f"{start}: the token has expired ({code}); {credentials} anew", **context)
    if code == "RequestTimeTooSkewed":
        return StoreDeniedError(f"{start}: this machine's clock differs from the store's by too much ({code}); set the clock", **context)
    if code in _NO_CONTAINER:
        return StoreError(f"{start}: there is no bucket or container {container} ({code}); make it, or correct the location", **context)
    if code in _WRONG_REGION:
        expected = re.search(r"expecting (?:&#34;|')?([\w-]+)|<Region>([\w-]+)</Region>", text)
        region = "" if expected is None else f", it is {expected.group(1) or expected.group(2)}"
        return StoreError(f"{start}: the bucket is in another region{region} ({code}); set s3.region", **context)
    if "lacked valid authentication" in text or status == 401:
        return StoreDeniedError(f"{start}: no valid credentials ({_reason(text)}); {credentials}", **context)
    if status == 403 or "lacked the necessary privileges" in text:
        return StoreDeniedError(f"{start}: access is denied ({code or status}); {credentials}, or grant the access", **context)
    tried = _tries(text) or (f", {tried}" if tried else "")
    if code in _BUSY or status in (429, 503):
        return StoreError(f"{start}: the store asks to slow down ({code or status}){tried}; run it again later", **context)
    if status is not None:
        return StoreError(f"{start}: the store answered {status}{f' {code}' if code else ''}{tried}{_detail(text)}", **context)
    address = _ADDRESS.search(text)
    where = "" if address is None else f" at {address.group(1)}"
    if "error sending request" in text or "kind: Connect" in text or "kind: Timeout" in text:
        return StoreError(f"{start}: the store does not answer{where}{tried}; see the network, and {_ENDPOINTS[kind]}", **context)
    return StoreError(f"{start}: {_reason(text)}{tried}", **context)


def _tries(text: str) -> str:
    match = _AFTER.search(text)
    if match is None or not match.group(2):
        return ""
    return f", {int(match.group(2)) + 1} tries in {_rounded(match.group(1))}"


def _rounded(duration: str) -> str:
    match = re.fullmatch(r"([\d.]+)(\D+)", duration)
    return duration if match is None else f"{float(match.group(1)):.1f} {match.group(2)}"


def _detail(text: str) -> str:
    match = _MESSAGE.search(text)
    return f": {match.group(1)}" if match is not None and match.group(1) else ""


def _reason(text: str) -> str:
    """The first line, without the library's own prefix."""
    line = text.strip().split("\n", 1)[0]
    return re.sub(r"^Generic \w+ error: |^The operation lacked .*?: ", "", line)[:300]
