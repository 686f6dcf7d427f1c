"""What a catalog hands on of its access to files."""

from __future__ import annotations

from collections.abc import Mapping

from icesql.errors import InvalidArgumentError
from icesql.server.delegation.s3_requests import S3Endpoint
from icesql.server.delegation.settings import StorageSettings
from icesql.server.delegation.signing import S3Signer
from icesql.server.delegation.vending import Vending

SIGNING, VENDED = "remote-signing", "vended-credentials"
_SHARED = ("s3.endpoint", "s3.path-style-access", "client.region", "s3.region")  # what every client of the store needs, and no secret


class Delegation:
    """Raises InvalidArgumentError for settings that contradict each other, UnsupportedError for a missing package."""

    def __init__(self, name: str, settings: StorageSettings, properties: Mapping[str, str]) -> None:
        if settings.sts is not None and settings.static is not None:
            raise InvalidArgumentError(f"Cannot vend credentials of catalog {name}: its storage has both sts and static")
        self.signer = S3Signer(properties) if settings.remote_signing else None
        self.endpoint = S3Endpoint(properties.get("s3.endpoint"))
        self.vending = Vending(settings)
        self.shared = {key: properties[key] for key in _SHARED if key in properties}
        if "s3.region" in self.shared:
            self.shared.setdefault("client.region", self.shared["s3.region"])

    def mode(self, wanted: str | None) -> str | None:
        """The first of the client's wishes (``X-Iceberg-Access-Delegation``) that this catalog serves."""
        for one in (wanted or "").split(","):
            if one.strip() == VENDED and self.vending.is_offered:
                return VENDED
            if one.strip() == SIGNING and self.signer is not None:
                return SIGNING
        return None
