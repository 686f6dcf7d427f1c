"""The configuration of a REST catalog: keys as Java's and PyIceberg's clients name them."""

from __future__ import annotations

from collections.abc import Mapping

from icesql.errors import InvalidArgumentError, nearest

URI = "uri"
WAREHOUSE = "warehouse"
PREFIX = "prefix"
TOKEN = "token"
CREDENTIAL = "credential"
SCOPE = "scope"
AUDIENCE = "audience"
RESOURCE = "resource"
OAUTH2_SERVER_URI = "oauth2-server-uri"
TOKEN_EXPIRES_IN_MS = "token-expires-in-ms"
TOKEN_REFRESH_ENABLED = "token-refresh-enabled"
TOKEN_EXCHANGE_ENABLED = "token-exchange-enabled"
AUTH_TYPE = "rest.auth.type"
BASIC_USERNAME = "rest.auth.basic.username"
BASIC_PASSWORD = "rest.auth.basic.password"
SIGV4_ENABLED = "rest.sigv4-enabled"
SIGV4_DELEGATE = "rest.auth.sigv4.delegate-auth-type"
SIGNING_REGION = "rest.signing-region"
SIGNING_NAME = "rest.signing-name"
ACCESS_KEY_ID = "rest.access-key-id"
SECRET_ACCESS_KEY = "rest.secret-access-key"
SESSION_TOKEN = "rest.session-token"
CONNECT_TIMEOUT_MS = "rest.client.connection-timeout-ms"
READ_TIMEOUT_MS = "rest.client.socket-timeout-ms"
MAX_CONNECTIONS = "rest.client.max-connections"
MAX_RETRIES = "rest.client.max-retries"
PROXY_HOST = "rest.client.proxy.hostname"
PROXY_PORT = "rest.client.proxy.port"
PROXY_USER = "rest.client.proxy.username"
PROXY_PASSWORD = "rest.client.proxy.password"
CA_BUNDLE = "ssl.cabundle"
CLIENT_CERT = "ssl.client.cert"
CLIENT_KEY = "ssl.client.key"
PAGE_SIZE = "rest-page-size"
SNAPSHOT_LOADING_MODE = "snapshot-loading-mode"
NAMESPACE_SEPARATOR = "namespace-separator"
VIEW_ENDPOINTS_SUPPORTED = "view-endpoints-supported"
METRICS_ENABLED = "rest-metrics-reporting-enabled"
PURGE_BY_SERVER = "rest-catalog-purge"
SCAN_PLANNING_MODE = "scan-planning-mode"
PLAN_POLL_TIMEOUT_MS = "rest-scan-planning.poll-timeout-ms"
REMOTE_SIGNING_ENABLED = "s3.remote-signing-enabled"
SIGNER_URI = "signer.uri"
SIGNER_ENDPOINT = "signer.endpoint"
S3_SIGNER_URI = "s3.signer.uri"
S3_SIGNER_ENDPOINT = "s3.signer.endpoint"
PRODUCE_SNAPSHOT = "icesql.produce-snapshot-enabled"
ACCESS_DELEGATION_HEADER = "X-Iceberg-Access-Delegation"

_KNOWN = frozenset(value for name, value in globals().items() if name.isupper() and isinstance(value, str) and not name.startswith("_"))
_OTHERS = frozenset({
    "type", "catalog-impl", "py-catalog-impl", "io-impl", "py-io-impl", "default-namespace", "cache-enabled", "cache.case-sensitive",
    "cache.expiration-interval-ms", "use-nullable-query-schema", "removal.allowed-locations", "metrics-reporter-impl",
    "rest.sigv4.max-retries", "rest-table-cache.expire-after-write-ms", "rest-table-cache.max-entries",
    "downcast-ns-timestamp-to-us-on-write",
})  # fmt: skip
_PREFIXES = (
    "header.", "s3.", "s3tables.", "gcs.", "adls.", "hdfs.", "hadoop.", "client.", "io.", "glue.", "dynamodb.", "oss.", "ecs.",
    "snowflake.", "table-default.", "table-override.", "view-default.", "view-override.", "auth.", "rest.auth.", "rest.client.tls.", "ssl.",
    "urn:ietf:params:oauth:token-type:", "polaris.", "nessie.", "lakekeeper.", "gravitino.", "credentials", "icesql.",
)  # fmt: skip


def unknown_keys(properties: Mapping[str, str]) -> list[str]:
    """A sentence for each key that nothing here reads, with the nearest that something does."""
    strange = sorted(key for key in properties if key not in _KNOWN | _OTHERS and not key.startswith(_PREFIXES))
    return [f"Catalog setting has no effect: {key}.{nearest(key, _KNOWN | _OTHERS)}" for key in strange]


def required_uri(name: str, properties: Mapping[str, str]) -> str:
    """Raises InvalidArgumentError."""
    uri = properties.get(URI)
    if not uri:
        raise InvalidArgumentError(f"Cannot open catalog {name}: type rest needs a server: set spark.sql.catalog.{name}.uri")
    if not uri.lower().startswith(("http://", "https://")):
        raise InvalidArgumentError(f"Cannot open catalog {name}: uri is no HTTP address: it must begin with http:// or https://")
    return uri.rstrip("/")


def number(properties: Mapping[str, str], key: str, default: int) -> int:
    """A setting that is a whole number, not negative. Raises InvalidArgumentError."""
    text = properties.get(key)
    if text is None:
        return default
    if not text.strip().isdecimal():
        raise InvalidArgumentError(f"Cannot open catalog: {key} is not a number: {text}", key=key)
    return int(text)


def flag(properties: Mapping[str, str], key: str, *, default: bool) -> bool:
    text = properties.get(key)
    return default if text is None else text.strip().lower() == "true"


def headers(properties: Mapping[str, str]) -> dict[str, str]:
    """``header.*``: sent with every request."""
    return {key[len("header.") :]: value for key, value in properties.items() if key.startswith("header.")}
