"""Who sends a request, told by its bearer token: one that is known by its digest, or a JWT of the configured issuer."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError
from icesql.server.access.privileges import EVERYONE, Principal
from icesql.server.access.settings import Access, JwtSettings, names_of
from icesql.server.problems import Problem

if TYPE_CHECKING:
    import jwt

    from icesql.server.storage.principals import PrincipalStore

logger = logging.getLogger(__name__)
_LEEWAY_SECONDS = 30


def bearer_of_basic(authorization: str | None) -> str | None:
    """The header with the password of HTTP's basic authentication as its bearer token; any other as it is."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return authorization
    try:
        _, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return None
    return f"Bearer {password}"


class Authentication:
    """Of one server. Raises InvalidArgumentError for settings that cannot be."""

    def __init__(self, access: Access, stored: PrincipalStore | None = None) -> None:
        """``stored``: further tokens and grants, in a database."""
        self._access, self._stored = access, stored
        self._tokens = [(token.sha256.lower(), token.principal) for token in access.tokens]
        for digest, name in self._tokens:
            if len(digest) != 64 or any(letter not in "0123456789abcdef" for letter in digest):
                raise InvalidArgumentError(f"Cannot use the token of {name}: sha256 is no SHA-256 in hexadecimal digits")
        self._issuer = None if access.jwt is None else _Issuer(access.jwt)
        for grant in access.grants:
            grant.grant()  # a mistake shows now

    @property
    def may_wait(self) -> bool:
        """Whether an issuer or a database may have to be asked."""
        return self._issuer is not None or self._stored is not None

    def principal(self, authorization: str | None) -> Principal:
        """Raises Problem 401, which says nothing of why; the log does, without the token. 503 where an issuer's keys cannot be had."""
        if self._access.is_open:
            return EVERYONE
        scheme, _, token = (authorization or "").partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise _not_authorized()
        digest = hashlib.sha256(token.encode()).hexdigest()
        principal: str | None = None
        stored = () if self._stored is None else self._stored.known().tokens
        for held, name in (*self._tokens, *stored):  # all of them, however early one fits: the time tells nothing
            if hmac.compare_digest(held, digest):
                principal = name
        if principal is not None:
            return self._granted(principal)
        if self._issuer is None:
            raise _not_authorized()
        return self._of_jwt(token, self._issuer)

    def _granted(self, name: str, roles: tuple[str, ...] = ()) -> Principal:
        principal = self._access.principal(name, roles)
        if self._stored is None:
            return principal
        stored = self._stored.known().grants
        return Principal(name, (*principal.grants, *(grant for known in names_of(name, roles) for grant in stored.get(known, ()))))

    def _of_jwt(self, token: str, issuer: _Issuer) -> Principal:
        import jwt

        try:
            claims = issuer.claims(token)
        except jwt.PyJWKClientConnectionError as error:
            logger.warning("The keys of the issuer cannot be had from %s: %s", issuer.settings.jwks_uri, error)
            raise Problem(503, "ServiceUnavailableException", "Tokens cannot be checked at this time", {"Retry-After": "5"}) from None
        except jwt.PyJWTError as error:
            logger.info("A token was refused: %s", type(error).__name__)
            raise _not_authorized() from None
        name = claims.get(issuer.settings.principal_claim)
        if not isinstance(name, str) or not name or name.startswith("role:"):
            raise _not_authorized()
        roles = claims.get(issuer.settings.roles_claim, []) if issuer.settings.roles_claim else []
        return self._granted(name, tuple(role for role in roles if isinstance(role, str)) if isinstance(roles, list) else ())


class _Issuer:
    """Keys of an issuer, and what its tokens must say."""

    def __init__(self, settings: JwtSettings) -> None:
        self.settings = settings
        try:
            import jwt
        except ImportError:
            raise InvalidArgumentError("Cannot check tokens: PyJWT is not installed: pip install 'icesql[server]'") from None
        if any(name.upper().startswith("HS") or name.lower() == "none" for name in settings.algorithms):
            raise InvalidArgumentError("Cannot check tokens: only signatures by private keys are accepted, such as RS256, ES256 and EdDSA")
        if (settings.jwks_uri is None) == (settings.jwks_file is None):
            raise InvalidArgumentError("Cannot check tokens: set one of jwks-uri and jwks-file")
        self._client = None if settings.jwks_uri is None else jwt.PyJWKClient(settings.jwks_uri, cache_keys=True, timeout=10)
        self._keys = None if settings.jwks_file is None else _keys_in(Path(settings.jwks_file))

    def claims(self, token: str) -> dict[str, Any]:
        """Raises PyJWTError; PyJWKClientConnectionError where the issuer does not give its keys."""
        import jwt

        claims: dict[str, Any] = jwt.decode(
            token,
            self._key(token),
            algorithms=self.settings.algorithms,
            audience=self.settings.audience,
            issuer=self.settings.issuer,
            leeway=_LEEWAY_SECONDS,
            options={"require": ["exp", "iss", "aud", self.settings.principal_claim]},
        )
        return claims

    def _key(self, token: str) -> jwt.PyJWK:
        import jwt

        if self._client is not None:
            return self._client.get_signing_key_from_jwt(token)
        assert self._keys is not None
        key_id = jwt.get_unverified_header(token).get("kid")
        for key in self._keys.keys:
            if key.key_id == key_id:
                return key
        raise jwt.InvalidKeyError("no key of that id")


def _keys_in(file: Path) -> jwt.PyJWKSet:
    """Raises InvalidArgumentError that names the file."""
    import jwt

    try:
        return jwt.PyJWKSet.from_dict(json.loads(file.read_text()))
    except OSError as error:
        raise InvalidArgumentError(f"Cannot read jwks-file {file}: {error.strerror}") from None
    except (ValueError, AttributeError, jwt.PyJWKSetError) as error:
        raise InvalidArgumentError(f"Cannot read jwks-file {file}: it is no set of keys (JWKS): {error}") from None


def _not_authorized() -> Problem:
    return Problem(401, "NotAuthorizedException", "Not authorized", {"WWW-Authenticate": "Bearer"})


def forbidden() -> Problem:
    """Says nothing of what is there."""
    return Problem(403, "ForbiddenException", "Forbidden")


def new_token(principal: str) -> tuple[str, str]:
    """A random token, and the lines of the settings that make it known."""
    token = secrets.token_urlsafe(32)
    digest = hashlib.sha256(token.encode()).hexdigest()
    return token, f'[[access.tokens]]\nprincipal = "{principal}"\nsha256 = "{digest}"\n'
